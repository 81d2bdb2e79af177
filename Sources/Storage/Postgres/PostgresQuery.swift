/// One SQL statement with its values bound as parameters.
///
/// Interpolation makes parameters, never text: `"select \(id)"` is the statement `select $1` and one `bigint`. Text
/// needs the explicit `\(unescaped:)`, for identifiers that the program itself chose.
///
///     let query = PostgresQuery("outbox.depth", "select count(*) from storehook.outbox_queue where due_at <= \(due)")
public struct PostgresQuery: Sendable, ExpressibleByStringInterpolation {
    /// The statement's text, with `$1`, `$2`… where the values were.
    public let sql: String

    /// What logs and errors call this statement; the SQL itself is never logged.
    public let name: String?

    /// Whether each connection plans it once. See ``keepingPlan()``.
    private(set) var keepsPlan = false

    /// The values' types, in the order of their numbers.
    public var parameterTypes: [PostgresType] {
        slots.map(\.type)
    }

    /// One parameter: its type and where its bytes are; no range is NULL.
    struct Slot: Sendable {
        let type: PostgresType
        let range: Range<Int>?
    }

    let slots: [Slot]
    /// All values' bytes one after the other: one allocation, whatever their number.
    let values: [UInt8]

    /// A statement without values, from a literal. Other text goes through ``init(unescaped:name:)``.
    public init(stringLiteral value: String) {
        sql = value
        name = nil
        slots = []
        values = []
    }

    /// A statement with values.
    public init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        name = nil
        slots = stringInterpolation.slots
        values = stringInterpolation.values
    }

    /// A statement with a name for logs and errors.
    public init(_ name: String, _ statement: PostgresQuery) {
        sql = statement.sql
        self.name = name
        slots = statement.slots
        values = statement.values
    }

    /// A statement with a text that is built once and has `$1`, `$2`… for these values: trusted text only.
    public init<each Value: PostgresEncodable>(
        _ name: String, unescaped sql: String, binding values: repeat each Value
    ) {
        var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        repeat interpolation.bind(each values)
        self.sql = sql
        self.name = name
        slots = interpolation.slots
        self.values = interpolation.values
    }

    /// A statement from text that was not a literal here: trusted text only, such as that of an embedded SQL file.
    public init(unescaped sql: String, name: String? = nil) {
        self.sql = sql
        self.name = name
        slots = []
        values = []
    }

    /// A copy that each connection plans once instead of each time, where there is no pooler in between.
    ///
    /// For frequent statements that join many tables and find few rows: planning them takes longer than running them.
    /// There must be few such texts, and the plan must not depend on the values: after some runs the server makes one
    /// for all of them (PostgreSQL's manual, PREPARE).
    public func keepingPlan() -> PostgresQuery {
        var query = self
        query.keepsPlan = true
        return query
    }

    /// Two extra columns for a durable statement. Until its transaction ends they set that
    /// - its commit waits for the disk, and for the synchronous standbys if there are any;
    /// - the server sends warnings.
    ///
    /// They override `synchronous_commit` and `client_min_messages` of the session, the user or the database. They are
    /// in the statement and not in the session: behind a transaction pooler the next statement has another session.
    /// Only a `synchronous_commit` that does not wait is overridden; the choice among the others is the operator's.
    public static let durableSettings = """
        set_config('client_min_messages', 'warning', true),
               set_config('synchronous_commit', case when current_setting('synchronous_commit') in ('off', 'local')
                                                     then 'on' else current_setting('synchronous_commit') end, true)
        """

    /// Builds the statement's text and its parameters side by side.
    public struct StringInterpolation: StringInterpolationProtocol {
        var sql = ""
        var slots: [Slot] = []
        var values: [UInt8] = []

        /// Makes room for the text.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + 4 * interpolationCount)
            slots.reserveCapacity(interpolationCount)
        }

        /// Appends text that the program itself contains.
        public mutating func appendLiteral(_ literal: String) {
            sql += literal
        }

        /// Binds a value, or NULL, as the next parameter. A separate overload, or the compiler warns of optionals.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            bind(value)
            sql += "$\(slots.count)"
        }

        /// Binds a value as the next parameter.
        public mutating func appendInterpolation(_ value: some PostgresEncodable) {
            bind(value)
            sql += "$\(slots.count)"
        }

        mutating func bind(_ value: some PostgresEncodable) {
            let start = values.count
            if value.isNull {
                slots.append(Slot(type: type(of: value).postgresType, range: nil))
            } else {
                value.encode(into: &values)
                slots.append(Slot(type: type(of: value).postgresType, range: start..<values.count))
            }
        }

        /// Embeds another statement's text and parameters. Only before the first value: the other's parameters keep
        /// their numbers.
        public mutating func appendInterpolation(embedding query: PostgresQuery) {
            precondition(slots.isEmpty, "another statement can be embedded only before any value")
            sql += query.sql
            slots = query.slots
            values = query.values
        }

        /// Inserts text as it is. Never text from outside: that would allow SQL injection.
        public mutating func appendInterpolation(unescaped text: String) {
            sql += text
        }
    }
}
