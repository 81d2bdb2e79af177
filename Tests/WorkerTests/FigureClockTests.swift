import AccountStore
import FigureStore
import Postgres
import StandInSupport
import TestSupport
import Testing
import Worker

/// The clock of figures, beside a worker.
struct FigureClockTests {
    @Test("it sums in the zone and the reporting currency of the current catalog, whatever they were before")
    func catalog() async throws {
        try await withBench { bench in
            let accounts = AccountStore(bench.pool)
            let clock = FigureClock(FigureStore(bench.pool), accounts, logger: quiet)
            func standing() async throws -> String {
                while try await clock.step() {}
                return try await bench.value(
                    """
                    select concat_ws(' ', zone, coalesce(next_zone, '-'), coalesce(currency, '-'), coalesce(converted_from::text, '-'))
                      from storehook.figure_state
                    """, as: String.self)
            }
            #expect(try await standing() == "UTC - - -")
            for (catalog, expected) in [
                ("reporting_currency: EUR\n", "GMT - EUR -"),
                ("reporting_currency: JPY\ntime_zone: Asia/Tokyo\n", "Asia/Tokyo - JPY -"),
                ("time_zone: Asia/Tokyo\n", "Asia/Tokyo - - -"),
            ] {
                _ = try await accounts.apply(catalog + "tiers: [{id: free}]\n", by: "cli:test")
                #expect(try await standing() == expected)
            }
        }
    }
}
