/// A pool's state as a value: every event returns the actions to take, and nothing here waits or connects.
///
/// Each of the at most `size` connections is being opened, idle, or leased. A failed connection attempt begins a
/// backoff, during which callers are not kept waiting for a connection that will not come.
struct PoolState<Connection: Sendable, Waiter: Sendable> {
    /// What the pool has to do after an event.
    enum Action {
        /// Open one more connection and report the outcome.
        case open
        /// Give the waiter its connection.
        case lease(Waiter, Connection)
        /// Refuse the waiter.
        case refuse(Waiter, PostgresError)
        /// Resume the callers that wait for the pool's end.
        case finishClosing
    }

    private let size: Int
    private var idle: [Connection] = []
    private var leased = 0
    private var opening = 0
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var lastID: UInt64 = 0
    private var failures = 0
    private var backoff: (error: PostgresError, until: ContinuousClock.Instant)?
    /// Connections opened so far.
    private(set) var opened: UInt64 = 0
    private(set) var isClosed = false

    init(size: Int) {
        self.size = size
    }

    /// Whether the server has to be sought: there is no connection, and none is being opened.
    var isAway: Bool { idle.isEmpty && leased == 0 && opening == 0 && !isClosed }

    /// When the next attempt may be made, if not at once.
    var retryAt: ContinuousClock.Instant? { backoff?.until }

    /// How often connecting has failed in a row.
    var consecutiveFailures: Int { failures }

    /// Leases the connection used last, which is the one most likely to be warm and alive.
    mutating func leaseIdle() -> Connection? {
        guard !isClosed, let connection = idle.popLast() else { return nil }
        leased += 1
        return connection
    }

    /// A number for a caller that is about to wait.
    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// A caller waits for a connection.
    mutating func wait(_ id: UInt64, _ waiter: Waiter, now: ContinuousClock.Instant) -> [Action] {
        waiters.append((id, waiter))
        return settle(now: now)
    }

    /// A caller waits no longer; nothing happens if it has been served in the meantime.
    mutating func abandon(_ id: UInt64, _ error: PostgresError) -> [Action] {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return [] }
        return [.refuse(waiters.remove(at: index).waiter, error)]
    }

    /// A caller is done with its connection; nil if the connection is broken.
    mutating func release(_ connection: Connection?, now: ContinuousClock.Instant) -> [Action] {
        leased -= 1
        if let connection { idle.append(connection) }
        return settle(now: now)
    }

    /// Drops the idle connections: they may be broken.
    mutating func dropIdle() { idle.removeAll() }

    /// Begins an attempt without a waiter, so that the server's return is noticed early.
    mutating func probe() -> Bool {
        guard isAway else { return false }
        opening += 1
        return true
    }

    /// An attempt has succeeded.
    mutating func opened(_ connection: Connection, now: ContinuousClock.Instant) -> [Action] {
        opening -= 1
        opened += 1
        failures = 0
        backoff = nil
        idle.append(connection)
        return settle(now: now)
    }

    /// An attempt has failed; the next one waits until `retryAt`.
    mutating func openFailed(
        _ error: PostgresError, retryAt: ContinuousClock.Instant, now: ContinuousClock.Instant
    ) -> [Action] {
        opening -= 1
        failures += 1
        backoff = (error, retryAt)
        return settle(now: now)
    }

    /// No more leases: waiters are refused, idle connections dropped, leased ones dropped when they return.
    mutating func close(now: ContinuousClock.Instant) -> [Action] {
        isClosed = true
        return settle(now: now)
    }

    private mutating func settle(now: ContinuousClock.Instant) -> [Action] {
        if isClosed {
            idle.removeAll()
            let finish: [Action] = leased == 0 && opening == 0 ? [.finishClosing] : []
            return refuseAll(PostgresError(.connection, "the pool is closed")) + finish
        }
        var actions: [Action] = []
        while !waiters.isEmpty, let connection = idle.popLast() {
            leased += 1
            actions.append(.lease(waiters.removeFirst().waiter, connection))
        }
        if let backoff, now < backoff.until {
            // The other waiters may still get a connection that another caller holds, or one that is being opened.
            return leased == 0 && opening == 0 ? actions + refuseAll(backoff.error) : actions
        }
        while opening < waiters.count, leased + opening < size {
            opening += 1
            actions.append(.open)
        }
        return actions
    }

    private mutating func refuseAll(_ error: PostgresError) -> [Action] {
        defer { waiters.removeAll() }
        return waiters.map { .refuse($0.waiter, error) }
    }
}
