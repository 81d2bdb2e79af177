package import Base
package import Postgres

extension DeadLetter {
    /// As it stood by then: what was done about it later is left out.
    package func then(_ end: PostgresTimestamp) -> DeadLetter {
        guard let resolvedAt, resolvedAt > end else { return self }
        var letter = self
        letter.resolution = .open
        (letter.resolvedAt, letter.resolvedBy, letter.resolvedWhy, letter.jobID) = (nil, nil, nil, nil)
        return letter
    }
}

extension Outbox {
    /// Dead letters that there were at an instant, the newest first, each as it stood. What retention has deleted since is gone.
    /// - Parameters:
    ///   - resolution: whether they waited, or what had been done.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through, whatever had become of them.
    /// - Returns: a page; one may be short, and even empty, and have a next one.
    /// - Throws: `PostgresError`.
    package func letters(
        _ filter: DeadLetterFilter, _ resolution: DeadLetterResolution, at instant: Timestamp,
        after cursor: ListCursor? = nil, limit: Int, lookingThrough most: Int64 = Outbox.mostLettersLookedThrough
    ) async throws -> ListPage<DeadLetter> {
        let end = PostgresTimestamp.end(of: instant)
        let place = try await pool.place(behind: end, in: "storehook.dead_letters", by: "dead_at")
        let before = min(cursor.flatMap { Int64($0.parts[0]) } ?? .max, place)
        let window = max(most, Int64(limit))
        let elements = PostgresQuery(
            "outbox.letters_then",
            """
            select \(unescaped: PostgresQuery.letterColumns)
              from (select * from storehook.dead_letters where id < \(before) order by id desc limit \(window)) d
             where d.dead_at <= \(end)
               and \(resolution.rawValue) = case when d.resolved_at <= \(end) then d.resolution else 'open' end
               and \(letter: "d", fits: filter)
             order by d.id desc limit \(Int64(limit) + 1)
            """)
        let stop = PostgresQuery(
            "outbox.letters_then_end",
            """
            select id as place from storehook.dead_letters where id < \(before) order by id desc offset \(window - 1) limit 1
            """)
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "outbox.letters_then")
        return try await pool.withTransaction(options) { session -> ListPage<DeadLetter> in
            let rows = try session.query(elements)
            let letters = try rows.prefix(limit).map { try DeadLetter($0).then(end) }
            if rows.count > limit, let last = letters.last {
                return ListPage(letters, next: ListCursor(behind: ["\(last.id)"]))
            }
            guard let last = try session.query(stop).first?.decode("place", as: Int64.self) else {
                return ListPage(letters)
            }
            return ListPage(letters, next: ListCursor(behind: ["\(last)"]), lookedThrough: Int(clamping: window))
        }
    }

    /// One letter as it stood at an instant, with its evidence's bytes, as ``deadLetter(_:withReceipts:)`` has it; nil where it was none then.
    /// - Parameter instant: nil for now.
    package func deadLetter(
        _ id: Int64, at instant: Timestamp?, withReceipts: Bool = true
    ) async throws -> (letter: DeadLetter, body: OpenedBody?)? {
        guard let found = try await deadLetter(id, withReceipts: withReceipts) else { return nil }
        guard let end = instant.map({ PostgresTimestamp.end(of: $0) }) else { return found }
        guard found.letter.deadAt <= end else { return nil }
        return (found.letter.then(end), found.body)
    }
}
