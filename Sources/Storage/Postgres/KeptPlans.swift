import Crypto

/// The statements that the server's session keeps for one connection: see ``PostgresQuery/keepingPlan()``.
struct KeptPlans {
    /// The most of them; further ones are planned each time.
    private static let most = 100

    /// Whether there is a pooler in between, so that the next statement may run in another session; nil until
    /// it was checked.
    var isPooled: Bool?
    /// Whether the session may still have statements that were forgotten here.
    var mayBeStale = false
    private var names: [Key: String] = [:]

    /// Values of other types make another statement.
    private struct Key: Hashable {
        let sql: String
        let types: [PostgresType]

        init(_ query: PostgresQuery) { (sql, types) = (query.sql, query.parameterTypes) }
    }

    /// The name that a statement is kept under.
    subscript(query: PostgresQuery) -> String? { names[Key(query)] }

    /// A name for a statement that is not kept yet; nil where there are enough. It is a hash of the statement, so that
    /// a pooled session that has a statement of this name from another client has the identical one.
    func name(of query: PostgresQuery) -> String? {
        guard names.count < Self.most else { return nil }
        let types = query.parameterTypes.map { "\($0.rawValue)" }.joined(separator: ",")
        return "storehook_"
            + SHA256.hash(data: Array("\(types) \(query.sql)".utf8)).prefix(12)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The statement is kept under this name from now on.
    mutating func keep(_ query: PostgresQuery, as name: String) { names[Key(query)] = name }

    /// Forgets all names.
    mutating func forget() {
        names = [:]
        mayBeStale = true
    }
}
