import Logging

/// Drives one libpq connection from its own thread: sends, waits, cancels, gives up. Not Sendable: it stays on that thread.
final class ConnectionDriver {
    /// The state of the connection.
    enum State {
        /// Nothing has been tried. Can transition to: connecting, closed.
        case initial
        /// The start-up is under way. Can transition to: ready, closed.
        case connecting
        /// No statement is under way. Can transition to: running, closed.
        case ready
        /// A statement is under way. Can transition to: ready, cancelling, closed.
        case running
        /// The server was asked to stop the statement. Can transition to: ready, closed.
        case cancelling
        /// The connection is gone for good. Can transition to: nothing.
        case closed
    }

    /// Why a statement is being stopped.
    private enum StopReason {
        case deadline, cancellation
    }

    private(set) var state = State.initial
    /// Whether the transaction under way was begun as read-only.
    var isReadOnlyByChoice = false
    private var connection: LibPQConnection?
    private var plans = KeptPlans()
    private let configuration: PostgresConfiguration
    private let wake: WakePipe
    private let logger: Logger

    init(configuration: PostgresConfiguration, wake: WakePipe, logger: Logger) {
        self.configuration = configuration
        self.wake = wake
        self.logger = logger
    }

    /// Whether another statement can be sent, as far as is known.
    var isUsable: Bool { state == .ready }

    var transaction: LibPQConnection.Transaction { connection?.transaction ?? .unknown }

    // MARK: The connection

    /// Connects to the first host that accepts.
    func connect(cancellation: CancellationFlag) throws(PostgresError) {
        guard case .initial = state else {
            throw PostgresError(.unsupported, "a connection connects once; make another one")
        }
        state = .connecting
        do throws(PostgresError) {
            connection = try ConnectionAttempt(configuration: configuration, wake: wake, logger: logger)
                .connect(cancellation: cancellation)
            state = .ready
        } catch {
            state = .closed
            throw error
        }
        try endWithClient()
    }

    /// Lets the server notice that a statement was stopped by closing the connection. A server that cannot (before
    /// PostgreSQL 14, or not on Linux) ends the statement when it would write its answer.
    private func endWithClient() throws(PostgresError) {
        guard connection?.isEncrypted == true else { return }
        do throws(PostgresError) {
            _ = try run(
                PostgresQuery(unescaped: "set client_connection_check_interval = '2s'", name: "connect"),
                deadline: .now + configuration.connectTimeout, cancellation: nil)
        } catch {
            guard case .server = error.kind else { throw error }
        }
    }

    /// Ends the connection; a statement under way on the server ends with it, sooner or later.
    func close() {
        state = .closed
        connection = nil
    }

    // MARK: Statements

    /// Sends one statement and waits for its result.
    ///
    /// - Parameters:
    ///   - deadline: When to ask the server to stop.
    ///   - cancellation: Raised when the caller's task is cancelled; nil where a stop would do harm, as in a COMMIT.
    ///   - durably: Fails if the statement was to be stopped, or drew a WARNING.
    func run(
        _ query: PostgresQuery, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?,
        durably: Bool = false
    ) throws(PostgresError) -> LibPQResult {
        guard query.slots.count <= Int(UInt16.max), query.values.count <= Int(Int32.max) else {
            throw PostgresError(
                .unsupported, "a statement takes at most 65535 parameters and 2 GiB; send arrays or smaller batches",
                operation: query.name)
        }
        if query.keepsPlan, let name = try keptName(of: query, deadline: deadline, cancellation: cancellation) {
            do throws(PostgresError) {
                return try perform(query.name, deadline: deadline, cancellation: cancellation, durably: durably) {
                    $0.send(query, preparedAs: name)
                }
            } catch {
                try forgetPlans(after: error)
            }
        }
        return try perform(query.name, deadline: deadline, cancellation: cancellation, durably: durably) {
            $0.send(query)
        }
    }

    /// The name under which the server's session keeps the statement from now on; nil where it is to be sent whole.
    private func keptName(
        of query: PostgresQuery, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?
    ) throws(PostgresError) -> String? {
        if let name = plans[query] { return name }
        if plans.isPooled == nil {
            plans.isPooled = try isPooled(deadline: deadline, cancellation: cancellation)
        }
        guard plans.isPooled == false, let name = plans.name(of: query) else { return nil }
        if plans.mayBeStale {
            // The session may still have an obsolete one of this name.
            _ = try perform(query.name, deadline: deadline, cancellation: cancellation, durably: false) {
                $0.send(script: "deallocate all")
            }
            plans.mayBeStale = false
        }
        do throws(PostgresError) {
            _ = try perform(query.name, deadline: deadline, cancellation: cancellation, durably: false) {
                $0.send(preparing: query, as: name)
            }
        } catch {
            // The session has it already: it is shared, so there is a pooler that the check did not detect.
            guard error.sqlState == .duplicatePreparedStatement else { throw error }
            plans.isPooled = true
            guard transaction == .idle else { throw error }
            return nil
        }
        plans.keep(query, as: name)
        return name
    }

