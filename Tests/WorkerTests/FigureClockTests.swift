import AccountStore
import FigureStore
import Postgres
import StandInSupport
import TestSupport
import Testing
import Worker

/// The clock of figures, beside a worker.
struct FigureClockTests {
    @Test("it sums in the zone and the reporting currency of the current catalog, also after a change of them")
    func catalog() async throws {
        try await withBench { bench in
            let accounts = AccountStore(bench.pool)
            let clock = FigureClock(FigureStore(bench.pool), accounts, logger: quiet)
            func standing() async throws -> String {
                while try await clock.step() {}
                return try await bench.value(
                    """
                    select concat_ws(' ', s.zone, coalesce(s.next_zone, '-'), coalesce(c.currency, '-'), coalesce(c.converted_from::text, '-'),
                                     s.fiscal_zone)
                      from storehook.figure_state s left join storehook.figure_currencies c on c.is_reporting
                    """, as: String.self)
            }
            #expect(try await standing() == "UTC - - -")
            for (catalog, expected) in [
                ("reporting_currency: EUR\n", "GMT - EUR -"),
                ("reporting_currency: JPY\ntime_zone: Asia/Tokyo\n", "Asia/Tokyo - JPY -"),
                ("time_zone: Asia/Tokyo\n", "Asia/Tokyo - - -"),
                ("fiscal_months: true\n", "GMT - - - America/Los_Angeles"),
                ("fiscal_months: false\n", "GMT - - -"),
            ] {
                _ = try await accounts.apply(catalog + "tiers: [{id: free}]\n", by: "cli:test")
                #expect(try await standing() == expected)
            }
        }
    }
    @Test("it sums by the commission table that was applied last, and by the release's own before")
    func commission() async throws {
        try await withBench { bench in
            let clock = FigureClock(FigureStore(bench.pool), AccountStore(bench.pool), logger: quiet)
            func rates() async throws -> [Int32] {
                while try await clock.step() {}
                return try await bench.pool.query(
                    "select first_year from storehook.figure_terms where kind = 'rate' order by place"
                ).map { try $0.decode(0) }
            }
            #expect(try await rates() == [30_000, 30_000, 15_000, 25_000, 12_000])
            for (share, expected) in [("20%", Int32(20_000)), ("10.5%", 10_500)] {
                _ = try await CommissionStore(bench.pool).apply(
                    "rates: [{from: 2008-07-10, first_year: \(share)}]", by: "cli:test")
                #expect(try await rates() == [expected])
            }
        }
    }
}
