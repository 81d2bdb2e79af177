import Logging

/// The steps to a connection: start-up packet, authentication, a check for writes where required, and all of it again
/// with the next host if one fails.
struct ConnectionAttempt {
    let configuration: PostgresConfiguration
    let wake: WakePipe
    let logger: Logger

    /// Tries each host in turn, each with its own deadline; throws the last failure.
    func connect(cancellation: CancellationFlag) throws(PostgresError) -> LibPQConnection {
        var failure = PostgresError(.configuration, "the connection string names no host")
        for wanted in configuration.wantedSessions {
            for var parameters in configuration.hosts {
                if let wanted { parameters["target_session_attrs"] = wanted }
                do throws(PostgresError) {
                    return try connectOnce(parameters, cancellation: cancellation)
                } catch {
                    failure = error
                    if error.kind == .cancelled { throw error }
                }
            }
        }
        throw failure
    }

    private func connectOnce(
        _ parameters: [String: String], cancellation: CancellationFlag
    ) throws(PostgresError) -> LibPQConnection {
        let logger = logger
        let connection = LibPQConnection(parameters: parameters) { severity, state in
            // A notice's text may repeat values, so it is not logged.
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

    /// The server's refusals come as `FATAL: 28P01`, without text (see LibPQConnection); libpq's own messages are
    /// about sockets, names and certificates.
    private func connectFailure(of connection: LibPQConnection, password: String?) -> PostgresError {
        var text = connection.errorMessage.split(whereSeparator: \.isNewline).first.map(String.init) ?? "unknown reason"
        // As libpq has it in its fe-connect.c; programs set no locale, so nothing is translated.
        if text.hasSuffix("session is read-only") {
            return PostgresError(
                .connection,
                "\(place(of: connection)) takes no writes: it is a standby, or default_transaction_read_only is on",
                operation: "connect", sqlState: .readOnlyTransaction)
        }
        if let password, !password.isEmpty { text = text.replacing(password, with: "…") }
        // libpq quotes a parameter that it cannot read, and a host that it cannot find; in a malformed URI either may
        // be the password.
        if let start = text.firstIndex(of: "\""), let end = text.lastIndex(of: "\""), start < end,
            text.hasPrefix("invalid ") || text[start...end].contains("@")
        {
            text.replaceSubrange(start...end, with: "…")
        }
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
}
