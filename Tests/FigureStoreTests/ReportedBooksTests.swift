import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import PurchaseStore
import Testing

/// What the books have of the days of one of Apple's reports.
struct ReportedBooksTests {
    private static let march = CalendarDay(number: 20_513)...CalendarDay(number: 20_543)

    private static func coin(
        _ id: String, at start: Timestamp = Shop.day(70), price: Int64? = 1_990, app: String = Shop.app,
        environment: String = "Production", signed: Timestamp? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            id, at: start, days: nil, product: "coins", kind: .consumable, price: price, signed: signed, app: app,
            environment: environment, change)
    }

    private static func key(_ kind: ReportKey.Kind = .sale, price: Int64 = 1_990) -> ReportKey {
        ReportKey(productID: "coins", storefront: "USA", currency: "USD", unitPrice: price, kind: kind)
    }

    @Test("days are those of Los Angeles, where the clocks change within the month")
    func days() async throws {
        #expect(Self.march.lowerBound.description == "2026-03-01")
        try await FigureDatabase.with { database in
            let (first, end) = (Shop.day(59, hours: 8), Shop.day(90, hours: 7))
            for (place, at) in [first, end.adding(milliseconds: -1), first.adding(milliseconds: -1), end].enumerated() {
                try await database.hear(Self.coin("\(place)", at: at))
            }
            let books = try await database.figures.books(of: Self.march)
            #expect(books == ReportedBooks(totals: [Self.key(): ReportTotals(units: 2, amount: 3_980)]))
        }
    }

    @Test("units count, and a price is that of one of them; what is free is a key of its own")
    func units() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("1"), Self.coin("2", price: 5_970) { $0.quantity = 3 }, Self.coin("3", price: 0),
                Self.coin("4", price: 990))
            let books = try await database.figures.books(of: Self.march)
            #expect(
                books.totals == [
                    Self.key(): ReportTotals(units: 4, amount: 7_960), Self.key(price: 0): ReportTotals(units: 1),
                    Self.key(price: 990): ReportTotals(units: 1, amount: 990),
                ])
        }
    }

    @Test("a refund of the whole price is units that came back, on its own day; parts and reversals are counted apart")
    func refunds() async throws {
        try await FigureDatabase.with { database in
            let revoked = { (id: String, at: Timestamp, share: Int64?) in
                Self.coin(id, at: Shop.day(20), price: 3_980, signed: at) {
                    ($0.quantity, $0.revocationDate, $0.revocationPercentage) = (2, at, share)
                }
            }
            try await database.hear(
                revoked("1", Shop.day(71), nil), revoked("2", Shop.day(72), 25_000),
                revoked("3", Shop.day(73), 100_000),
                // After the month.
                revoked("4", Shop.day(95), nil), revoked("5", Shop.day(74), nil))
            try await database.hear(
                Self.coin("5", at: Shop.day(20), price: 3_980, signed: Shop.day(75)) { $0.quantity = 2 })
            let books = try await database.figures.books(of: Self.march)
            #expect(
                books
                    == ReportedBooks(
                        totals: [Self.key(.refund): ReportTotals(units: 6, amount: 11_940)], partialRefunds: 1,
                        reversals: 1))
        }
    }

    @Test("what has no signed price or country is counted apart; other apps and Sandbox are left out")
    func apart() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("1", price: nil), Self.coin("2") { $0.storefront = nil }, Self.coin("3"),
                Self.coin("4", environment: "Sandbox"), Self.coin("5", app: "com.example.other"))
            let sold = ReportTotals(units: 1, amount: 1_990)
            let books = try await database.figures.books(of: Self.march, apps: [Shop.app])
            #expect(books == ReportedBooks(totals: [Self.key(): sold], unpriced: 2))
            let all = try await database.figures.books(of: Self.march)
            #expect(all.totals[Self.key()]?.units == 2)
        }
    }
}
