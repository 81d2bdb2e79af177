import AppStorePayloads
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// Figures of an instant of the past.
struct PastFigureTests {
    @Test("A figure has the periods that had ended by the instant, and so have its rows")
    func ended() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            let at = "at=2025-04-15T12:00:00Z"
            let months = try await desk.get("/admin/figures/gross?\(Shop.days)&\(at)", token)
            #expect(months.object?.string("from") == "2025-03-01" && months.object?.string("to") == "2025-03-31")
            #expect(
                try months.figure().cells.map(\.words) == ["2025-03 EUR 14990 2 0", "2025-03 USD 4990 1 0"],
                "\(months.body)")
            #expect(!months.body.contains(#""recorded":true"#) && months.body.contains(#""recorded":false"#))
            let days = try await desk.get("/admin/figures/gross?by=day&\(Shop.days)&\(at)", token)
            #expect(days.object?.string("to") == "2025-04-14" && days.body.contains(#""period":"2025-04-05""#))
            let usual = try await desk.get("/admin/figures/gross?by=day&\(at)", token)
            #expect(usual.object?.string("to") == "2025-04-14" && usual.object?.string("from") == "2025-03-15")
            // A cell leads to its rows.
            for cell in try months.figure().cells {
                #expect(cell.rows.contains("&at=2025-04-15"), "\(cell.rows)")
                let rows = try await desk.get(cell.rows, token)
                #expect(try rows.rows().count == (cell.currency == "EUR" ? 2 : 1), "\(rows.body)")
            }
            let later = try await desk.get("/admin/figures/gross/rows?\(Shop.days)&\(at)", token)
            #expect(try later.rows().count == 3, "\(later.body)")
            let none = try await desk.get("/admin/figures/gross?from=2025-05-01&to=2025-05-31&\(at)", token)
            #expect(none.object?["from"]?.isNull == true && none.object?["to"]?.isNull == true, "\(none.body)")
            #expect(try none.figure().cells.isEmpty)
            let nowhere = try await desk.get("/admin/figures/gross/rows?from=2025-05-01&to=2025-05-31&\(at)", token)
            #expect(try nowhere.rows().isEmpty)
            let trends = try await desk.get("/admin/support/stats?\(at)", token).object?.objects("revenueTrends") ?? []
            #expect(trends.count == 12 && trends.first?.string("date") == "2025-03", "\(trends)")
            #expect(trends.last?.string("date") == "2024-04")
        }
    }

    @Test("Figures of accounts have the periods that had ended by the instant")
    func accounts() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            for day in ["2025-04-14", "2025-04-15"] {
                try await desk.observer.query(
                    """
                    insert into storehook.account_days (day, zone, ends_at, counted_at, usage_counted_at)
                    select d, 'UTC', d + 1, d + 1, d + 1 from (select \(day)::text::date as d) d
                    """)
                try await desk.observer.query(
                    """
                    insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used)
                    values (\(day)::text::date, 'exports', 'day', 'free', true, 1, 7)
                    """)
            }
            for name in ["users", "usage"] {
                let path = "/admin/subscriptions/stats/\(name)?by=day"
                let answer = try await desk.get("\(path)&at=2025-04-15T12:00:00Z", token)
                #expect(answer.status == 200 && answer.object?.string("to") == "2025-04-14", "\(answer.body)")
                #expect(
                    answer.body.contains(#""period":"2025-04-14""#) && !answer.body.contains(#""period":"2025-04-15""#))
                let later = try await desk.get("\(path)&from=2025-06-01&at=2025-04-15T12:00:00Z", token)
                #expect(later.status == 200 && later.object?.elementCount("cells") == 0, "\(later.body)")
                #expect(later.object?.integer("missing") == 0, "\(later.body)")
                #expect(try await desk.get("\(path)&at=yesterday", token).status == 400)
            }
        }
    }

    @Test("What is no instant is 400")
    func refusals() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            for path in ["figures/gross", "figures/gross/rows", "support/stats"] {
                for text in ["yesterday", "2026-13-01", "%00"] {
                    #expect(try await desk.get("/admin/\(path)?at=\(text)", token).status == 400, "\(path) \(text)")
                }
            }
        }
    }
}
