import Base

/// Where the server is, and its timeouts.
public struct PostgresConfiguration: Sendable {
    /// How long making a connection to one address may take. `connect_timeout` sets it, in the connection string or wherever else libpq
    /// reads it.
    public var connectTimeout: Duration
    /// How long it may take to try all addresses of all hosts, without looking up their names: as long as one address may take at least.
    var connectTimeoutOfAll: Duration { max(allAddressesTimeout, connectTimeout) }
    var allAddressesTimeout = Duration.seconds(10)
    /// The addresses of a host's name.
    var resolve: @Sendable (String) -> [String] = systemAddresses
    /// How long a statement may take by default; nil: without limit.
    public var queryTimeout: Duration? = .seconds(30)
    /// How long to wait for the server's answer after asking it to stop a statement, before the connection is given up.
    public var cancelGracePeriod: Duration = .seconds(5)
    /// How long a caller waits for a free connection of a pool.
    public var acquireTimeout: Duration = .seconds(5)

    /// Whether only a server that takes writes is accepted; one that does not is refused as if it were unreachable.
    /// Otherwise one that takes writes is preferred where several hosts are named. `target_session_attrs` in the
    /// connection string overrides both.
    public var requiresWrites = false

    /// libpq's parameters for each host in turn.
    private(set) var hosts: [[String: String]]

    /// Reads a connection string, a libpq URI (`postgresql://…`) or `keyword=value` pairs, as libpq itself reads it, with what a service
    /// file and libpq's variables (PGHOST, PGHOSTADDR and so on) add to it.
    ///
    /// Defaults for what the string leaves open make a server that vanishes noticed within half a minute: TCP
    /// keepalives and `tcp_user_timeout`.
    ///
    /// - Throws: ``PostgresError`` (`.configuration`); it quotes no part of the string, which may hold a password.
    public init(url: String) throws(PostgresError) {
        guard url.contains(where: { !$0.isWhitespace }) else {
            throw PostgresError(
                .configuration, "the connection string is empty; give a URI such as postgresql://host/db")
        }
        guard let given = libpqParameters(of: url) else {
            throw PostgresError(
                .configuration,
                "the connection string is neither a libpq URI nor keyword=value pairs that libpq knows; "
                    + "in a URI, special characters of user and password must be percent-encoded")
        }
        guard given["replication"] == nil else {
            throw PostgresError(.configuration, "replication connections are not supported; remove `replication`")
        }
        guard let expanded = libpqExpansion(of: given) else {
            throw PostgresError(
                .configuration,
                "libpq finds no such service as the connection string or PGSERVICE names, or cannot read its file")
        }
        let seconds = expanded["connect_timeout"].flatMap { Int64($0) } ?? 0
        // libpq takes zero and less as "wait for ever", which no caller here could use.
        connectTimeout = seconds > 0 ? .seconds(seconds) : .seconds(2)
        var parameters = Self.defaults.merging(expanded) { _, expanded in expanded }
        // Text is decoded as UTF-8, so nothing else may arrive, whatever the string or PGCLIENTENCODING says.
        parameters["client_encoding"] = "UTF8"
        hosts = try Self.hosts(of: parameters)
    }

    /// The values of `target_session_attrs` to try, each for all hosts; nil leaves it unset.
    var wantedSessions: [String?] {
        if hosts.first?["target_session_attrs"] != nil { return [nil] }
        if requiresWrites { return ["read-write"] }
        return hosts.count > 1 ? ["read-write", nil] : [nil]
    }

    /// The keepalives find a vanished server after 15 + 3 × 5 seconds of silence, the user timeout an unacknowledged
    /// statement after 15.
    private static let defaults = [
        "fallback_application_name": "storehook",
        "keepalives": "1",
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "15000",
    ]

    /// Splits lists of hosts, because with the nonblocking calls libpq leaves timeouts to the caller, and a host that
    /// does not answer must not use up the next one's time.
    private static func hosts(of parameters: [String: String]) throws(PostgresError) -> [[String: String]] {
        func list(_ keyword: String) -> [String] {
            (parameters[keyword] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        guard names == [""] || addresses == [""] || names.count == addresses.count else {
            throw PostgresError(
                .configuration,
                "there are \(names.count) hosts and \(addresses.count) addresses (hostaddr or PGHOSTADDR) to connect to"
            )
        }
        guard count > 1 else { return [parameters] }
        guard [1, count].contains(ports.count) || ports == [""] else {
            throw PostgresError(.configuration, "the connection string names \(count) hosts and \(ports.count) ports")
        }
        return (0..<count).map { index in
            var one = parameters
            if names.count == count { one["host"] = names[index] }
            if addresses.count == count { one["hostaddr"] = addresses[index] }
            if ports.count == count { one["port"] = ports[index] }
            return one
        }
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible {
    /// Hosts, ports, database and user; never a password.
    public var description: String {
        let places = hosts.map { host in
            "\(host["host"] ?? host["hostaddr"] ?? "(default host)"):\(host["port"] ?? "5432")"
        }
        let first = hosts.first ?? [:]
        return
            "\(first["user"] ?? "(default user)")@\(places.joined(separator: ","))/\(first["dbname"] ?? "(default database)")"
    }

    /// Equals ``description``: a dump must not show more.
    public var debugDescription: String { description }
}

extension PostgresConfiguration: CustomReflectable {
    /// Shows nothing but the description, so that `dump` prints no password either.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension PostgresConfiguration {
    /// Each host by itself, whatever its state, for callers that check them one by one.
    public var eachHost: [PostgresConfiguration] {
        hosts.map { host in
            var one = self
            one.hosts = [host.filter { $0.key != "target_session_attrs" }]
            one.requiresWrites = false
            return one
        }
    }

    /// The connection string's `target_session_attrs`; nil where it leaves that to the program.
    public var ownSessionAttributes: String? { hosts.first?["target_session_attrs"] }

    /// The server's name for this client, and the system's for its threads.
    var applicationName: String { hosts.first?["application_name"] ?? "storehook" }

    /// A copy for another database of the same server.
    public func withDatabase(_ name: String) -> PostgresConfiguration {
        var copy = self
        for index in copy.hosts.indices { copy.hosts[index]["dbname"] = name }
        return copy
    }
}
