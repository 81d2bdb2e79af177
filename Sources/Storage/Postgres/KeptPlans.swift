import Crypto

/// The statements that the server's session keeps for one connection: see ``PostgresQuery/keepingPlan()``.
struct KeptPlans {
    /// The most of them; what comes after is planned each time.
    private static let most = 100

    /// Whether a pooler stands between, for which the next statement may be another session's; nil until somebody has asked.
    var isPooled: Bool?
    /// Whether the session may have some that were forgotten here.
    var mayBeStale = false
    private var names: [Key: String] = [:]

    /// A statement is another one with values of other types.
    private struct Key: Hashable {
        let sql: String
        let types: [PostgresType]

        init(_ query: PostgresQuery) { (sql, types) = (query.sql, query.parameterTypes) }
    }

    /// The name that a statement is kept under.
    subscript(query: PostgresQuery) -> String? { names[Key(query)] }

    /// A name for one that is not kept yet; nil where there are enough. It is made of the statement, so that a session which has
    /// one of this name, because a pooler lent it to somebody else before, has the same one.
    func name(of query: PostgresQuery) -> String? {
        guard names.count < Self.most else { return nil }
        let types = query.parameterTypes.map { "\($0.rawValue)" }.joined(separator: ",")
        return "storehook_"
            + SHA256.hash(data: Array("\(types) \(query.sql)".utf8)).prefix(12)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The statement is kept under this name from now on.
    mutating func keep(_ query: PostgresQuery, as name: String) { names[Key(query)] = name }

    /// None of them is used any more.
    mutating func forget() {
        names = [:]
        mayBeStale = true
    }
}
