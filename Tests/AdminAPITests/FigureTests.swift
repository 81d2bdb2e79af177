import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import NIOHTTP1
import Postgres
import PurchaseStore
import Staff
import TestSupport
import Testing

/// Figures, as members of the staff see them.
struct FigureTests {
    @Test("Every role reads them: values by period and currency, how final these are, and the columns")
    func values() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            for role in StaffRole.allCases {
                let token = try await desk.member(role).token
                let answer = try await desk.get("/admin/figures/gross?\(Shop.days)", token)
                #expect(answer.status == 200, "\(answer.body)")
                for (name, value) in [
                    ("figure", "gross"), ("zone", "UTC"), ("environment", "Production"), ("from", "2025-03-01"),
                    ("to", "2025-05-31"), ("by", "month"),
                ] {
                    #expect(answer.body.contains(#""\#(name)":"\#(value)""#), "\(name): \(answer.body)")
                }
                #expect(answer.body.contains(#""split":null"#) && answer.body.contains(Figure.gross.about))
                let figure = try answer.figure()
                #expect(
                    figure.columns == [
                        .init(name: "gross", unit: "money"), .init(name: "transactions", unit: "count"),
                        .init(name: "unpriced", unit: "count"),
                    ])
                #expect(
                    figure.cells.map(\.words) == [
                        "2025-03 EUR 14990 2 0", "2025-03 USD 4990 1 0", "2025-04 EUR 22000 2 0",
                    ])
                #expect(figure.cells.allSatisfy { !$0.running && $0.upToDate && !$0.proven })
            }
            for path in ["gross", "gross/rows", "unknown"] {
                #expect(try await desk.get("/admin/figures/\(path)").status == 401)
            }
            let token = try await desk.member(.viewer).token
            func cells(_ path: String) async throws -> [String] {
                try await desk.get("/admin/figures/\(path)", token).figure().cells.map(\.words)
            }
            #expect(
                try await cells("refunded?by=day&\(Shop.days)") == [
                    "2025-05-02 EUR 5800 2 0 0", "2025-05-20 EUR -5000 0 1 0",
                ])
            #expect(try await cells("net?from=2025-05-01&to=2025-05-01") == ["2025-05 EUR -800 0 800"])
            #expect(
                try await cells("orders?split=product&\(Shop.days)") == [
                    "2025-03 basic 3", "2025-04 best 1", "2025-04 gold 1",
                ])
            #expect(
                try await cells("gross?split=currency&app=\(Desk.app)&\(Shop.days)") == [
                    "2025-03 EUR EUR 14990 2 0", "2025-03 USD USD 4990 1 0", "2025-04 EUR EUR 2000 1 0",
                ])
            // 800 of 0 is no share; 2,000 of 22,000 in April are refunded to 800 now.
            #expect(
                try await cells("refund_rate?\(Shop.days)&app=\(Desk.app)") == [
                    "2025-03 EUR 0 0 0 0 0 14990", "2025-03 USD 0 0 0 0 0 4990",
                    "2025-04 EUR 0 0 40000 100000 0 2000", "2025-05 EUR - - - - 800 0",
                ])
            #expect(try await cells("gross?environment=Sandbox&\(Shop.days)") == [])
            #expect(try await cells("gross?currency=USD&\(Shop.days)") == ["2025-03 USD 4990 1 0"])
            #expect(try await cells("gross?last=1&\(Shop.days)") == Array(cells("gross?\(Shop.days)").suffix(1)))
        }
    }

    @Test("A month states that it is running, or that a change is not summed yet")
    func standing() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            // Nothing was summed yet.
            let none = try await desk.get("/admin/figures/orders", token)
            #expect(try none.figure().cells.isEmpty && none.body.contains(#""zone":null"#), "\(none.body)")
            #expect(try await desk.get("/admin/figures/orders/rows", token).object?.elementCount("rows") == 0)
            try await desk.openShop()
            let today = try await FigureStore(desk.observer).today()
            try await desk.buy([
                Shop.entry(20, "2025-03-15", price: 1, signed: .now), Shop.entry(21, "\(today)", price: 2),
            ])
            func cells(_ query: String) async throws -> [ReadFigure.Cell] {
                try await desk.get("/admin/figures/gross?\(query)", token).figure().cells
            }
            #expect(
                try await cells("from=2025-01-01&split=app&app=\(Desk.app)").filter { $0.currency == "EUR" }
                    .map { "\($0.period) \($0.upToDate)" } == ["2025-03 false", "2025-04 false"],
                "a period began and ended in them")
            try await desk.sum()
            let later = try await cells("from=2025-01-01").filter { $0.currency == "EUR" }
            #expect(later.allSatisfy(\.upToDate) && later.first?.words == "2025-03 EUR 14991 3 0", "\(later)")
            #expect(later.last?.period == "\(FigureMonth(today))")
            #expect(later.map(\.running) == [false, false, true], "\(later)")
            // By default the last 30 days.
            let days = try await cells("by=day").filter { $0.currency == "EUR" }
            #expect(days.map(\.words) == ["\(today) EUR 2 1 0"] && days.allSatisfy(\.running), "\(days)")
        }
    }

    @Test("By default the last day is today in the zone of the figures, and there are 30 days or a year of months")
    func usualDays() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            func days(_ query: String) async throws -> ClosedRange<CalendarDay> {
                let figure = try await desk.get("/admin/figures/orders?\(query)", token)
                let (from, to) = (figure.object?.string("from"), figure.object?.string("to"))
                return try #require(CalendarDay(from ?? ""))...(try #require(CalendarDay(to ?? "")))
            }
            func written(_ query: String) async throws -> String {
                let days = try await days(query)
                return "\(days.lowerBound) \(days.upperBound)"
            }
            #expect(try await written("by=day&to=2025-05-31") == "2025-05-01 2025-05-31")
            #expect(try await written("to=2025-05-30") == "2024-05-01 2025-05-31")
            #expect(try await written("by=day&from=2999-01-02") == "2999-01-02 2999-01-02")
            #expect(try await written("by=day&to=0001-01-02") == "0001-01-01 0001-01-02")
            // A clock here and one there are 26 hours apart, and so never show the same day.
            var todays: [Int64] = []
            for zone in ["Pacific/Kiritimati", "Etc/GMT+12"] {
                try await desk.sum(in: zone)
                let days = try await days("by=day")
                #expect(days.upperBound.number - days.lowerBound.number == 30)
                todays.append(days.upperBound.number)
                let statistics = try await desk.get("/admin/orders/stats", token)
                #expect(statistics.object?.string("today") == "\(days.upperBound)", "\(statistics.body)")
                #expect(statistics.object?.string("zone") == zone)
                let trends = try await desk.get("/admin/support/stats", token)
                #expect(trends.body.contains(#""revenueTrends":[{"date":"\#(FigureMonth(days.upperBound))""#))
            }
            #expect([1, 2].contains(todays[0] - todays[1]), "\(todays)")
        }
    }

    @Test(
        "Each value's link opens to the rows that it counts, and the sum of these is the value",
        arguments: sampled([Figure.orders, .transactions, .gross, .refunded, .net]))
    func rows(figure: Figure) async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            for by in ["month", "day"] {
                for split in ["", "&split=app", "&split=product", "&split=country", "&split=currency", "&split=plan"] {
                    let path =
                        "/admin/figures/\(figure.rawValue)?by=\(by)\(split)&from=2025-02-01"
                        + (by == "month" ? "" : "&to=2025-06-30")
                    let cells = try await desk.get(path, token).figure().cells
                    #expect(cells.count >= (figure == .refunded ? 1 : 2), "\(path)")
                    for cell in cells {
                        let page = try await desk.get(cell.rows, token)
                        let rows = try page.rows()
                        let sum =
                            switch figure {
                            case .orders: Int64(rows.count)
                            case .transactions: Int64(rows.count { $0.amount != 0 })
                            default: rows.reduce(0) { $0 + ($1.amount ?? 0) }
                            }
                        #expect(page.status == 200 && sum == cell.values.first, "\(cell.rows): \(page.body)")
                        #expect(!rows.isEmpty && rows.allSatisfy { $0.at.hasPrefix(cell.period) }, "\(cell.rows)")
                    }
                }
            }
        }
    }

    @Test("Staff of some apps see the numbers of theirs alone, and another app is like one that does not exist")
    func scope() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let all = try await desk.member(.viewer).token
            let some = try await desk.member(.admin, of: [Desk.app]).token
            var generator = SeededGenerator()
            for name in Figure.allCases.filter({ $0 != .freeToPaid }).map(\.rawValue) {
                let splits = Figure(rawValue: name)?.splits.map(\.rawValue) ?? []
                let queries = ["", "&split=app", "&split=product", "&split=country", "&by=day&split=country"].filter {
                    query in
                    query.isEmpty || splits.contains(where: query.hasSuffix)
                }
                for query in sampled(queries, oneIn: 2, using: &generator) {
                    let path = "/admin/figures/\(name)?\(Shop.days)\(query)"
                    let (mine, whole) = (try await desk.get(path, some), try await desk.get(path, all))
                    let asked = try await desk.get("\(path)&app=\(Desk.app)", all)
                    #expect(mine.status == 200 && !mine.body.contains(Desk.other), "\(path): \(mine.body)")
                    #expect(!mine.body.contains("best") && !mine.body.contains("FRA"), "\(path): \(mine.body)")
                    #expect(try mine.figure().cells.map(\.words) == asked.figure().cells.map(\.words))
                    if ["orders", "gross", "net", "transactions"].contains(name) {
                        #expect(try mine.figure().cells.map(\.words) != whole.figure().cells.map(\.words), "\(path)")
                    }
                    let theirs = try await desk.get("\(path)&app=\(Desk.other)", some)
                    let none = try await desk.get("\(path)&app=com.example.none", some)
                    #expect(theirs.status == 200 && theirs.body == none.body, "\(path): \(theirs.body)")
                    #expect(try theirs.figure().cells.isEmpty)
                }
                let filters = ["", "&app=\(Desk.other)", "&product=best", "&format=csv", "&format=ndjson"]
                for query in sampled(filters, oneIn: 2, using: &generator) {
                    let rows = try await desk.get("/admin/figures/\(name)/rows?\(Shop.days)\(query)", some)
                    #expect(rows.status == 200 && !rows.body.contains(Desk.other), "\(name) \(query): \(rows.body)")
                }
            }
            #expect(
                try await desk.get("/admin/figures/gross/rows?\(Shop.days)&app=\(Desk.other)", some).rows().isEmpty)
            #expect(
                try await desk.get("/admin/figures/gross/rows?\(Shop.days)&app=\(Desk.other)", all).rows().count == 1)
        }
    }

    @Test("What is no figure is 404; what is no day, period or split, and what has too many values, is 400")
    func refusals() async throws {
        try await withDesk { desk in
            try await desk.openShop()
            let token = try await desk.member(.viewer).token
            for name in ["revenue", "Gross", "gross%20", "refundRate", "%27"] {
                for path in ["/admin/figures/\(name)", "/admin/figures/\(name)/rows"] {
                    let answer = try await desk.get(path, token)
                    #expect(answer.status == 404 && answer.code == "figure_not_found", "\(path): \(answer.body)")
                    #expect(answer.body.contains("heard_late"))
                }
            }
            let wrong = [
                "from=yesterday1", "to=2026-02-30", "from=2026-02-01&to=2026-01-31", "to=2026-1-31", "by=week",
                "by=month,app", "environment=production", "app=", "from=0000-01-01", "to=%00",
            ]
            for query in wrong {
                for path in ["gross", "gross/rows"] {
                    let got = try await desk.get("/admin/figures/\(path)?\(query)", token)
                    #expect(got.status == 400 && got.code == "invalid_request", "\(path) \(query): \(got.body)")
                }
            }
            for query in [
                "?split=tier", "?last=0", "?last=10001", "/rows?after=x", "/rows?after=a/b/c/d/e", "/rows?limit=201",
                "/rows?currency=EURO", "/rows?format=xml",
            ] { #expect(try await desk.get("/admin/figures/gross\(query)", token).status == 400, "\(query)") }
            try await desk.observer.query(
                """
                insert into storehook.figure_sums
                select 'month_product', 'UTC', '2025-07-01', 'sale', 'Production', 'com.example.app', 'p' || n, '', 'EUR', 1, 0, 0, 1
                  from generate_series(1, 10001) n
                """)
            for query in [
                "from=2025-07-01&split=product", "by=day&from=1990-01-01", "from=0001-01-01&to=9999-12-31",
                "by=day&from=0001-01-01&to=9999-12-31",
            ] {
                let answer = try await desk.get("/admin/figures/gross?\(query)", token)
                #expect(answer.status == 400 && answer.code == "too_many_cells", "\(query): \(answer.body.prefix(200))")
                #expect(answer.body.contains("fewer days"))
            }
            for query in [
                "from=2025-07-01", "from=2025-07-01&split=country", "by=day&from=2000-01-01", "to=0001-01-01",
            ] {
                #expect(try await desk.get("/admin/figures/gross?\(query)", token).status == 200, "\(query)")
            }
            #expect(try await desk.get("/admin/figures/gross/rows?from=0001-01-01&to=9999-12-31", token).status == 200)
        }
    }

    @Test(
        "Rows have pages of 25, each behind the one before; in a file, what a spreadsheet would run begins with an apostrophe"
    )
    func files() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.buy(
                (30..<70).map { Shop.entry($0, "2025-03-10", "=1+1", price: 1_000 + Int64($0)) })
            try await desk.sum()
            let path = "/admin/figures/gross/rows?\(Shop.days)&product=%3D1%2B1"
            let first = try await desk.get(path, token)
            let next = try #require(first.object?.string("next"))
            let second = try await desk.get("\(path)&after=\(next)", token)
            #expect(try first.rows().count == 25 && second.rows().count == 15 && second.body.contains(#""next":null"#))
            let amounts = try (first.rows() + second.rows()).compactMap(\.amount)
            #expect(Set(amounts) == Set(1_030..<1_070) && amounts.count == 40)
            #expect(try await desk.get("\(path)&limit=7", token).rows().count == 7)
            let csv = try await desk.get("\(path)&format=csv", token)
            let lines = csv.body.split(separator: "\n")
            #expect(
                csv.status == 200 && lines.count == 41
                    && lines[0]
                        == "at,measure,order,bundleId,productId,storefront,amount,currency,transactionId,converted",
                "\(csv.body)")
            #expect(lines.dropFirst().allSatisfy { $0.contains(#","'=1+1","#) }, "\(csv.body)")
            #expect(csv.headers.first(name: "Content-Disposition") == #"attachment; filename="rows.csv""#)
            let objects = try await desk.get("\(path)&format=ndjson&after=\(next)", token)
            #expect(objects.body.split(separator: "\n").count == 15, "\(objects.body)")
            // The link says the product as it is sent.
            let cell = try #require(
                try await desk.get("/admin/figures/gross?split=product&\(Shop.days)", token).figure().cells.first)
            #expect(cell.rows.contains("product=%3D1%2B1"), "\(cell.rows)")
            #expect(try await desk.get(cell.rows, token).rows().count == 25)
        }
    }
}

