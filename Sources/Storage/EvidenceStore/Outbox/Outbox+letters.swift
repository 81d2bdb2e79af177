package import Base
package import Postgres

extension Outbox {
    /// The parts of a dead letter's ``ListCursor``.
    package static let letterCursorParts = 1

    /// How many letters one page looks through at most: some 50 ms of an index in memory.
    private static let lettersLookedThrough = 10_000

    /// Dead letters, the newest first: those that wait in the order of their evidence, others in the order of their numbers.
    /// - Parameters:
    ///   - resolution: whether they wait, or what was done.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    /// - Returns: a page; one may be short, and even empty, and have a next one.
    package func letters(
        _ filter: DeadLetterFilter, _ resolution: DeadLetterResolution = .open, after cursor: ListCursor? = nil,
        limit: Int
    ) async throws -> ListPage<DeadLetter> {
        let before = cursor.flatMap { Int64($0.parts[0]) } ?? .max
        let window = Int64(max(Self.lettersLookedThrough, limit))
        // Those that wait have an index of their own; most letters do not.
        let isOpen = resolution == .open
        let (key, those) = isOpen ? ("outbox_id", "resolution = 'open' and ") : ("id", "")
        let elements = PostgresQuery(
            isOpen ? "outbox.letters_open" : "outbox.letters_settled",
            """
            select \(unescaped: PostgresQuery.letterColumns)
              from (select * from storehook.dead_letters
                     where \(unescaped: those)\(unescaped: key) < \(before)
                     order by \(unescaped: key) desc limit \(window)) d
             where d.resolution = \(resolution.rawValue)
               and (\(filter.ids)::bigint[] is null or d.id = any(\(filter.ids)))
               and (\(filter.reason)::text is null or d.reason = \(filter.reason))
               and (\(filter.type)::text is null or d.type = \(filter.type))
               and (\(filter.since)::timestamptz is null or d.dead_at >= \(filter.since))
               and (\(filter.bundleID)::text is null or d.bundle_id = \(filter.bundleID))
               and (\(filter.apps)::text[] is null or d.bundle_id = any(\(filter.apps)))
               and (\(filter.text)::text is null
                    or position(lower(\(filter.text)) in \(unescaped: DeadLetterFilter.searched)) > 0)
             order by d.\(unescaped: key) desc limit \(Int64(limit) + 1)
            """)
        let end = PostgresQuery(
            isOpen ? "outbox.letters_open_end" : "outbox.letters_settled_end",
            """
            select \(unescaped: key) as place from storehook.dead_letters
             where \(unescaped: those)\(unescaped: key) < \(before)
             order by \(unescaped: key) desc offset \(window - 1) limit 1
            """)
        // One snapshot, so that nothing falls between the letters and the place where the page stopped.
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "outbox.letters")
        return try await pool.withTransaction(options) { session -> ListPage<DeadLetter> in
            let rows = try session.query(elements)
            let letters = try rows.prefix(limit).map { try DeadLetter($0) }
            if rows.count > limit, let last = letters.last {
                return ListPage(letters, next: ListCursor(behind: ["\(isOpen ? last.outboxID : last.id)"]))
            }
            let place = try session.query(end).first.map { try $0.decode("place", as: Int64.self) }
            return ListPage(letters, next: place.map { ListCursor(behind: ["\($0)"]) })
        }
    }

    /// All letters about a piece of evidence, the first first: one that is replayed and dies again has another number. At most 100.
    package func letters(about outboxID: Int64) async throws -> [DeadLetter] {
        try await pool.query(
            PostgresQuery(
                "outbox.letters_about",
                """
                select \(unescaped: PostgresQuery.letterColumns) from storehook.dead_letters d
                 where d.outbox_id = \(outboxID) order by d.id limit 100
                """)
        ).map { try DeadLetter($0) }
    }
}
