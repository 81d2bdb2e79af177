import Foundation

/// Counts what an account uses: at once and offline too, and reports it to the server.
///
/// What is counted is in the cache before ``count(_:amount:)`` returns. Reports are sent in order, each with a key of its own, so that
/// one that is sent twice counts once. A process that ends between the two loses nothing. A cache belongs to one process.
///
/// A tracker follows its ``SubscriptionManager``: another account has another count, and signing out forgets it. All of it runs on the
/// main actor; nothing waits for the network but ``synchronize()``.
@MainActor
public final class UsageTracker {
    private let context: @MainActor () -> UsageContext
    private let now: @MainActor () -> Date
    private let server: any UsageServer
    private let bundled: FeatureRules?
    private let timeZone: TimeZone
    private let log: (@Sendable (String) -> Void)?

    private var ledger: UsageLedger?
    private var hasCurrentRules = false
    private var kept: KeptValue<UsageLedger>
    private var pass: Task<Void, Never>?
    private var wantsAnotherPass = false
    private let snapshots = Snapshots<UsageState>()

    private var watching: Task<Void, Never>?

    /// - Parameters:
    ///   - bundled: what tiers give before the catalog was ever read.
    ///   - changes: an element whenever the context may have changed.
    init(
        server: any UsageServer, cache: any StatusCache, bundled: FeatureRules?, timeZone: TimeZone,
        log: (@Sendable (String) -> Void)?, context: @escaping @MainActor () -> UsageContext,
        now: @escaping @MainActor () -> Date, changes: AsyncStream<Void>
    ) {
        (self.server, self.bundled, self.timeZone, self.log) = (server, bundled, timeZone, log)
        kept = KeptValue(cache)
        (self.context, self.now) = (context, now)
        watching = Task { [weak self] in
            var last: UsageContext?
            for await _ in changes {
                guard let self else { return }
                let context = self.context()
                // The server was asked about the account, or what it would answer about use is another: now it is asked about that.
                let isNews = context != last
                last = context
                if isNews || self.ledger?.pending.isEmpty == false { await self.synchronize() }
            }
        }
    }

    deinit { watching?.cancel() }

    // MARK: Reading

    /// What is known now.
    public var state: UsageState {
        follow()
        let now = now()
        return UsageState(
            accountID: ledger?.account, rules: rules,
            usage: ledger.map { ledger in
                Dictionary(
                    uniqueKeysWithValues: ledger.lines.keys.compactMap { feature in
                        ledger.use(of: feature, at: now).map { (feature, $0) }
                    })
            } ?? [:], waiting: ledger?.pending.count ?? 0)
    }

    /// Each state from now on, the present one first. A reader that is slow gets the newest.
    public var states: AsyncStream<UsageState> { snapshots.stream(from: state) }

    /// How much was used of what is counted, by the catalog's ids.
    public var currentUsage: [String: UsageLine] { state.usage }

    /// How much was used of a feature; nil where it is not counted, or nothing is known of it yet.
    public func use(of feature: String) -> UsageLine? {
        follow()
        return ledger?.use(of: feature, at: now())
    }

    /// What tiers give: as last read from the server, else as the app brought it along.
    public var rules: FeatureRules? {
        follow()
        return ledger?.rules ?? bundled
    }

    /// The account's tier, as access is decided now; nil is the first one.
    var currentTier: String? { context().tier }

    // MARK: Counting

    /// Counts a use at once, and reports it.
    /// - Parameters:
    ///   - feature: the catalog's id.
    ///   - amount: how much was used: 1 to 1,000,000.
    /// - Returns: what became of it. What is refused changes nothing.
    @discardableResult
    public func count(_ feature: String, amount: Int64 = 1) -> UsageOutcome { record(.add(amount), of: feature) }

    /// Counts what was given back of a stock, such as saved words that were deleted. It is never refused for a limit.
    /// - Parameter amount: 1 to 1,000,000. A stock does not fall below 0.
    @discardableResult
    public func release(_ feature: String, amount: Int64 = 1) -> UsageOutcome {
        record(.release(amount), of: feature)
    }

    /// Sets what a stock is now: 0 to 1,000,000,000. It is refused where it is more than the limit and more than before.
    @discardableResult
    public func set(_ feature: String, to stock: Int64) -> UsageOutcome { record(.set(stock), of: feature) }

    private func record(_ act: UsageAct, of feature: String) -> UsageOutcome {
        follow()
        guard var ledger, let rules, let limit = rules.limit(of: feature, in: currentTier) else {
            return .refused(.notKnown)
        }
        // The catalog's answer does not say of all that is unlimited whether it is counted; the server's counts do.
        guard limit != .open || ledger.lines[feature] != nil else { return .notCounted }
        let now = now()
        do throws(UsageLedger.Refusal) {
            try ledger.count(act, of: feature, limit: limit, key: UUID().uuidString, at: now, in: timeZone)
        } catch {
            guard error == .limit else { return .outOfBounds }
            let line = ledger.use(of: feature, at: now)
            let access = rules.access(
                to: feature, in: currentTier, used: line?.used ?? 0, amount: .max, resetsAt: line?.resetsAt)
            return .refused(access.restriction ?? .notKnown)
        }
        keep(ledger)
        Task { await synchronize() }
        let used = ledger.use(of: feature, at: now)?.used ?? 0
        return .counted(remaining: limit.most.map { max(0, $0 - used) })
    }