    /// Whether there is a pooler in between. A pooler makes up the process number in the start-up; the process that
    /// answers has another one.
    func isPooled(
        deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?
    ) throws(PostgresError) -> Bool {
        let rows = PostgresRows(
            try run("select pg_backend_pid()", deadline: deadline, cancellation: cancellation))
        return try rows.one().decode(0, as: Int32.self) != connection?.serverProcess
    }

    /// Forgets the kept plans if one became invalid: a table's columns changed, or the session discarded it. The
    /// statement has done nothing then. It is sent whole, unless its transaction has failed with it.
    /// - Throws: the error where it is another one; otherwise one that asks for a new connection.
    private func forgetPlans(after error: PostgresError) throws(PostgresError) {
        guard error.sqlState == .featureNotSupported || error.sqlState == .invalidStatementName else { throw error }
        plans.forget()
        guard transaction != .idle else { return }
        close()
        throw PostgresError(
            .connection, "a table was changed since this connection was made; another one is needed",
            operation: error.operation)
    }

    /// Sends a script; the result is that of its last statement.
    func run(
        script: String, name: String?, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?
    ) throws(PostgresError) -> LibPQResult {
        try perform(name, deadline: deadline, cancellation: cancellation, durably: false) { $0.send(script: script) }
    }

    private func perform(
        _ operation: String?, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?, durably: Bool,
        _ send: (LibPQConnection) -> Bool
    ) throws(PostgresError) -> LibPQResult {
        let connection = try readyConnection(operation)
        if let cancellation, cancellation.isSet {
            throw PostgresError(.cancelled, "cancelled before it was sent", operation: operation)
        }
        if let deadline, deadline <= .now {
            throw PostgresError(.timeout, "the deadline passed before it was sent", operation: operation)
        }
        connection.forgetWarnings()
        guard send(connection) else {
            if connection.isBad { throw lost(operation) }
            throw PostgresError(.unsupported, "libpq refused to send the statement", operation: operation)
        }
        state = .running
        return try awaitResult(
            on: connection, operation, deadline: deadline, cancellation: cancellation, durably: durably)
    }

    /// The connection, if it is open and, as far as can be seen without asking the server, alive.
    private func readyConnection(_ operation: String?) throws(PostgresError) -> LibPQConnection {
        guard case .ready = state, let connection else {
            var error = PostgresError(.connection, "the connection is closed", operation: operation)
            error.isUnsent = true
            throw error
        }
        // Between statements a healthy server sends next to nothing: any input is a goodbye or a closed socket.
        while waitForSocket(connection.socket, toRead: true, toWrite: false, wake: wake, until: .now).canRead {
            // isBusy makes libpq parse what has been read.
            guard connection.consumeInput(), !connection.isBusy, !connection.isBad, !connection.saidFarewell else {
                var error = lost(operation)
                error.isUnsent = true
                error.mayHaveCommitted = false
                throw error
            }
        }
        return connection
    }

