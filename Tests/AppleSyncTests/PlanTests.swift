import AppleRecords
import Base
import Postgres
import TestSupport
import Testing

@Suite("The plan of windows")
struct PlanTests {
    private static let scopes = [
        AppEnvironment(bundleID: "com.example.one", environment: "Production"),
        AppEnvironment(bundleID: "com.example.two", environment: "Sandbox"),
    ]

    @Test("reaches as far back as Apple's list, without a gap and without an overlap, whoever plans at the same time")
    func tiling() async throws {
        try await withSite { site in
            try await withThrowingTaskGroup { group in
                for number in 0..<6 {
                    group.addTask {
                        try await site.history.plan(Self.scopes, behind: .seconds(600), partial: number % 2 == 0)
                    }
                }
                for try await _ in group {}
            }
            try await site.history.plan(Self.scopes, behind: .zero, partial: true)
            let rows = try await site.pool.query(
                """
                select environment, bool_and(starts_at = before or before is null) as is_gapless,
                       count(*) as windows, max(ends_at) > now() - interval '1 minute' as is_present,
                       min(starts_at) between now() - storehook.history_reach(environment)
                                          and now() - storehook.history_reach(environment) + interval '2 hours' as is_whole,
                       max(ends_at - starts_at) = interval '1 day' as has_days,
                       bool_and(starts_at > date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day'
                                or ends_at - starts_at <= interval '1 day') as is_fine
                  from (select *, lag(ends_at) over (partition by bundle_id, environment order by starts_at) as before
                          from storehook.history_windows) w
                 group by environment order by environment
                """)
            try #require(rows.count == 2)
            for row in rows {
                for column in ["is_gapless", "is_present", "is_whole", "has_days", "is_fine"] {
                    #expect(try row.decode(column, as: Bool.self), "\(column)")
                }
            }
            // Days, and the hours of at most two of them, and what six planners cut shorter.
            #expect(try rows[0].decode("windows", as: Int64.self) < 180 + 48 + 12)
            #expect(try rows[1].decode("windows", as: Int64.self) < 30 + 48 + 12)
        }
    }

    @Test("takes windows away that Apple's list has left, and proves anew from there")
    func leaving() async throws {
        try await withSite { site in
            try await site.history.plan([Self.scopes[1]], behind: .zero)
            try await site.pool.query(
                """
                update storehook.history_windows
                   set starts_at = starts_at - interval '40 days', ends_at = ends_at - interval '40 days'
                """)
            #expect(try await site.history.plan([Self.scopes[1]], behind: .zero) > 30)
            #expect(
                try await site.value(
                    "select min(ends_at) >= now() - interval '30 days' from storehook.history_windows"))
            #expect(
                try await site.value(
                    """
                    select count(*) = (select count(*) from storehook.history_windows) from storehook.history_queue
                    """))
        }
    }

    @Test("is proven up to the first window that is not, and up to the first gap")
    func proof() async throws {
        try await withSite { site in
            try await site.history.plan([Self.scopes[1]], behind: .zero)
            #expect(try await site.history.proofs().first?.provenUntil == nil)
            try await site.pool.query(
                """
                update storehook.history_windows
                   set askings = 1, asked_at = now(), first_asked_at = now(), proven_at = now()
                """)
            let whole = try #require(try await site.history.proofs().first)
            #expect(
                try await site.value("select max(ends_at) from storehook.history_windows") == whole.provenUntil)
            try await site.pool.query(
                """
                update storehook.history_windows set proven_at = null
                 where id = (select id from storehook.history_windows order by starts_at offset 20 limit 1)
                """)
            #expect(
                try await site.value(
                    "select ends_at from storehook.history_windows order by starts_at offset 19 limit 1")
                    == site.history.proofs().first?.provenUntil)
            try await site.pool.query(
                """
                delete from storehook.history_windows
                 where id = (select id from storehook.history_windows order by starts_at offset 10 limit 1)
                """)
            #expect(
                try await site.value(
                    "select ends_at from storehook.history_windows order by starts_at offset 9 limit 1")
                    == site.history.proofs().first?.provenUntil)
        }
    }
}
