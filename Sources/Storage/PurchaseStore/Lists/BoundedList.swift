package import Base
package import Postgres

/// A list that is read in pages, each from a bounded number of rows, whatever is asked for and however many there are.
///
/// It goes through a table in the order of its key. No index knows a status: that is a function of stored dates and the clock. So a page
/// looks through ``BoundedListing/mostLookedThrough`` rows at most, returns those that fit, and names the place where it stopped. No index is added for
/// it, so that the writers of these tables pay nothing.
package struct BoundedList<Element: Sendable>: Sendable {
    /// The elements behind the cursor, among the rows that are looked through: one more than the limit at most.
    package let elements: PostgresQuery
    /// The last of the rows that are looked through; no row where the table ends before it.
    package let end: PostgresQuery
    private let limit: Int
    private let window: Int
    private let element: @Sendable (PostgresRow) throws -> Element
    private let cursor: @Sendable (PostgresRow) throws -> ListCursor
    private let cursorOfEnd: @Sendable (PostgresRow) throws -> ListCursor

    /// A list by its statements.
    /// - Parameters:
    ///   - limit: the most elements of a page, 1 or more.
    ///   - window: how many rows are looked through.
    ///   - cursor: where the list goes on behind an element.
    ///   - cursorOfEnd: where it goes on behind the row of `end`.
    package init(
        limit: Int, lookingThrough window: Int, elements: PostgresQuery, end: PostgresQuery,
        element: @escaping @Sendable (PostgresRow) throws -> Element,
        cursor: @escaping @Sendable (PostgresRow) throws -> ListCursor,
        cursorOfEnd: @escaping @Sendable (PostgresRow) throws -> ListCursor
    ) {
        self.limit = limit
        self.window = window
        self.elements = elements
        self.end = end
        self.element = element
        self.cursor = cursor
        self.cursorOfEnd = cursorOfEnd
    }

    /// For ``page(_:)``: one snapshot, so that nothing falls between the elements and the place where the page stopped.
    package static func reading(_ name: String) -> TransactionOptions {
        TransactionOptions(isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: name)
    }

    /// Reads the page, in a transaction of ``reading(_:)``.
    /// - Throws: `PostgresError`.
    package func page(_ session: borrowing PostgresSession) throws -> ListPage<Element> {
        try session.query(PostgresQuery.goingByOrder)
        let rows = try session.query(elements)
        let found = try rows.prefix(limit).map { try element($0) }
        guard rows.count <= limit else { return ListPage(found, next: try cursor(rows[limit - 1])) }
        guard let end = try session.query(end).first else { return ListPage(found) }
        return ListPage(found, next: try cursorOfEnd(end), lookedThrough: window)
    }
}

/// How many rows one page of a ``BoundedList`` looks through at most.
package enum BoundedListing {
    /// Some 50 ms of an index in memory.
    package static let mostLookedThrough = 10_000
}

extension PostgresQuery {
    /// For the transaction: rows come in the order of an index. By its costs PostgreSQL might read a whole table and sort it, where
    /// 10,000 rows stand apart.
    package static let goingByOrder = PostgresQuery(
        "lists.order", "select set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)")
}
