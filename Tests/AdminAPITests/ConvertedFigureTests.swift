import AccountStore
import Base
import FigureStore
import Figures
import Staff
import TestSupport
import Testing

/// Figures in one currency, as members of the staff see them.
struct ConvertedFigureTests {
    @Test(
        "In one currency: by the rates that there are, what lacks one apart, each with its rows, and since when rates are corrected"
    )
    func converted() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            func take(_ rates: String) async throws {
                let bytes = Array("date,currency,rate\n\(rates)\n".utf8)
                _ = try await RateStore(desk.observer).take(
                    RateFile(bytes, through: CalendarDay(number: 40_000)).rates, digest: Fingerprint(of: bytes),
                    by: "cli:test")
            }
            let none = try await desk.get("/admin/figures/gross?in=EUR&\(Shop.days)", token)
            #expect(none.body.contains(#""notConverted":[{"currency":"USD","count":1,"amount":4990}]"#), "\(none.body)")
            #expect(
                try none.figure().cells.map(\.words) == [
                    "2025-03 EUR 14990 2 0", "2025-03 USD 4990 1 0", "2025-04 EUR 22000 2 0",
                ])
            #expect(try none.figure().cells.map(\.notConverted) == [false, true, false])
            // Its day is 2025-03-20.
            try await take("2025-03-14,USD,1.25")
            let plain = try await desk.get("/admin/figures/gross?\(Shop.days)", token)
            #expect(try plain.figure().cells.map(\.notConverted) == [nil, nil, nil])
            #expect(plain.body.contains(#""in":null,"ratesCorrectedAt":null,"notConverted":[]"#), "\(plain.body)")
            for (name, values) in [
                ("gross", ["2025-03 EUR 18982 3 0", "2025-04 EUR 22000 2 0"]),
                ("net", ["2025-03 EUR 18982 18982 0", "2025-04 EUR 22000 22000 0", "2025-05 EUR -800 0 800"]),
            ] {
                let figure = try await desk.get("/admin/figures/\(name)?in=EUR&\(Shop.days)", token).figure()
                #expect(figure.cells.map(\.words) == values)
                for cell in figure.cells {
                    let rows = try await desk.get(cell.rows, token).rows()
                    #expect(rows.reduce(0) { $0 + ($1.converted ?? 0) } == cell.values.first, "\(cell.rows)")
                }
            }
            let rows = try await desk.get("/admin/figures/gross/rows?in=JPY&\(Shop.days)", token)
            #expect(try rows.rows().allSatisfy { $0.converted == nil && $0.amount != nil }, "\(rows.body)")
            try await take("2025-03-14,USD,1")
            let corrected = try await desk.get("/admin/figures/gross?in=EUR&\(Shop.days)", token)
            #expect(try corrected.figure().cells.first?.words == "2025-03 EUR 19980 3 0")
            #expect(corrected.body.contains(#""ratesCorrectedAt":"20"#), "\(corrected.body)")
            let april = try await desk.get("/admin/figures/gross?in=EUR&from=2025-04-01&to=2025-04-30", token)
            #expect(april.body.contains(#""ratesCorrectedAt":null"#), "\(april.body)")
            for code in ["EUX", "eur", "EU"] {
                let refused = try await desk.get("/admin/figures/gross?in=\(code)", token)
                #expect(refused.status == 400, "\(code): \(refused.body)")
            }
            // Answers are in the catalog's currency, except with in=none.
            _ = try await AccountStore(desk.observer).apply("reporting_currency: EUR\n" + Desk.catalog, by: "cli:test")
            let usual = try await desk.get("/admin/figures/gross?\(Shop.days)", token)
            #expect(try usual.figure().cells.map(\.words) == corrected.figure().cells.map(\.words))
            let own = try await desk.get("/admin/figures/gross?in=none&\(Shop.days)", token)
            #expect(try own.figure().cells.map(\.words) == plain.figure().cells.map(\.words))
            for cell in try own.figure().cells {
                #expect(try await desk.get(cell.rows, token).rows().allSatisfy { $0.converted == nil })
            }
        }
    }

    @Test("Statistics are in the reporting currency as well, once its sums are kept, with what lacks a rate")
    func statistics() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            let plain = try await desk.get("/admin/orders/stats", token)
            #expect(plain.body.contains(#""converted":null"#), "\(plain.body)")
            let trends = try await desk.get("/admin/support/stats", token)
            #expect(trends.body.contains(#""in":null"#) && trends.body.contains(#""converted":null,"notConverted":[]"#))
            _ = try await AccountStore(desk.observer).apply("reporting_currency: EUR\n" + Desk.catalog, by: "cli:test")
            let early = try await desk.get("/admin/orders/stats", token)
            #expect(early.body.contains(#""converted":null"#), "\(early.body)")
            while try await FigureStore(desk.observer).sum(in: "UTC", currency: "EUR", atMost: 120) {}
            let kept = try await desk.get("/admin/orders/stats", token)
            #expect(
                kept.body.contains(
                    #""converted":{"currency":"EUR","upToDate":true,"totalRevenue":36990,"todayRevenue":0,"totalRefunded":800,"refundRate":2163,"notConverted":[{"currency":"USD","count":1,"amount":4990}]}"#
                ), "\(kept.body)")
            let bytes = Array("date,currency,rate\n2025-03-14,USD,1.25\n".utf8)
            _ = try await RateStore(desk.observer).take(
                RateFile(bytes, through: CalendarDay(number: 40_000)).rates, digest: Fingerprint(of: bytes),
                by: "cli:test")
            let pending = try await desk.get("/admin/orders/stats", token)
            #expect(
                pending.body.contains(#""currency":"EUR","upToDate":false,"totalRevenue":36990"#), "\(pending.body)")
            while try await FigureStore(desk.observer).sum(in: "UTC", currency: "EUR", atMost: 120) {}
            let later = try await desk.get("/admin/orders/stats?app=\(Desk.app)", token)
            #expect(later.body.contains(#""currency":"EUR","upToDate":true,"totalRevenue":20982"#), "\(later.body)")
            let today = try await FigureStore(desk.observer).today()
            try await desk.buy([
                Shop.entry(30, "\(today)", price: 700), Shop.entry(31, "\(today)", price: 900, "USD", "USA"),
                Shop.entry(32, "\(CalendarDay(number: today.number - 40))", price: 50, "USD", "USA"),
            ])
            let months = try await desk.get("/admin/support/stats", token)
            #expect(months.body.contains(#""upToDate":false"#), "\(months.body)")
            while try await FigureStore(desk.observer).sum(in: "UTC", currency: "EUR", atMost: 120) {}
            let summed = try await desk.get("/admin/support/stats", token)
            #expect(summed.body.contains(#""in":"EUR""#), "\(summed.body)")
            #expect(
                summed.body.contains(
                    #""revenue":[{"currency":"EUR","amount":700},{"currency":"USD","amount":900}],"converted":700,"notConverted":[{"currency":"USD","amount":900}]"#
                ), "\(summed.body)")
            // A month without converted amounts.
            #expect(
                summed.body.contains(#""converted":0,"notConverted":[{"currency":"USD","amount":50}]"#),
                "\(summed.body)")
        }
    }
}
