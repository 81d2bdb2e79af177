import FigureStore
import Staff
import Testing

/// Figures by the months of Apple's fiscal year, as members of the staff see them.
struct FiscalFigureTests {
    @Test(
        "By Apple's fiscal months they are answered once these are kept; a year that the calendar lacks is refused by its name"
    )
    func fiscalMonths() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            let path = "/admin/figures/gross?by=fiscal-month&from=2025-FM06&to=2025-FM08"
            let unkept = try await desk.get(path, token)
            #expect(unkept.status == 400 && unkept.body.contains("fiscal_months: true"), "\(unkept.body)")
            while try await FigureStore(desk.observer).sum(in: "UTC", hasFiscalMonths: true, atMost: 120) {}
            let answer = try await desk.get(path, token)
            #expect(answer.status == 200 && answer.body.contains(#""zone":"America/Los_Angeles""#), "\(answer.body)")
            #expect(answer.body.contains(#""period":"2025-FM0"#), "\(answer.body)")
            let rows = try await desk.get(
                "/admin/figures/gross/rows?by=fiscal-month&from=2025-FM06&to=2025-FM08", token)
            #expect(rows.status == 200, "\(rows.body)")
            for (query, word) in [
                ("by=fiscal-month&from=2031-FM01&to=2031-FM02", "no fiscal year 2031"),
                ("from=2025-FM06", "2025-FM06 is a fiscal month"), ("from=2025-FM13", "like 2026-FM04"),
            ] {
                let refused = try await desk.get("/admin/figures/gross?\(query)", token)
                #expect(refused.status == 400 && refused.body.contains(word), "\(query): \(refused.body)")
            }
        }
    }
}
