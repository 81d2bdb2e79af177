/// How a transaction begins and how long it may last.
public struct TransactionOptions: Sendable {
    /// How much of other transactions it sees.
    public enum Isolation: String, Sendable {
        /// Each statement sees what was committed before it began; PostgreSQL's default.
        case readCommitted = "read committed"
        /// All statements see what was committed before the first one began.
        case repeatableRead = "repeatable read"
        /// As if transactions ran one after the other; may fail with SQLSTATE 40001 and must then be repeated.
        case serializable = "serializable"
    }

    /// How much of other transactions it sees.
    public var isolation: Isolation
    /// Whether statements that change anything are refused.
    public var isReadOnly: Bool
    /// How long the whole transaction may take; nil limits only its statements.
    public var deadline: Duration?
    /// How long it may be idle between two statements, or its client be unreachable, before the server ends
    /// it, so that a client that is suspended or cut off in the middle does not keep its locks; nil: the
    /// server's own setting.
    public var idleTimeout: Duration?
    /// Whether its effect is about to be acknowledged to a client, so that a COMMIT counts only if the server
    /// guarantees it, whatever `synchronous_commit` is: see ``PostgresQuery/durableSettings``. A server that waits for
    /// a synchronous standby and is asked to stop commits with a WARNING and without the standby (PostgreSQL's manual,
    /// 27.2.8.2); after a promotion that commit is gone. Such an end is ``PostgresError/Kind/unconfirmed``.
    public var isDurable: Bool
    /// Whether each connection plans its statements once, for all values: see ``PostgresQuery/keepingPlan()``. For
    /// short transactions whose statements find few rows.
    public var keepsPlans: Bool
    /// Whether tables are read by their indexes: for kept plans that were made while a table was small, or that must
    /// assume that every partition is read where one is.
    public var goesByIndexes: Bool
    /// What logs and errors call its BEGIN and COMMIT.
    public var name: String?

    /// By default it reads committed data, may write, and limits only the single statements.
    public init(
        isolation: Isolation = .readCommitted, isReadOnly: Bool = false, deadline: Duration? = nil,
        idleTimeout: Duration? = nil, isDurable: Bool = false, keepsPlans: Bool = false,
        goesByIndexes: Bool = false, name: String? = nil
    ) {
        self.isolation = isolation
        self.isReadOnly = isReadOnly
        self.deadline = deadline
        self.idleTimeout = idleTimeout
        self.isDurable = isDurable
        self.keepsPlans = keepsPlans
        self.goesByIndexes = goesByIndexes
        self.name = name
    }

    /// For a transaction that shows a person something before its commit: where the terminal never takes it, the server ends the
    /// transaction.
    package static func showing(_ name: String) -> TransactionOptions {
        TransactionOptions(idleTimeout: .seconds(30), name: name)
    }

    /// The whole mode is in BEGIN itself, because settings of the session would outlive it behind a transaction pooler.
    var beginning: PostgresQuery {
        PostgresQuery(
            unescaped: "begin isolation level \(isolation.rawValue) \(isReadOnly ? "read only" : "read write")",
            name: name.map { "\($0) (begin)" } ?? "begin")
    }

    /// Settings local to the transaction, so that they do not outlive it either; nil where it needs none.
    var settings: PostgresQuery? {
        var columns: [String] = []
        if isDurable { columns.append(PostgresQuery.durableSettings) }
        // By itself the server would go on planning statements of few values each time: the one plan for all values,
        // which does not know how few they are, has a higher estimate by more than planning costs.
        if keepsPlans { columns.append("set_config('plan_cache_mode', 'force_generic_plan', true)") }
        // Plans with high estimates would be JIT-compiled each time, which costs more than running them.
        if goesByIndexes {
            columns += ["set_config('enable_seqscan', 'off', true)", "set_config('jit', 'off', true)"]
        }
        let name = name.map { "\($0) (settings)" } ?? "settings"
        let text = columns.joined(separator: ", ")
        guard let idleTimeout else {
            return columns.isEmpty ? nil : PostgresQuery(unescaped: "select " + text, name: name)
        }
        let comma = columns.isEmpty ? "" : ", "
        return PostgresQuery(
            name, "\(embedding: Self.limitingIdleness(idleTimeout))\(unescaped: comma)\(unescaped: text)")
    }

    /// The server counts a client as idle only after finishing its last statement. If the client's machine or link
    /// went away in the middle of a message, TCP's rules apply, hours by default: hence keepalives, and a limit for
    /// unacknowledged bytes. Neither has an effect on a Unix-domain socket, where PostgreSQL ignores them.
    private static func limitingIdleness(_ timeout: Duration) -> PostgresQuery {
        let milliseconds = max(1, Int64(timeout / .milliseconds(1)))
        // The first probe comes at half of it, and three more in the other half, at least a second apart.
        let half = max(1, milliseconds / 2000)
        return """
            select set_config('idle_in_transaction_session_timeout', \("\(milliseconds)ms"), true),
                   set_config('tcp_user_timeout', \("\(milliseconds)ms"), true),
                   set_config('tcp_keepalives_idle', \("\(half)"), true),
                   set_config('tcp_keepalives_interval', \("\(max(1, half / 3))"), true),
                   set_config('tcp_keepalives_count', '3', true)
            """
    }
}
