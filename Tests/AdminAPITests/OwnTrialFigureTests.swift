import Postgres
import Staff
import TestSupport
import Testing

/// Trials that the app grants itself, for the desk.
struct OwnTrialFigureTests {
    @Test("Trials that the app grants itself have columns of their own, by app, and open to rows without an order")
    func columns() async throws {
        try await withDesk { desk in
            try await desk.observer.query(
                """
                insert into storehook.trials (account_hash, token, tier, bundle_id, product_id, started_at, ends_at)
                values (sha256('a'), gen_random_uuid(), 'pro', \(Desk.app), 'basic', '2025-03-10T12:00Z', '2025-03-17T12:00Z'),
                       (sha256('b'), gen_random_uuid(), 'pro', \(Desk.other), 'best', '2025-03-11T12:00Z', '2025-03-18T12:00Z')
                """)
            try await desk.sum()
            let all = try await desk.member(.viewer).token
            let some = try await desk.member(.viewer, of: [Desk.app]).token
            let path = "/admin/figures/trials?from=2025-03-01&to=2025-03-31"
            let whole = try await desk.get(path, all).figure()
            #expect(
                whole.columns.map(\.name) == [
                    "trials", "converted", "lapsed", "open", "ownTrials", "ownConverted", "ownLapsed", "ownOpen",
                ])
            #expect(whole.cells.map(\.words) == ["2025-03 0 0 0 0 2 0 2 0"])
            let cell = try #require(whole.cells.first)
            let page = try await desk.get(cell.rows, all)
            #expect(
                try page.rows().map(\.measure) == [
                    "own_trial", "own_trial_lapsed", "own_trial", "own_trial_lapsed",
                ])
            #expect(page.body.contains(#""order":null,"bundleId":"\#(Desk.app)","productId":"basic""#), "\(page.body)")
            #expect(
                try await desk.get(path, some).figure().cells.map(\.words) == ["2025-03 0 0 0 0 1 0 1 0"])
            let rate = try await desk.get("/admin/figures/trial_conversion?from=2025-03-01&to=2025-03-31", all).figure()
            #expect(rate.columns.map(\.name).suffix(5).first == "ownConversionRate")
            #expect(rate.cells.map(\.words) == ["2025-03 - 0 0 0 0 0 0 2 0 0"])
        }
    }
}