    /// Waits for the statement's end; afterwards the connection is ready or closed.
    private func awaitResult(
        on connection: LibPQConnection, _ operation: String?, deadline: ContinuousClock.Instant?,
        cancellation: CancellationFlag?, durably: Bool
    ) throws(PostgresError) -> LibPQResult {
        var stop: StopReason?
        var canceller: CancelRequest?
        var giveUp: ContinuousClock.Instant?
        var isSent = false
        var last: LibPQResult?
        var failure: LibPQResult?

        while true {
            if !isSent {
                guard let flushed = connection.flush() else { throw lost(operation) }
                isSent = flushed
            }
            // Also while sending: a server may refuse what it has read so far before the rest is sent.
            while !connection.isBusy {
                guard let result = connection.nextResult() else {
                    try settle(canceller, operation, until: giveUp)
                    return try judge(
                        last: last, failure: failure, stop: stop, durably: durably, on: connection, operation)
                }
                if result.status == .copy {
                    close()
                    throw PostgresError(
                        .unsupported, "COPY is not supported; the connection was closed", operation: operation)
                }
                if result.status == .failed { failure = failure ?? result } else { last = result }
                if connection.isBad { throw lost(operation, after: failure) }
            }

            if stop == nil {
                if let cancellation, cancellation.isSet { stop = .cancellation }
                if let deadline, deadline <= .now { stop = .deadline }
                if let stop {
                    // A cancel request carries its secret in the clear: anyone on the network could read and use it.
                    if connection.isEncrypted { throw gaveUp(stop, operation) }
                    state = .cancelling
                    giveUp = .now + configuration.cancelGracePeriod
                    canceller = connection.makeCanceller().flatMap { CancelRequest(canceller: $0, wake: wake) }
                }
            }
            if let stop, let giveUp, giveUp <= .now { throw gaveUp(stop, operation) }

            let found = waitForSocket(
                connection.socket, toRead: true, toWrite: !isSent, wake: wake, until: giveUp ?? deadline)
            if found.canRead, !connection.consumeInput() { throw lost(operation, after: failure) }
        }
    }

    /// Waits until a request to cancel has been delivered: a late one would hit the next statement instead.
    private func settle(
        _ request: CancelRequest?, _ operation: String?, until giveUp: ContinuousClock.Instant?
    ) throws(PostgresError) {
        guard let request else { return }
        while !request.isFinished {
            if let giveUp, giveUp <= .now {
                // The statement's own outcome stands; only the connection is no longer usable.
                close()
                return
            }
            _ = waitForSocket(-1, toRead: false, toWrite: false, wake: wake, until: giveUp)
        }
    }

    /// The statement's outcome from its results. A statement that succeeded although it was to stop has succeeded.
    private func judge(
        last: LibPQResult?, failure: LibPQResult?, stop: StopReason?, durably: Bool, on connection: LibPQConnection,
        _ operation: String?
    ) throws(PostgresError) -> LibPQResult {
        if connection.isBad { throw lost(operation, after: failure) }
        if state != .closed { state = .ready }
        if let failure {
            guard var error = failure.serverError else { throw lost(operation) }
            if let stop, error.sqlState == .queryCanceled {
                error = stopped(stop)
                error.sqlState = .queryCanceled
            }
            // The server was a primary when this connection was made, and no longer is: another one may be.
            if error.sqlState == .readOnlyTransaction, !isReadOnlyByChoice { close() }
            throw error.naming(operation)
        }
        guard let last else {
            close()
            throw PostgresError(.connection, "the server sent no result", operation: operation)
        }
        if durably, stop != nil || connection.drewWarning {
            var error = PostgresError(
                .unconfirmed,
                "the server ended it without saying that it will last, as when a synchronous standby does not answer; see "
                    + "its log", operation: operation)
            error.mayHaveCommitted = true
            throw error
        }
        return last
    }

    private func stopped(_ reason: StopReason) -> PostgresError {
        switch reason {
        case .deadline: PostgresError(.timeout, "the deadline passed and the server stopped the statement")
        case .cancellation: PostgresError(.cancelled, "cancelled while under way")
        }
    }

    private func gaveUp(_ reason: StopReason, _ operation: String?) -> PostgresError {
        close()
        var error = PostgresError(
            reason == .deadline ? .timeout : .cancelled,
            "the statement was not stopped in time; the connection was closed", operation: operation)
        error.mayHaveCommitted = true
        return error
    }

    /// The connection broke. The server's last error, if any, gives the SQLSTATE.
    private func lost(_ operation: String?, after failure: LibPQResult? = nil) -> PostgresError {
        close()
        var error = PostgresError(.connection, "the connection to the server was lost", operation: operation)
        error.sqlState = failure?.serverError?.sqlState
        (error.mayHaveCommitted, error.isUnreachable) = (true, true)
        return error
    }

    // MARK: Notifications

    /// Waits for a notification; returns the payloads of all that have arrived. Throws when the connection is lost or
    /// the task cancelled.
    func waitForNotification(cancellation: CancellationFlag) throws(PostgresError) -> [String] {
        let connection = try readyConnection("listen")
        while true {
            guard connection.consumeInput(), !connection.isBad else { throw lost("listen") }
            let payloads = connection.takeNotifications()
            if !payloads.isEmpty { return payloads }
            if cancellation.isSet { throw PostgresError(.cancelled, "cancelled while listening", operation: "listen") }
            _ = waitForSocket(connection.socket, toRead: true, toWrite: false, wake: wake, until: nil)
        }
    }
}
