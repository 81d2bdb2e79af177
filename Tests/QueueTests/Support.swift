import EvidenceStore
import Foundation
import Postgres
import TestSupport

/// A queue for these tests alone: what holds for it holds for any table.
struct Errands: Sendable {
    static let table = QueueTable(name: "errands", statements: "errands", channel: "errands")

    let database: TestDatabase
    let pool: PostgresPool
    let queue: Queue

    /// Queues errands and returns their ids, in the order of queueing.
    @discardableResult
    func fill(_ count: Int) async throws -> [Int64] {
        try await pool.query(
            """
            with drawn as (select nextval('errand_id') as id from generate_series(1, \(Int64(count))))
            insert into errands (id, received_at, due_at) select id, now(), now() from drawn returning id
            """
        ).map { try $0.decode(0, as: Int64.self) }.sorted()
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// As if the time of all leases and delays had passed.
    func passTime() async throws { try await pool.query("update errands set due_at = now()") }

    /// The rows as they stand, to compare.
    func rows() async throws -> [String] {
        try await pool.query("select e::text from errands e order by id").map { try $0.decode(0) }
    }

    /// Takes rows off the queue; the ids that were held.
    func take(_ ids: [Int64], token: UUID) async throws -> Set<Int64> {
        try await pool.withTransaction { try Self.table.acknowledge(ids, token: token, $0) }
    }
}

extension Lease {
    /// A lease of a minute.
    static func fresh(_ duration: Duration = .seconds(60)) -> Lease { Lease(owner: "test", duration: duration) }
}

/// Runs `body` with a queue of its own.
func withErrands<T>(
    connections: Int = 4,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (Errands) async throws -> T
) async throws -> T {
    try await withTestDatabase { database in
        let pool = PostgresPool(configuration: database.configuration, size: connections, logger: quiet)
        do {
            try await pool.withTransaction { session in
                try session.executeScript(
                    """
                    create sequence errand_id;
                    create table errands (
                        id bigint primary key, received_at timestamptz not null, due_at timestamptz not null,
                        attempts smallint not null default 0 check (attempts >= 0),
                        lapses smallint not null default 0, lease_owner text, lease_token uuid, last_reason text
                    );
                    create index errands_due on errands (due_at, id);
                    """)
            }
            let value = try await body(Errands(database: database, pool: pool, queue: Queue(Errands.table, pool)))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}
