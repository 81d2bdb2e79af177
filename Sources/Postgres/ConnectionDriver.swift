import Logging

/// Drives one libpq connection from its own thread: sends, waits, cancels, gives up. Not Sendable: it stays on that thread.
final class ConnectionDriver {
    /// Where a connection is in its life.
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
    private var connection: LibPQConnection?
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

    // MARK: Connecting

    /// Tries each host in turn, each with its own deadline; the last failure is the one told.
    func connect(cancellation: CancellationFlag) throws(PostgresError) {
        guard case .initial = state else {
            throw PostgresError(.unsupported, "a connection connects once; make another one")
        }
        state = .connecting
        var failure = PostgresError(.configuration, "the connection string names no host")
        for parameters in configuration.hosts {
            do throws(PostgresError) {
                connection = try connectOnce(parameters, cancellation: cancellation)
                state = .ready
                return
            } catch {
                failure = error
                if error.kind == .cancelled { break }
            }
        }
        state = .closed
        throw failure
    }

    private func connectOnce(
        _ parameters: [String: String], cancellation: CancellationFlag
    ) throws(PostgresError) -> LibPQConnection {
        let logger = logger
        let connection = LibPQConnection(parameters: parameters) { severity, state in
            // A notice's words may repeat values, so they stay where they came from.
            logger.debug("notice from the server", metadata: ["severity": "\(severity)", "sqlstate": "\(state)"])
        }
        guard let connection else { throw PostgresError(.connection, "no memory for a connection") }
        let deadline = ContinuousClock.now + configuration.connectTimeout
        var polling = connection.isBad ? LibPQConnection.Polling.failed : .writing
        while true {
            switch polling {
            case .ready:
                guard connection.setNonblocking() else {
                    throw PostgresError(.connection, "libpq refused the nonblocking mode", operation: "connect")
                }
                return connection
            case .failed:
                throw connectFailure(of: connection, password: parameters["password"])
            case .reading, .writing:
                if cancellation.isSet {
                    throw PostgresError(.cancelled, "cancelled while connecting", operation: "connect")
                }
                if deadline <= .now {
                    throw PostgresError(
                        .connection,
                        "no answer from \(place(of: connection)) within \(configuration.connectTimeout); "
                            + "check host, port and firewalls",
                        operation: "connect")
                }
                let found = waitForSocket(
                    connection.socket, toRead: polling == .reading, toWrite: polling == .writing, wake: wake,
                    until: deadline)
                if found.canRead || found.canWrite { polling = connection.pollConnect() }
            }
        }
    }

    private func place(of connection: LibPQConnection) -> String {
        connection.host.hasPrefix("/") || connection.port.isEmpty
            ? connection.host : "\(connection.host):\(connection.port)"
    }

