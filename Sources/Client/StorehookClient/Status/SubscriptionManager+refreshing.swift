import Foundation

extension SubscriptionManager {
    /// How often the server is asked while the app is used: every five minutes.
    static let interval: TimeInterval = 300
    /// How long after a failure it is asked again, at first; each further failure doubles that.
    static let firstRetry: TimeInterval = 5

    /// Begins: hands in what is unfinished, reads what the store holds, asks the server, and goes on with both until the account signs out
    /// or the manager goes.
    ///
    /// It returns after the first scan, whatever that found out. Without an account it does nothing.
    public func start() async {
        guard known != nil else { return }
        if !turn.isStarted {
            turn.isStarted = true
            listen()
        }
        await refreshSubscriptionStatus()
        if turn.isStarted, turn.loop == nil { turn.loop = loop() }
    }

    /// Hands in what the server lacks, and reads anew what the store and the server say. A call during another one waits for that one.
    public func refreshSubscriptionStatus() async {
        guard known != nil else { return }
        if let pass = turn.pass { return await pass.value }
        let mine = generation
        let pass = Task { await self.scan(mine) }
        turn.pass = pass
        await pass.value
    }

    /// To be called whenever the app becomes active.
    public func appBecameActive() async { await refreshSubscriptionStatus() }

    // MARK: The loop

    private func loop() -> Task<Void, Never> {
        let (clock, mine) = (clock, generation)
        return Task { [weak self] in
            while !Task.isCancelled {
                guard let wait = self?.wait(mine) else { return }
                do { try await clock.sleep(wait) } catch { return }
                guard self?.generation == mine else { return }
                await self?.refreshSubscriptionStatus()
            }
        }
    }

    /// Has the loop wait anew, by what is known now.
    func restartLoop() {
        guard turn.isStarted, turn.loop != nil else { return }
        turn.loop?.cancel()
        turn.loop = loop()
    }

    /// How long until the server is asked again; nil after the account's turn.
    private func wait(_ mine: Int) -> TimeInterval? {
        guard generation == mine else { return nil }
        if turn.failures > 0 {
            return min(Self.interval, Self.firstRetry * pow(2, Double(min(turn.failures - 1, 10))))
        }
        // An end is a reason to ask: what has renewed itself goes on without a gap.
        let now = now
        let ends = [state.access.until, known?.answer?.accessUntil, known?.answer?.tierUntil].compactMap { $0 }
        return ends.filter { $0 > now }.map { $0.timeIntervalSince(now) }.reduce(Self.interval, min)
    }

    private func listen() {
        let (updates, mine) = (source.updates, generation)
        turn.listener = Task { [weak self] in
            for await result in updates {
                guard self?.generation == mine else { return }
                await self?.takeUpdate(result, mine)
            }
        }
    }

    private func takeUpdate(_ result: StoreResult, _ mine: Int) async {
        let fate = await take(result, finishes: true, mine)
        guard generation == mine else { return }
        await readEntitlements(mine)
        if fate == .accepted { await askStatus(mine) }
    }

    // MARK: One pass

    private func scan(_ mine: Int) async {
        guard generation == mine else { return }
        change { turn.busy += 1 }
        let error = await scanOnce(mine)
        guard generation == mine else { return }
        turn.pass = nil
        turn.failures = error == nil ? 0 : turn.failures + 1
        change {
            turn.busy -= 1
            turn.error = error
            turn.hasCompletedInitialScan = true
        }
        writeBlock(statusBlock)
    }

