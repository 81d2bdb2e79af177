/// The statements that the server's session keeps for one connection: see ``PostgresQuery/keepingPlan()``.
struct KeptPlans {
    /// The most of them; what comes after is planned each time.
    private static let most = 100

    /// Whether a pooler stands between, for which the next statement may be another session's; nil until somebody has asked.
    var isPooled: Bool?
    private var names: [String: String] = [:]
    private var made = 0

    /// The name that a statement is kept under.
    subscript(sql: String) -> String? { names[sql] }

    /// A name for one that is not kept yet; nil where there are enough. Never one that was used before: the session may still
    /// have it.
    mutating func newName() -> String? {
        guard names.count < Self.most else { return nil }
        made += 1
        return "storehook_\(made)"
    }

    /// The statement is kept under this name from now on.
    mutating func keep(_ sql: String, as name: String) { names[sql] = name }

    /// None of them is used any more.
    mutating func forget() { names = [:] }
}
