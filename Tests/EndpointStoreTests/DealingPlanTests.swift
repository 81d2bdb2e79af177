import EventStore
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("How events are found that are dealt out")
struct DealingPlanTests {
    @Test(
        "each by itself, however many are kept and however small the tables were when the plan was made",
        arguments: [1, 130])
    func plan(together: Int) async throws {
        try await EndpointSite.with { site in
            let version: Int32 = try await site.value("select current_setting('server_version_num')::integer")
            // Before, what was read cannot be asked for at once.
            guard version >= 150_000 else { return }
            // One connection, so that the plan that is kept is the one that was made first.
            let pool = PostgresPool(configuration: site.database.configuration, size: 1, logger: quiet)
            let store = EndpointStore(pool)
            let endpoint = try await site.add()
            try await site.write(of: 1)
            try await site.pool.query("analyze storehook.event_places")
            for _ in 0..<7 { _ = try await store.deal(endpoint.id) }
            try await site.pool.query(
                """
                with event as (
                    insert into storehook.events (kind, environment, bundle_id, token, version, sequence, at, is_late,
                                                  is_correction, content)
                    select 'subscription.renewed', 'Production', 'com.example.app', gen_random_uuid(), 1, n, now(), false,
                           false, '"number":1'
                      from generate_series(1, 20000) n
                    returning id, told_at, sequence / \(Int64(together)) as number
                )
                insert into storehook.events_unplaced (id, more, told_at)
                select ids[1], nullif(ids[2:], '{}'), told_at
                  from (select array_agg(id order by id) as ids, told_at from event group by number, told_at) told
                """)
            try await site.place()
            for analyzes in [false, true] {
                if analyzes {
                    try await site.pool.query(
                        "analyze storehook.events, storehook.delivery_lanes, storehook.event_places")
                }
                let before = try await scans(pool)
                let placesBefore = try await placesRead(pool)
                for _ in 0..<3 {
                    let dealt = try await store.deal(endpoint.id, atMost: 500)
                    #expect(dealt.events == 500)
                }
                #expect(try await scans(pool) == before, "analyzed: \(analyzes)")
                // No more of the transactions than have those events; sorting looks a little further.
                let places = try await placesRead(pool) - placesBefore
                #expect(places <= 3 * (500 / together + 40), "analyzed: \(analyzes)")
            }
            await pool.close()
        }
    }

    /// How many transactions' places were read by index.
    private func placesRead(_ pool: PostgresPool) async throws -> Int {
        try await pool.query("select pg_stat_force_next_flush()")
        return Int(
            try await pool.query(
                "select idx_tup_fetch from pg_stat_user_tables where relid = 'storehook.event_places'::regclass"
            ).one().decode(0, as: Int64.self))
    }

    /// How often one of the large tables was read from its beginning.
    private func scans(_ pool: PostgresPool) async throws -> Int64 {
        try await pool.query("select pg_stat_force_next_flush()")
        return try await pool.query(
            """
            select sum(seq_scan)::bigint from pg_stat_user_tables
             where schemaname = 'storehook'
               and (relname ~ '^events_(default|[0-9]+)$' or relname in ('delivery_lanes', 'event_places'))
            """
        ).one().decode(0)
    }
}