/// A small shop: what was bought and refunded in it, by hand.
enum Shop {
    /// The days of all purchases.
    static let days = "from=2025-03-01&to=2025-05-31"

    static func instant(_ day: String) -> Timestamp { Timestamp(iso8601: "\(day)T00:00:00Z") ?? .distantPast }

    /// A month, bought as a day begins.
    /// - Parameter record: a number of its own for what says so, where there are several.
    static func entry(
        _ number: Int, _ day: String, of app: String = Desk.app, _ product: String = "basic", price: Int64?,
        _ currency: String = "EUR", _ storefront: String = "DEU", record: Int? = nil, signed: Timestamp? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Desk.entry(
            Desk.purchase(number, of: app), product, for: Desk.token(number), number: record ?? number, price: price
        ) { transaction in
            let bought = instant(day)
            (transaction.purchaseDate, transaction.originalPurchaseDate) = (bought, bought)
            transaction.expiresDate = bought.adding(days: 30)
            transaction.signedDate = signed ?? bought
            (transaction.currency, transaction.storefront) = (currency, storefront)
            change(&transaction)
        }
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp {
        Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)
    }
}

extension RunningDesk {
    /// Sums figures as a worker does.
    /// - Parameter zone: that of the catalog.
    func sum(in zone: String = "UTC") async throws {
        while try await FigureStore(observer).sum(in: zone, atMost: 120) {}
    }