    // MARK: Reporting

    /// Sends what waits, oldest first, and reads what the server has counted, which takes the place of what is known here.
    ///
    /// Where the server does not answer, what waits stays, and is sent at the next call. It is called after each use, and whenever the
    /// manager has asked the server.
    public func synchronize() async {
        wantsAnotherPass = true
        if let pass { return await pass.value }
        let pass = Task {
            while wantsAnotherPass {
                wantsAnotherPass = false
                await synchronizeOnce()
            }
            self.pass = nil
        }
        self.pass = pass
        await pass.value
    }

    private func synchronizeOnce() async {
        follow()
        guard let account = ledger?.account, context().isChecked else { return }
        do {
            while let entry = ledger?.pending.first {
                let fate = try await server.report(entry)
                guard isStill(account) else { return }
                apply(fate, to: entry)
            }
            if !hasCurrentRules || !knowsTier {
                let rules = try await server.rules()
                guard isStill(account) else { return }
                hasCurrentRules = true
                change { $0.rules = rules }
            }
            let counts = try await server.counts()
            guard isStill(account) else { return }
            // What was counted here meanwhile has not been sent: it goes on top.
            change { $0.adopt(counts) }
        } catch {
            log?("usage: the server has not answered, what waits is sent later: \(ClientError.kind(of: error))")
        }
    }

    private func apply(_ fate: UsageReportFate, to entry: UsageLedger.Entry) {
        switch fate {
        case .counted(let used, let window): change { $0.acknowledge(entry.key, used: used, window: window) }
        case .refused:
            log?("usage: the server refuses a report of \(entry.feature): it is not counted")
            change { $0.drop(entry.key) }
        case .invalid:
            let now = now()
            change { ledger in
                // Sent without its instant it is of now. A server that refuses that, too, is not asked for ever.
                if entry.isDated, entry.usedAt > now - Self.oldest {
                    ledger.undate(entry.key, newKey: UUID().uuidString, at: now)
                } else {
                    ledger.drop(entry.key)
                }
            }
        }
    }

    /// How long ago a use may be that the server counts: 35 days.
    private static let oldest: TimeInterval = 35 * 86_400

    /// Whether the rules have the account's tier. They do not where the catalog was changed since they were read.
    private var knowsTier: Bool { currentTier.map { ledger?.rules?.tier($0) != nil } ?? true }

    // MARK: Keeping

    /// Takes the ledger of the account that is signed in, and forgets that of any other.
    private func follow() {
        let account = context().accountID
        guard ledger?.account != account else { return loadAgain() }
        ledger = nil
        hasCurrentRules = false
        if let account { ledger = load(account) ?? UsageLedger(account: account) } else { remove() }
        snapshots.send(state)
    }

    /// What the cache has of an account; nil where that is nothing.
    private func load(_ account: String) -> UsageLedger? {
        let wasClosed = kept.isClosed
        switch kept.load() {
        case .nothing: return nil
        case .value(let ledger) where ledger.account == account: return ledger
        case .value: break
        case .unreadable: log?("usage: the cache cannot be read, counting begins anew")
        case .closed(let error):
            if !wasClosed { log?("usage: the cache cannot be opened, and is read later: \(type(of: error))") }
            return nil
        }
        remove()
        return nil
    }

    /// Takes what the cache has, where it could not be opened before. What was counted meanwhile comes after it.
    private func loadAgain() {
        guard kept.isClosed, let counted = ledger else { return }
        let earlier = load(counted.account)
        guard !kept.isClosed else { return }
        save(earlier.map { counted.following($0) } ?? counted)
    }

    private func remove() {
        do { try kept.remove() } catch { log?("usage: the cache cannot be removed: \(type(of: error))") }
    }

    /// Whether an answer is still of the account that is signed in.
    private func isStill(_ account: String) -> Bool {
        follow()
        return ledger?.account == account
    }

    private func change(_ change: (inout UsageLedger) -> Void) {
        guard var ledger else { return }
        change(&ledger)
        keep(ledger)
    }

    private func keep(_ changed: UsageLedger) {
        if changed != ledger { save(changed) }
    }

    private func save(_ changed: UsageLedger) {
        do { try kept.save(changed) } catch {
            log?("usage: the cache cannot be written, what waits is lost if the app ends now: \(type(of: error))")
        }
        ledger = changed
        snapshots.send(state)
    }
}
