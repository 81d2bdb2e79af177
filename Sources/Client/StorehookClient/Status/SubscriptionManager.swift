public import Foundation

#if canImport(Combine)
    public import Combine
#endif

/// Knows what one account has: by the store, by the server, and offline by what they said last.
///
/// It verifies at the server what the store hands over, and only then finishes it. It asks at the start, every five minutes, and when the
/// app becomes active. All of it runs on the main actor; a value may be read at any time. Where there is Combine it is an
/// `ObservableObject`.
@MainActor
public final class SubscriptionManager {
    #if canImport(Combine)
        /// Sends before each change of ``state``.
        public nonisolated var objectWillChange: ObservableObjectPublisher { willChange.publisher }
        private let willChange = WillChange()
    #endif

    let server: any StatusServer
    let source: any PurchaseSource
    let clock: any ClientClock
    private let grace: TimeInterval
    private let log: (@Sendable (String) -> Void)?
    private let snapshots = Snapshots<State>()

    /// Grows with each sign-in and sign-out: what was asked before is dropped.
    private(set) var generation = 0
    private var guarded: GuardedClock
    private(set) var known: KnownStatus?
    private var kept: KeptValue<KnownStatus>
    /// What does not outlive the account's turn in this process.
    var turn = Turn()
    /// What the store sells, and the catalog that names it.
    var sold = Sold()
    /// The catalog that the app brings along: what products give before the server's was ever read.
    var bundled: Catalog?

    /// What of an account's turn is kept in memory alone.
    struct Turn {
        var entitlements: [StoreTransaction] = []
        /// Whether the server has answered when it was asked last.
        var isAsked = false
        /// Whether the server has stated that the app's token is of the account that is signed in.
        var isChecked = false
        var isStarted = false
        var hasCompletedInitialScan = false
        var busy = 0
        var error: ClientError?
        var pass: Task<Void, Never>?
        var loop: Task<Void, Never>?
        var listener: Task<Void, Never>?
        var reporting: Task<Void, Never>?
        var inFlight: [StoreTransaction.Version: Task<Fate, Never>] = [:]
        var finishing: [StoreTransaction.Version: Task<Void, Never>] = [:]
        var finished: Set<StoreTransaction.Version> = []
        /// What is not sent again in this turn.
        var settled: [StoreTransaction.Version: Fate] = [:]
        var reportedFaults: Set<String> = []
        var failures = 0
        /// The order in which the server was asked, and the place of the answer that counts.
        var asked = 0
        var adopted = 0
    }

    /// What is for sale.
    struct Sold {
        var catalog: Catalog?
        var products: [StoreProduct] = []
    }

    /// What became of a transaction at the server.
    enum Fate: Sendable, Equatable { case accepted, refused(ClientError), rejected(ClientError), later }

    /// - Parameters:
    ///   - api: the account API, with a token of the account that is signed in.
    ///   - source: where the app buys.
    ///   - cache: where the last status is kept; of this manager alone.
    ///   - grace: how long access goes on after its end while the server cannot be asked, in seconds.
    ///   - clock: the device's clocks.
    ///   - log: takes lines for the app's log, from the main actor.
    public convenience init(
        api: AccountAPI, source: any PurchaseSource, cache: any StatusCache, grace: TimeInterval,
        clock: any ClientClock = SystemClock(), log: (@Sendable (String) -> Void)? = nil
    ) {
        self.init(
            server: AccountStatusServer(api: api), source: source, cache: cache, grace: grace, clock: clock, log: log)
    }

    init(
        server: any StatusServer, source: any PurchaseSource, cache: any StatusCache, grace: TimeInterval,
        clock: any ClientClock, log: (@Sendable (String) -> Void)? = nil
    ) {
        (self.server, self.source, self.grace) = (server, source, grace)
        (self.clock, self.log, kept) = (clock, log, KeptValue(cache))
        guarded = GuardedClock(clock)
    }

    deinit { turn.cancel() }

    // MARK: Accounts

    /// Takes over an account, with what the cache has of it. What was known of another one is forgotten.
    /// - Parameter accountID: what the app's login calls it (`sub`).
    public func signIn(accountID: String) async {
        guard known?.accountID != accountID else { return }
        willSend()
        begin()
        known = KnownStatus(accountID: accountID, highest: guarded.now)
        load()
        save()
        snapshots.send(state)
    }