    /// Two apps' purchases from March to April. In May one is refunded in part, and one in full; Apple reversed the full refund.
    func openShop() async throws {
        let refund = Shop.instant("2025-05-02")
        try await buy([
            Shop.entry(10, "2025-03-10", price: 9_990), Shop.entry(11, "2025-03-20", price: 4_990, "USD", "USA"),
            Shop.entry(12, "2025-04-05", "gold", price: 2_000, signed: refund) { transaction in
                transaction.revocationDate = refund
                transaction.revocationPercentage = 40_000
            },
            Shop.entry(13, "2025-04-05", of: Desk.other, "best", price: 20_000, "EUR", "FRA"),
            Shop.entry(15, "2025-03-10", price: 5_000, signed: refund) { $0.revocationDate = refund },
        ])
        try await buy([
            Shop.entry(15, "2025-03-10", price: 5_000, record: 115, signed: Shop.instant("2025-05-20"))
        ])
        _ = try await number(of: Desk.purchase(10))
        try await sum()
    }
}

/// A figure, as a client reads it.
struct ReadFigure: Decodable {
    struct Column: Decodable, Equatable {
        var name: String
        var unit: String
    }

    struct Cell: Decodable {
        var period: String
        var group: String?
        var currency: String?
        var values: [Int64?]
        var notConverted: Bool?
        var running: Bool
        var upToDate: Bool
        var proven: Bool
        var rows: String

        /// Without what is not final, in a line.
        var words: String {
            ([period, group, currency].compactMap(\.self) + values.map { $0.map { "\($0)" } ?? "-" })
                .joined(separator: " ")
        }
    }

    struct Row: Decodable {
        var at: String
        var measure: String
        var amount: Int64?
        var converted: Int64?
    }

    struct Page: Decodable { var rows: [Row] }

    var columns: [Column]
    var cells: [Cell]
}

extension Answer {
    func figure() throws -> ReadFigure { try JSONDecoder().decode(ReadFigure.self, from: Data(body.utf8)) }
    func rows() throws -> [ReadFigure.Row] {
        try JSONDecoder().decode(ReadFigure.Page.self, from: Data(body.utf8)).rows
    }
}
