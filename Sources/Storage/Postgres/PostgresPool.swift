import Base
public import Logging
public import ServiceLifecycle
import Synchronization

/// A handful of connections that callers share.
///
/// Connections are opened on demand, and replaced when they break. While the server is unreachable, callers are
/// refused within the configuration's `connectTimeout`, during a backoff at once; when it is back, they are served
/// again without a restart. ``run()`` is for long-running programs: it seeks an unreachable server without waiting for
/// callers, and closes the pool upon a graceful shutdown. Short-lived programs do without it and call ``close()`` at
/// their end.
public final class PostgresPool: Service, Sendable {
    private typealias Waiter = CheckedContinuation<PostgresConnection, any Error>
    private typealias State = PoolState<PostgresConnection, Waiter>

    private struct Guarded {
        var pool: State
        var closing: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
    }

    private let configuration: PostgresConfiguration
    private let size: Int
    private let logger: Logger
    private let onError: (@Sendable (PostgresError) -> Void)?
    private let backoff = RetrySchedule.reconnecting
    private let state: Mutex<Guarded>
    /// Signals ``run()`` that there may be no connection left; one wake-up is as good as many.
    private let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// A pool of at most `size` connections; none is opened yet.
    /// - Parameter onError: Called with each failure of a statement or transaction, for metrics; on any thread.
    public init(
        configuration: PostgresConfiguration, size: Int, logger: Logger,
        onError: (@Sendable (PostgresError) -> Void)? = nil
    ) {
        self.onError = onError
        self.configuration = configuration
        self.size = max(1, size)
        self.logger = logger
        state = Mutex(Guarded(pool: State(size: max(1, size))))
        wakeUp.yield()
    }

    /// How many connections it has opened so far. What was read from the database before the last one may be of
    /// another database: a standby may have taken over, or a backup been restored.
    public var generation: UInt64 { state.withLock(\.pool.opened) }

    /// Runs one statement in a transaction of its own; see ``PostgresConnection/query(_:deadline:durably:)``.
    @discardableResult
    public func query(
        _ query: PostgresQuery, deadline: Duration? = nil, durably: Bool = false
    ) async throws -> PostgresRows {
        try await leasing { try await $0.query(query, deadline: deadline, durably: durably) }
    }

    /// Runs `body` in a transaction; see ``PostgresConnection/withTransaction(_:_:)``. It runs at most once.
    @discardableResult
    public func withTransaction<T: Sendable>(
        _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (borrowing PostgresSession) throws -> T
    ) async throws -> T {
        try await leasing { try await $0.withTransaction(options, body) }
    }

    /// Lends one connection for the duration of `body`.
    public func withConnection<T>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> T
    ) async throws -> T {
        let connection = try await acquire()
        defer { release(connection) }
        return try await body(connection)
    }

    /// Keeps at least one connection open, seeking the server whenever it is away, until the task is cancelled or shut
    /// down gracefully; then closes the pool.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in self.wakeUps {
                await self.seekServer()
            }
        }
        await close()
    }

    /// Refuses new callers, waits for those under way, and closes all connections.
    public func close() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.closing.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() }
            apply { $0.close(now: .now) }
        }
    }

    // MARK: Leases

    /// Runs one operation; on another connection if the first was gone before anything was sent.
    private func leasing<T: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ operation: (PostgresConnection) async throws -> T
    ) async throws -> T {
        // All idle connections may have broken together; after them comes a fresh one.
        for _ in 0..<size {
            do {
                return try await withConnection(operation)
            } catch let error as PostgresError {
                heed(error)
                guard error.isUnsent else { throw error }
            }
        }
        do {
            return try await withConnection(operation)
        } catch let error as PostgresError {
            heed(error)
            throw error
        }
    }

    private func heed(_ error: PostgresError) {
        onError?(error)
        // A server that no longer takes writes fails once on each of its connections; this spares the idle ones.
        guard configuration.requiresWrites, error.sqlState == .readOnlyTransaction else { return }
        state.withLock { $0.pool.dropIdle() }
        wakeUp.yield()
    }

    private func acquire(isolation: isolated (any Actor)? = #isolation) async throws -> PostgresConnection {
        if let connection = state.withLock({ $0.pool.leaseIdle() }) { return connection }
        let id = state.withLock { $0.pool.nextID() }
        let timeout = configuration.acquireTimeout
        let timer = Task {
            try await Task.sleep(for: timeout)
            self.apply {
                $0.abandon(id, PostgresError(.timeout, "no connection of the pool became free within \(timeout)"))
            }
        }
        defer { timer.cancel() }
        let cancelled = PostgresError(.cancelled, "cancelled while waiting for a connection of the pool")
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                apply { $0.wait(id, continuation, now: .now) }
                // The handler below may have run before the waiter was added.
                if Task.isCancelled { apply { $0.abandon(id, cancelled) } }
            }
        } onCancel: {
            apply { $0.abandon(id, cancelled) }
        }
    }

    private func release(_ connection: PostgresConnection) {
        let isUsable = connection.isUsable
        apply { $0.release(isUsable ? connection : nil, now: .now) }
        if !isUsable { wakeUp.yield() }
    }

    // MARK: Connecting

    /// Tries until there is a connection, a caller opens one, or the task is cancelled.
    private func seekServer() async {
        while !Task.isCancelled {
            let (isAway, retryAt) = state.withLock { ($0.pool.isAway, $0.pool.retryAt) }
            guard isAway else { return }
            if let retryAt, retryAt > .now {
                do { try await Task.sleep(until: retryAt) } catch { return }
            }
            if state.withLock({ $0.pool.probe() }) { await open() }
        }
    }

    private func open() async {
        do {
            let connection = try await PostgresConnection.connect(to: configuration, logger: logger)
            let failures = state.withLock { $0.pool.consecutiveFailures }
            if failures > 0 { logger.notice("the database is back", metadata: ["failures": "\(failures)"]) }
            apply { $0.opened(connection, now: .now) }
        } catch {
            let failure = error as? PostgresError ?? PostgresError(.connection, "connecting failed")
            let (failures, opened) = state.withLock { ($0.pool.consecutiveFailures, $0.pool.opened) }
            // Once per outage; a line for each attempt would bury everything else. Who asked first for a connection reports by itself
            // that it was refused.
            if failures == 0, opened > 0 || !failure.isRefusal {
                logger.warning("the database is unavailable", metadata: ["error": "\(failure)"])
            }
            let pause = backoff.pause(afterFailures: failures + 1)
            apply { $0.openFailed(failure, retryAt: .now + pause, now: .now) }
            wakeUp.yield()
        }
    }

    /// Feeds an event to the state and does what it asks for, outside the lock.
    private func apply(_ event: (inout State) -> [State.Action]) {
        for action in state.withLock({ event(&$0.pool) }) {
            switch action {
            case .open: Task { await self.open() }
            case .lease(let waiter, let connection): waiter.resume(returning: connection)
            case .refuse(let waiter, let error): waiter.resume(throwing: error)
            case .finishClosing: finishClosing()
            }
        }
    }

    private func finishClosing() {
        wakeUp.finish()
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.closing.removeAll() }
            return state.closing
        }
        for continuation in waiting { continuation.resume() }
    }
}