    /// Takes what the cache has.
    private func load() {
        switch kept.load() {
        case .nothing: break
        case .value(let kept):
            // The time is the device's and not the account's.
            guarded.raise(to: kept.highest)
            // What was learnt meanwhile is newer.
            if kept.accountID == known?.accountID, known?.answer == nil { known = kept }
        case .unreadable:
            turn.error = .unreadableCache
            write("the cache cannot be read, the account is free until the server or the store is asked")
        case .closed(let error):
            turn.error = .unreadableCache
            write("the cache cannot be opened, and is read later: \(type(of: error))")
        }
    }

    /// Takes what the cache has, where it could not be opened before.
    func loadAgain() {
        guard kept.isClosed else { return }
        willSend()
        load()
        save()
        snapshots.send(state)
    }

    /// Forgets the account, on the device too. What is still under way for it is dropped.
    public func signOut() {
        willSend()
        begin()
        known = nil
        do { try kept.remove() } catch { write("the cache cannot be removed: \(type(of: error))") }
        snapshots.send(state)
    }

    private func begin() {
        generation += 1
        turn.cancel()
        turn = Turn()
        // What is for sale names the trial and the offers of one account.
        sold = Sold()
    }

    // MARK: State

    /// What is known now.
    public var state: State {
        let now = now
        var state = State()
        state.products = sold.products
        state.isLoading = turn.busy > 0
        state.error = turn.error
        state.hasCompletedInitialScan = turn.hasCompletedInitialScan
        guard let known else { return state }
        state.accountID = known.accountID
        let decision = AccessDecision(
            entitlements: turn.entitlements, known: known.filled(from: bundled), isAsked: turn.isAsked, now: now,
            grace: grace)
        state.access = decision.access
        state.purchasedProductIDs = decision.productIDs
        guard let answer = known.answer else { return state }
        state.readAt = answer.readAt
        (state.status, state.displayStatus) = (AccountStatus(rawValue: answer.status), answer.displayStatus)
        (state.expiresAt, state.accessUntil) = (answer.expiresAt, answer.accessUntil)
        (state.willRenew, state.purchaseType) = (answer.willRenew, PurchaseType(rawValue: answer.purchaseType))
        (state.period, state.transactionID) = (answer.period, answer.transactionID)
        state.isTrialPeriod = answer.purchases.contains { $0.hasAccess && $0.isTrialPeriod }
        // What the store has renewed goes on beyond what the server has stated.
        let isOutlasted = answer.accessUntil.map { end in state.access.until.map { end < $0 } ?? true } ?? false
        state.isExpiringSoon = state.access.allowed && !isOutlasted && answer.endsSoon(at: now)
        return state
    }

    /// Each state from now on, the present one first. A reader that is slow gets the newest.
    public var states: AsyncStream<State> { snapshots.stream(from: state) }

    /// An element whenever the state may have changed.
    var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let states = states
        let task = Task { for await _ in states { continuation.yield() } }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Now, by the clock that gains nothing when the device's is set back.
    public var now: Date {
        guarded.notice()
        let now = guarded.now
        // A minute at most is forgotten when the app ends now.
        if let known, now > known.highest + 60 { save() }
        return now
    }

    /// Changes what is known, and reports it to all who listen.
    func change(_ change: () -> Void) {
        willSend()
        change()
        snapshots.send(state)
    }

    /// Changes what the cache keeps.
    func learn(_ change: (inout KnownStatus) -> Void) {
        guard var changed = known else { return }
        change(&changed)
        willSend()
        known = changed
        save()
        snapshots.send(state)
    }

    /// Takes over the server's time.
    func anchor(at date: Date?) {
        guard let date else { return }
        guarded.anchor(at: date)
        save()
    }

    private func save() {
        guard var known else { return }
        guarded.notice()
        known.highest = guarded.now
        self.known = known
        do { try kept.save(known) } catch {
            write("the cache cannot be written: \(type(of: error))")
        }
    }

    func write(_ line: String) { log?("subscription: \(line)") }

    func writeBlock(_ block: String) { log?(block) }

    private func willSend() {
        #if canImport(Combine)
            objectWillChange.send()
        #endif
    }
}

extension SubscriptionManager.Turn {
    /// Ends what is under way. What was sent is answered still, and the answer is dropped.
    func cancel() {
        pass?.cancel()
        loop?.cancel()
        listener?.cancel()
    }
}

#if canImport(Combine)
    extension SubscriptionManager: ObservableObject {}
#endif
