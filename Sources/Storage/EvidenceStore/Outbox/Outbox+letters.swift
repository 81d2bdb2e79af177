package import Base
import Postgres

extension Outbox {
    /// The parts of a dead letter's ``ListCursor``.
    package static let letterCursorParts = 1

    /// How many letters one page, or one count of those that match, looks through at most: some 25 ms of an index in memory.
    package static let mostLettersLookedThrough: Int64 = 10_000

    /// Dead letters, the newest first: those that wait in the order of their evidence, others in the order of their numbers.
    /// - Parameters:
    ///   - resolution: whether they wait, or what was done.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - isOldestFirst: whether the order is the other way round.
    ///   - most: how many are looked through; nil for all that there are.
    /// - Returns: a page; one may be short, and even empty, and have a next one.
    /// - Throws: `PostgresError`.
    package func letters(
        _ filter: DeadLetterFilter, _ resolution: DeadLetterResolution = .open, after cursor: ListCursor? = nil,
        limit: Int, isOldestFirst: Bool = false, lookingThrough most: Int64? = Outbox.mostLettersLookedThrough
    ) async throws -> ListPage<DeadLetter> {
        let place = cursor.flatMap { Int64($0.parts[0]) } ?? (isOldestFirst ? .min : .max)
        let window = most.map { max($0, Int64(limit)) }
        // Those that wait have an index of their own; most letters do not.
        let isOpen = resolution == .open
        let (key, those) = isOpen ? ("outbox_id", "resolution = 'open' and ") : ("id", "")
        let (behind, order) = isOldestFirst ? (">", "asc") : ("<", "desc")
        let elements = PostgresQuery(
            isOpen ? "outbox.letters_open" : "outbox.letters_settled",
            """
            select \(unescaped: PostgresQuery.letterColumns)
              from (select * from storehook.dead_letters
                     where \(unescaped: those)\(unescaped: key) \(unescaped: behind) \(place)
                     order by \(unescaped: key) \(unescaped: order) limit \(window)) d
             where d.resolution = \(resolution.rawValue) and \(letter: "d", fits: filter)
             order by d.\(unescaped: key) \(unescaped: order) limit \(Int64(limit) + 1)
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
            guard let window else { return ListPage(letters) }
            let end = PostgresQuery(
                isOpen ? "outbox.letters_open_end" : "outbox.letters_settled_end",
                """
                select \(unescaped: key) as place from storehook.dead_letters
                 where \(unescaped: those)\(unescaped: key) \(unescaped: behind) \(place)
                 order by \(unescaped: key) \(unescaped: order) offset \(window - 1) limit 1
                """)
            guard let last = try session.query(end).first?.decode("place", as: Int64.self) else {
                return ListPage(letters)
            }
            return ListPage(letters, next: ListCursor(behind: ["\(last)"]), lookedThrough: Int(clamping: window))
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