    /// The server's refusals come as `FATAL:  28P01`, without words (see LibPQConnection); libpq's own speak of sockets,
    /// names and certificates.
    private func connectFailure(of connection: LibPQConnection, password: String?) -> PostgresError {
        var text = connection.errorMessage.split(whereSeparator: \.isNewline).first.map(String.init) ?? "unknown reason"
        if let password, !password.isEmpty { text = text.replacing(password, with: "…") }
        let lastWord = text.split(separator: " ").last.map(String.init) ?? ""
        let isState =
            lastWord.utf8.count == 5
            && lastWord.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            }
        guard isState else {
            return PostgresError(.connection, text, operation: "connect")
        }
        let reason =
            switch lastWord {
            case "28P01", "28000": "the server refused user or password, or pg_hba.conf does not let this client in"
            case "3D000": "the server has no such database"
            case "53300": "the server has no connection left; raise max_connections or use smaller pools"
            case "57P03": "the server is starting up or shutting down"
            default: "the server refused the connection"
            }
        return PostgresError(
            .connection, "\(place(of: connection)): \(reason)", operation: "connect",
            sqlState: SQLState(rawValue: lastWord))
    }

    /// Ends the connection; what is under way on the server ends with it, sooner or later.
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
    func run(
        _ query: PostgresQuery, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?
    ) throws(PostgresError) -> LibPQResult {
        guard query.slots.count <= Int(UInt16.max), query.values.count <= Int(Int32.max) else {
            throw PostgresError(
                .unsupported, "a statement takes at most 65535 parameters and 2 GiB; send arrays or smaller batches",
                operation: query.name)
        }
        return try perform(query.name, deadline: deadline, cancellation: cancellation) { $0.send(query) }
    }

    /// Sends a script; the result is that of its last statement.
    func run(
        script: String, name: String?, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?
    ) throws(PostgresError) -> LibPQResult {
        try perform(name, deadline: deadline, cancellation: cancellation) { $0.send(script: script) }
    }

    private func perform(
        _ operation: String?, deadline: ContinuousClock.Instant?, cancellation: CancellationFlag?,
        _ send: (LibPQConnection) -> Bool
    ) throws(PostgresError) -> LibPQResult {
        let connection = try readyConnection(operation)
        if let cancellation, cancellation.isSet {
            throw PostgresError(.cancelled, "cancelled before it was sent", operation: operation)
        }
        if let deadline, deadline <= .now {
            throw PostgresError(.timeout, "the deadline passed before it was sent", operation: operation)
        }
        guard send(connection) else {
            if connection.isBad { throw lost(operation) }
            throw PostgresError(.unsupported, "libpq refused to send the statement", operation: operation)
        }
        state = .running
        return try awaitResult(on: connection, operation, deadline: deadline, cancellation: cancellation)
    }

    /// The connection, if it is there and, as far as can be seen without asking the server, alive.
    private func readyConnection(_ operation: String?) throws(PostgresError) -> LibPQConnection {
        guard case .ready = state, let connection else {
            var error = PostgresError(.connection, "the connection is closed", operation: operation)
            error.isUnsent = true
            throw error
        }
        // Between statements a healthy server says next to nothing: what is to be read is a farewell or a closed socket.
        while waitForSocket(connection.socket, toRead: true, toWrite: false, wake: wake, until: .now).canRead {
            // Asking whether it is busy makes libpq look at what has been read.
            guard connection.consumeInput(), !connection.isBusy, !connection.isBad, !connection.saidFarewell else {
                var error = lost(operation)
                error.isUnsent = true
                error.mayHaveCommitted = false
                throw error
            }
        }
        return connection
    }

    /// Waits for the statement's end, whatever becomes of it: afterwards the connection is ready or closed.
    private func awaitResult(
        on connection: LibPQConnection, _ operation: String?, deadline: ContinuousClock.Instant?,
        cancellation: CancellationFlag?
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
            // Also while sending: a server that refuses what it has read so far need not wait for the rest to be heard.
            while !connection.isBusy {
                guard let result = connection.nextResult() else {
                    try settle(canceller, operation, until: giveUp)
                    return try judge(last: last, failure: failure, stop: stop, on: connection, operation)
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
                if stop != nil {
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

    /// Waits until a request to cancel has been delivered: one that came late would hit the next statement instead.
    private func settle(
        _ request: CancelRequest?, _ operation: String?, until giveUp: ContinuousClock.Instant?
    ) throws(PostgresError) {
        guard let request else { return }
        while !request.isFinished {
            if let giveUp, giveUp <= .now {
                // The statement's own outcome stands; only the connection cannot be trusted any more.
                close()
                return
            }
            _ = waitForSocket(-1, toRead: false, toWrite: false, wake: wake, until: giveUp)
        }
    }

    /// What the statement's results mean. A statement that ended well although it was to stop has ended well.
    private func judge(
        last: LibPQResult?, failure: LibPQResult?, stop: StopReason?, on connection: LibPQConnection,
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
            throw error.naming(operation)
        }
        guard let last else {
            close()
            throw PostgresError(.connection, "the server sent no result", operation: operation)
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
            "the server did not stop the statement in time; the connection was closed", operation: operation)
        error.mayHaveCommitted = true
        return error
    }

    /// The connection broke. What the server said last, if anything, tells why.
    private func lost(_ operation: String?, after failure: LibPQResult? = nil) -> PostgresError {
        close()
        var error = PostgresError(.connection, "the connection to the server was lost", operation: operation)
        error.sqlState = failure?.serverError?.sqlState
        error.mayHaveCommitted = true
        return error
    }

    // MARK: Notifications

    /// Waits until a notification has come. Ends with an error when the connection is lost or the task cancelled.
    func waitForNotification(cancellation: CancellationFlag) throws(PostgresError) {
        let connection = try readyConnection("listen")
        while true {
            guard connection.consumeInput(), !connection.isBad else { throw lost("listen") }
            if connection.takeNotifications() { return }
            if cancellation.isSet { throw PostgresError(.cancelled, "cancelled while listening", operation: "listen") }
            _ = waitForSocket(connection.socket, toRead: true, toWrite: false, wake: wake, until: nil)
        }
    }
}