    /// - Returns: what went wrong, where something has to be asked again.
    private func scanOnce(_ mine: Int) async -> ClientError? {
        loadAgain()
        // What the store holds counts at once, whatever the server does.
        await readEntitlements(mine)
        guard generation == mine else { return nil }
        var failure: ClientError?
        do {
            let unfinished = try await source.unfinished()
            guard generation == mine else { return nil }
            for transaction in verified(unfinished, mine) {
                guard generation == mine else { return nil }
                guard await deliver(transaction, finishes: true, mine) == .later else { continue }
                // One that does not answer is not asked for each of them.
                failure = .network
                break
            }
        } catch {
            write("the store cannot be asked what is unfinished: \(ClientError.kind(of: error))")
        }
        guard generation == mine else { return nil }
        if let error = await askStatus(mine) { return error }
        // What the store holds and the server lacks is handed in at once.
        var isNews = false
        for transaction in turn.entitlements where isLacking(transaction) {
            let fate = await deliver(transaction, finishes: false, mine)
            guard generation == mine else { return nil }
            if fate == .accepted { isNews = true }
            guard fate == .later else { continue }
            failure = .network
            break
        }
        if isNews, let error = await askStatus(mine) { return error }
        if turn.entitlements.contains(where: { known?.tier(of: $0.productID) == nil }) { await readCatalog(mine) }
        return failure
    }

    private func isLacking(_ transaction: StoreTransaction) -> Bool {
        guard let known, turn.settled[transaction.version] == nil else { return false }
        return known.purchase(transaction.originalID) == nil || !known.hasJudged(transaction)
    }

    /// Reads what the store holds. Where it cannot be asked, what it held before counts.
    func readEntitlements(_ mine: Int) async {
        do {
            let results = try await source.currentEntitlements()
            guard generation == mine else { return }
            let held = verified(results, mine)
            change { turn.entitlements = held }
        } catch {
            write("the store cannot be asked what it holds: \(ClientError.kind(of: error))")
        }
    }

    /// Asks the server what the account has.
    /// - Returns: what went wrong; nil where it answered.
    @discardableResult
    func askStatus(_ mine: Int) async -> ClientError? {
        guard generation == mine else { return nil }
        turn.asked += 1
        let order = turn.asked
        do {
            try await check(mine)
            let word = try await server.status()
            guard generation == mine else { return nil }
            anchor(at: word.date)
            adopt(word.value, order)
            return nil
        } catch {
            guard generation == mine else { return nil }
            change {
                turn.isAsked = false
                // The app's token may be another account's by now.
                if (error as? Problem)?.status == 401 { turn.isChecked = false }
            }
            let described = ClientError(describing: error)
            write("the server cannot be asked, what was last known counts: \(ClientError.kind(of: error))")
            return described
        }
    }

    /// Has the server state whose token the app gives, once in an account's turn.
    func check(_ mine: Int) async throws {
        guard !turn.isChecked || known?.appAccountToken == nil else { return }
        let account = try await server.account()
        guard generation == mine, let known else { throw CancellationError() }
        guard Self.isSame(account.id, known.accountID) else { throw OtherAccount() }
        turn.isChecked = true
        if known.appAccountToken != account.appAccountToken { learn { $0.appAccountToken = account.appAccountToken } }
    }

    /// The app's token is of another account than the one that was signed in.
    struct OtherAccount: Error {}

    /// Whether two ids are of one account: a UUID is the same in either letter case.
    static func isSame(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        guard let one = UUID(uuidString: one), let other = UUID(uuidString: other) else { return false }
        return one == other
    }

    /// Takes over an answer, unless a later question was answered by a later state of the account.
    /// - Parameter order: the question's place.
    func adopt(_ answer: KnownStatus.Answer, _ order: Int) {
        if order < turn.adopted, let version = known?.answer?.version, answer.version < version { return }
        turn.adopted = max(turn.adopted, order)
        turn.isAsked = true
        var answer = answer
        answer.readAt = now
        learn { $0.answer = answer }
    }

    func readCatalog(_ mine: Int) async {
        do {
            let catalog = try await server.catalog()
            guard generation == mine else { return }
            sold.catalog = catalog
            learn { $0.take(catalog) }
        } catch {
            write("the catalog cannot be read: \(ClientError.kind(of: error))")
        }
    }
}
