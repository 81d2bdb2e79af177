public import Logging
import Synchronization

/// One connection to PostgreSQL, with a thread of its own on which libpq may wait.
///
/// Callers line up: one statement or transaction is under way at a time. The states are those of ``ConnectionDriver``:
/// ready until closed, by ``close()`` or because it broke, and never open again. A ``PostgresPool`` replaces it then.
public actor PostgresConnection {
    private let thread: ConnectionThread
    private let wake: WakePipe
    private let driver: ConnectionDriver
    private let configuration: PostgresConfiguration
    private let usable = Atomic(false)

    /// The connection's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Whether statements can be sent, as far as is known; the next statement notices a server that has vanished.
    public nonisolated var isUsable: Bool { usable.load(ordering: .acquiring) }

    private init(
        configuration: PostgresConfiguration, thread: ConnectionThread, wake: WakePipe, logger: Logger
    ) {
        self.configuration = configuration
        self.thread = thread
        self.wake = wake
        driver = ConnectionDriver(configuration: configuration, wake: wake, logger: logger)
    }

    deinit {
        thread.retire()
    }

    /// Opens a connection.
    ///
    /// - Throws: ``PostgresError`` (`.connection`) within the configuration's `connectTimeout` for each address, and ten seconds for all;
    ///   resolving a host's name is the system resolver's business and takes as long as that allows.
    public static func connect(
        to configuration: PostgresConfiguration, logger: Logger
    ) async throws -> PostgresConnection {
        let wake = try WakePipe()
        let thread = try ConnectionThread.start(name: "pg-\(configuration.applicationName)")
        let connection = PostgresConnection(configuration: configuration, thread: thread, wake: wake, logger: logger)
        try await connection.open()
        return connection
    }

    private func open() async throws {
        try await perform { cancellation in
            try self.driver.connect(cancellation: cancellation)
        }
    }

    /// Runs one statement in a transaction of its own.
    ///
    /// - Parameters:
    ///   - query: The statement; it must not begin or end a transaction.
    ///   - deadline: How long it may take; without one, the configuration's `queryTimeout`. Then the server is asked to
    ///     stop it, and the connection remains usable; an encrypted connection is closed instead, as libpq 15 sends such a
    ///     request in the clear.
    ///   - durably: What it did is about to be acknowledged to a client, so nothing counts as done that may not last
    ///     (``TransactionOptions/isDurable``). The statement itself must make its commit wait and warnings be sent, by
    ///     ``PostgresQuery/durableSettings``.
    @discardableResult
    public func query(
        _ query: PostgresQuery, deadline: Duration? = nil, durably: Bool = false
    ) async throws -> PostgresRows {
        try await perform { cancellation in
            let result = try self.driver.run(
                query, deadline: self.limit(deadline), cancellation: cancellation, durably: durably)
            guard self.driver.transaction == .idle else {
                self.driver.close()
                throw PostgresError(
                    .unsupported, "the statement began a transaction; use withTransaction", operation: query.name)
            }
            return PostgresRows(result)
        }
    }

    /// Runs `body` between BEGIN and COMMIT; an error that it throws rolls back and is rethrown.
    ///
    /// `body` is synchronous and runs on the connection's thread: waiting for anything else inside does not compile.
    /// Its caller's cancellation stops the statement under way, but never the COMMIT.
    ///
    /// - Throws: what `body` throws, or ``PostgresError``; its `mayHaveCommitted` says whether a lost connection
    ///   leaves the outcome open. A body that swallows a statement's error cannot commit: that is an error, too.
    @discardableResult
    public func withTransaction<T: Sendable>(
        _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (borrowing PostgresSession) throws -> T
    ) async throws -> T {
        try await perform { cancellation in
            try self.runTransaction(options, cancellation: cancellation, body)
        }
    }

    /// Closes the connection after what is under way, and ends its thread.
    public func close() async {
        driver.close()
        usable.store(false, ordering: .releasing)
        thread.retire()
    }

    /// Whether there is a pooler in between.
    func isPooled() async throws -> Bool {
        try await perform { cancellation in
            try self.driver.isPooled(deadline: self.limit(nil), cancellation: cancellation)
        }
    }

    /// Waits for a notification on a channel that this connection listens to; returns the payloads.
    func waitForNotification() async throws -> [String] {
        try await perform { cancellation in
            try self.driver.waitForNotification(cancellation: cancellation)
        }
    }

    // MARK: On the thread

    /// Runs a synchronous operation. The cancellation of the calling task reaches it while it blocks the thread.
    private func perform<T>(_ operation: (CancellationFlag) throws -> T) async throws -> T {
        let cancellation = CancellationFlag(pipe: wake)
        defer {
            usable.store(driver.isUsable, ordering: .releasing)
        }
        return try await withTaskCancellationHandler {
            // Capturing `self` keeps this closure on the connection's thread; a closure that does not capture the
            // actor would run on the global executor, and the compiler does not warn.
            self.preconditionIsolated("a connection must be used on its own thread")
            return try operation(cancellation)
        } onCancel: {
            cancellation.set()
        }
    }

    private func limit(_ timeout: Duration?) -> ContinuousClock.Instant? {
        (timeout ?? configuration.queryTimeout).map { ContinuousClock.now + $0 }
    }

    private func runTransaction<T>(
        _ options: TransactionOptions, cancellation: CancellationFlag, _ body: (borrowing PostgresSession) throws -> T
    ) throws -> T {
        let end = options.deadline.map { ContinuousClock.now + $0 }
        driver.isReadOnlyByChoice = options.isReadOnly
        defer { driver.isReadOnlyByChoice = false }
        let session = PostgresSession(
            driver: driver, cancellation: cancellation, queryTimeout: configuration.queryTimeout,
            keepsPlans: options.keepsPlans, end: end)
        do throws(PostgresError) {
            try session.query(options.beginning)
            if let settings = options.settings { try session.query(settings) }
        } catch {
            // Nothing has happened yet, so nothing can have been committed.
            if driver.transaction != .idle { rollBack() }
            var error = error
            error.mayHaveCommitted = false
            throw error
        }
        let value: T
        do {
            value = try body(session)
            if cancellation.isSet {
                throw PostgresError(.cancelled, "cancelled before the commit", operation: options.name)
            }
        } catch {
            rollBack()
            guard var error = error as? PostgresError else { throw error }
            error.mayHaveCommitted = false
            // Something was sent before, so the body must not run a second time.
            error.isUnsent = false
            throw error
        }
        try commit(options)
        return value
    }

    private func commit(_ options: TransactionOptions) throws(PostgresError) {
        let name = options.name.map { "\($0) (commit)" } ?? "commit"
        guard driver.transaction == .open else {
            rollBack()
            throw PostgresError(
                .server(.inFailedTransaction), "rolled back: a statement had failed and its error was swallowed",
                operation: name)
        }
        // Not within the transaction's deadline and not to be cancelled: a COMMIT cut short leaves its outcome open.
        let result = try driver.run(
            PostgresQuery(unescaped: "commit", name: name), deadline: limit(nil), cancellation: nil,
            durably: options.isDurable)
        guard result.commandTag == "COMMIT" else {
            throw PostgresError(.server(.inFailedTransaction), "the server rolled back instead", operation: name)
        }
    }

    /// Rolls back, or closes the connection, which has the same effect.
    private func rollBack() {
        guard driver.isUsable else { return }
        do throws(PostgresError) {
            _ = try driver.run(
                PostgresQuery(unescaped: "rollback", name: "rollback"), deadline: limit(nil), cancellation: nil)
        } catch {
            driver.close()
        }
    }
}
