import Logging

/// The steps to a connection: start-up packet, authentication, a check for writes where required, and all of it again
/// with the next address if one fails.
struct ConnectionAttempt {
    let configuration: PostgresConfiguration
    let wake: WakePipe
    let logger: Logger

    /// Tries each address of each host in turn, each with its own deadline. Those that lately did not answer come last.
    ///
    /// - Throws: what refused the login or the database, where one did: another address would not change that. Otherwise that an address
    ///   does not answer, or the last failure.
    func connect(cancellation: CancellationFlag) throws(PostgresError) -> LibPQConnection {
        let all = configuration.hosts.flatMap { addresses(of: $0) }
        let candidates = all.filter { !$0.wasSilent } + all.filter(\.wasSilent)
        // All together have a limit, too, and each of many gets its part of it.
        let end = ContinuousClock.now + configuration.connectTimeoutOfAll
        let share = min(configuration.connectTimeout, configuration.connectTimeoutOfAll / max(1, candidates.count))
        var failures: [PostgresError] = []
        var silent: Set<String> = []
        for wanted in configuration.wantedSessions {
            // One that did not answer is not asked a second time for a session of another kind.
            for address in candidates where !silent.contains(address.place) {
                let limit = min(share, ContinuousClock.now.duration(to: end))
                guard limit > .zero else { break }
                var parameters = address.parameters
                if let wanted { parameters["target_session_attrs"] = wanted }
                do throws(PostgresError) {
                    let connection = try connectOnce(parameters, within: limit, cancellation: cancellation)
                    SilentAddresses.forget(address.place)
                    return connection
                } catch {
                    if error.kind == .cancelled { throw error }
                    failures.append(error)
                    if error.isSilence {
                        silent.insert(address.place)
                        SilentAddresses.note(address.place)
                    }
                }
            }
        }
        throw failures.first(where: \.isRefusal) ?? failures.last(where: \.isAway) ?? failures.last
            ?? PostgresError(.configuration, "the connection string names no host")
    }

    /// One address of a host.
    private struct Address {
        let parameters: [String: String]
        /// Address and port.
        let place: String
        /// Whether it did not answer lately.
        let wasSilent: Bool

        init(_ parameters: [String: String]) {
            self.parameters = parameters
            place = "\(parameters["hostaddr"] ?? parameters["host"] ?? "") \(parameters["port"] ?? "")"
            wasSilent = SilentAddresses.contains(place)
        }
    }

    /// The addresses of a host, each with the host's name, which certificates and password files need. libpq would try one after the
    /// other by itself, but leaves timeouts to a caller that does not block. For a name without a known address libpq reports the error.
    private func addresses(of parameters: [String: String]) -> [Address] {
        guard let host = parameters["host"], !host.isEmpty, !host.hasPrefix("/"), !host.hasPrefix("@"),
            (parameters["hostaddr"] ?? "").isEmpty
        else { return [Address(parameters)] }
        let found = configuration.resolve(host)
        guard !found.isEmpty else { return [Address(parameters)] }
        return found.map { Address(parameters.merging(["hostaddr": $0]) { $1 }) }
    }

    private func connectOnce(
        _ parameters: [String: String], within limit: Duration, cancellation: CancellationFlag
    ) throws(PostgresError) -> LibPQConnection {
        let logger = logger
        let deadline = ContinuousClock.now + limit
        let connection = LibPQConnection(parameters: parameters) { severity, state in
            // A notice's text may repeat values, so it is not logged.
            logger.debug("notice from the server", metadata: ["severity": "\(severity)", "sqlstate": "\(state)"])
        }
        guard let connection else { throw PostgresError(.connection, "no memory for a connection") }
        var polling = connection.isBad ? LibPQConnection.Polling.failed : .writing
        // Whether the server has taken the connection.
        var isMade = false
        while true {
            switch polling {
            case .ready:
                guard connection.setNonblocking() else {
                    throw PostgresError(.connection, "libpq refused the nonblocking mode", operation: "connect")
                }
                return connection
            case .failed:
                throw connectFailure(of: connection, password: parameters["password"], isMade: isMade)
            case .reading, .writing:
                isMade = connection.isMade
                if cancellation.isSet {
                    throw PostgresError(.cancelled, "cancelled while connecting", operation: "connect")
                }
                if deadline <= .now {
                    var error = PostgresError(
                        .connection,
                        "no answer from \(place(of: connection)) within \(limit); "
                            + "check host, port and firewalls",
                        operation: "connect")
                    (error.isUnreachable, error.isSilence) = (true, true)
                    throw error
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
    private func connectFailure(of connection: LibPQConnection, password: String?, isMade: Bool) -> PostgresError {
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
            if text.hasSuffix("no password supplied") { return refusal(by: connection, Self.noPassword, nil) }
            var error = PostgresError(.connection, text, operation: "connect")
            error.isUnreachable = (isMade ? Self.brokenOff : Self.notMade).contains(where: text.contains)
            return error
        }
        let database = connection.database.filter { !$0.isNewline }
        let reason =
            switch lastWord {
            case "28P01":
                "the server refused the password, or has no such user; correct the password in DATABASE_URL or ~/.pgpass, or make "
                    + "the user with sql/roles.sql and deploy/logins.sql"
            case "28000":
                "the server has no such user, or pg_hba.conf does not let it in from here; make the user with sql/roles.sql and "
                    + "deploy/logins.sql, or correct DATABASE_URL or pg_hba.conf"
            case "3D000":
                "the server has no database \"\(database)\"; make it with createdb \(database), or correct the name in DATABASE_URL"
            case "42501":
                "the user may not connect to database \"\(database)\"; run deploy/logins.sql as its owner, or grant connect on it"
            case "53300": "the server has no connection left; raise max_connections or use smaller pools"
            case "57P03": "the server is starting up or shutting down; wait"
            default: "the server refused the connection; its log says why"
            }
        return refusal(by: connection, reason, SQLState(rawValue: lastWord))
    }

    private static let noPassword =
        "the server wants a password, and none was given; put it into DATABASE_URL or ~/.pgpass"

    private func refusal(by connection: LibPQConnection, _ reason: String, _ state: SQLState?) -> PostgresError {
        var error = PostgresError(
            .connection, "\(place(of: connection)): \(reason)", operation: "connect", sqlState: state)
        error.isAnswered = true
        return error
    }

    // libpq's words, as in its fe-connect.c and fe-misc.c. Its other messages are about parameters, passwords and certificates: waiting
    // does not help there.
    private static let notMade = ["connection to server", "could not translate host name", "could not connect"]
    private static let brokenOff = [
        "closed the connection unexpectedly", "could not receive data", "could not send", "SSL SYSCALL error",
    ]
}
