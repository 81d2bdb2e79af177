package import Foundation
package import Postgres

/// What searches of the staff led to, under ids that cannot be guessed: so that a page about it has an address without what was looked for.
package struct StaffSearches: Sendable {
    /// How long one is kept, in minutes.
    package static let minutes: Int32 = 60
    /// How many of one person are kept: the latest.
    package static let most = 20

    private let pool: PostgresPool

    /// The searches behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Keeps what a search led to, in the place of the person's oldest ones.
    /// - Parameter actor: the name that acts record.
    /// - Returns: its id.
    package func keep(_ search: KeptSearch, of actor: String) async throws -> UUID {
        try await pool.query(
            PostgresQuery(
                "searches.keep",
                """
                with dropped as (
                    delete from storehook.searches
                     where id in (select s.id from storehook.searches s where s.actor = \(actor)
                                   order by s.made_at desc, s.id offset \(Int64(Self.most - 1)))
                )
                insert into storehook.searches (actor, found) values (\(actor), \(search.json)) returning id
                """)
        ).one().decode(0)
    }

    /// What one of a person's searches led to; nil where there is none of this id, or it is too old.
    package func search(_ id: UUID, of actor: String) async throws -> KeptSearch? {
        try await pool.query(
            PostgresQuery(
                "searches.one",
                """
                select found from storehook.searches
                 where id = \(id) and actor = \(actor) and made_at > now() - make_interval(mins => \(Self.minutes))
                """)
        ).first.flatMap { KeptSearch(try $0.decode(0, as: PostgresJSON.self)) }
    }

    /// Deletes those that are too old.
    /// - Returns: how many.
    package func dropOld() async throws -> Int64 {
        Int64(
            try await pool.query(
                PostgresQuery(
                    "searches.drop_old",
                    "delete from storehook.searches where made_at < now() - make_interval(mins => \(Self.minutes))")
            ).affectedRows)
    }
}
