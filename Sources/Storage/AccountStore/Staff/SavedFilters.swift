import AppStorePayloads
package import Base
package import Postgres

/// A filter of a list that the staff shares.
package struct SavedFilter: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// The list that it is for.
    package var page: String
    /// What the staff calls it.
    package var name: String
    /// What is asked for, in the order in which it was given.
    package var qualifiers: [(name: String, value: String)] {
        get { zip(names, values).map { ($0, $1) } }
        set { (names, values) = (newValue.map(\.name), newValue.map(\.value)) }
    }
    private var names: [String]
    private var values: [String]
    /// Who made it.
    package var madeBy: String
    /// When.
    package var madeAt: Timestamp

    fileprivate init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        page = try row.decode("page")
        name = try row.decode("name")
        madeBy = try row.decode("made_by")
        madeAt = Timestamp(try row.decode("made_at", as: PostgresTimestamp.self))
        let members = (try? JSONDocument(row.decode("qualifiers", as: PostgresJSON.self).bytes).object)?.members ?? []
        let texts = members.compactMap { member in member.value.string.map { (member.name, $0) } }
        (names, values) = (texts.map(\.0), texts.map(\.1))
    }
}

/// Why a filter is not saved.
package enum SavedFilterRefusal: Error, Sendable, Hashable {
    /// The list has one of this name, in either letter case.
    case taken
    /// There are as many as there may be.
    case full(most: Int64)
}

/// The filters that the staff shares.
package struct SavedFilters: Sendable {
    /// The most of them, of all lists together.
    package static let most: Int64 = 200

    private let pool: PostgresPool

    /// The filters behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    private static let columns = "f.id, f.page, f.name, f.qualifiers, f.made_by, f.made_at"

    /// All of them, or those of a list, by their names.
    package func list(of page: String? = nil) async throws -> [SavedFilter] {
        try await pool.query(
            PostgresQuery(
                "filters.list",
                """
                select \(unescaped: Self.columns) from storehook.saved_filters f
                 where \(page)::text is null or f.page = \(page)
                 order by f.page, lower(f.name), f.id limit \(Self.most)
                """)
        ).map { try SavedFilter($0) }
    }

    /// Saves one.
    /// - Throws: ``SavedFilterRefusal``; `PostgresError`.
    package func add(
        _ name: String, of page: String, _ qualifiers: [(name: String, value: String)], by person: String
    ) async throws -> SavedFilter {
        let json = JSONValue.object(qualifiers.map { .init($0.name, .string($0.value)) })
        // Two that come at once may make one more than there may be.
        let added = try await pool.query(
            PostgresQuery(
                "filters.add",
                """
                with f as (
                    insert into storehook.saved_filters (page, name, qualifiers, made_by)
                    select \(page), \(name), \(PostgresJSON(json.bytes)), \(String(person.prefix(200)))
                     where (select count(*) from storehook.saved_filters) < \(Self.most)
                        on conflict (page, lower(name)) do nothing
                    returning *
                )
                select \(unescaped: Self.columns) from f
                """))
        if let row = added.first { return try SavedFilter(row) }
        throw try await list().count >= Self.most ? SavedFilterRefusal.full(most: Self.most) : .taken
    }

    /// One by its number; nil where there is none.
    package func filter(_ id: Int64) async throws -> SavedFilter? {
        try await pool.query(
            PostgresQuery(
                "filters.one",
                "select \(unescaped: Self.columns) from storehook.saved_filters f where f.id = \(id)")
        ).first.map { try SavedFilter($0) }
    }

    /// Deletes one.
    /// - Returns: whether there was one.
    package func remove(_ id: Int64) async throws -> Bool {
        try await pool.query(
            PostgresQuery("filters.remove", "delete from storehook.saved_filters where id = \(id)")
        ).affectedRows > 0
    }
}
