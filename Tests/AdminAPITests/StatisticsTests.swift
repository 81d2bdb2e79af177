import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import Postgres
import PurchaseStore
import Staff
import TestSupport
import Testing

/// The statistics of the admin API, from a shop that is added up by hand.
struct StatisticsTests {
    /// Two orders of today; and two of 40 days ago: one is refunded in part today, and one is the other app's.
    private func openShop(_ desk: RunningDesk) async throws -> (today: CalendarDay, before: CalendarDay) {
        let today = try await FigureStore(desk.observer).today()
        let before = CalendarDay(number: today.number - 40)
        let refund = try #require(Timestamp(iso8601: "\(today)T00:00:00Z"))
        try await desk.buy([
            Shop.entry(10, "\(today)", price: 9_990), Shop.entry(11, "\(today)", price: 4_990, "USD", "USA"),
            Shop.entry(12, "\(before)", price: 9_990, signed: refund) { transaction in
                transaction.revocationDate = refund
                transaction.revocationPercentage = 40_000
            }, Shop.entry(13, "\(before)", of: Desk.other, "best", price: 20_000),
        ])
        let admin = try await desk.member(.admin, mail: "boss@example.com").token
        for key in [Desk.purchase(10), Desk.purchase(13, of: Desk.other), Desk.purchase(11)] {
            let number = try await desk.number(of: key)
            let asked = try await desk.post(
                "/admin/orders/\(number)/refund-requests", admin, #"{"type": "full", "reason": "why"}"#)
            #expect(asked.status == 201, "\(asked.body)")
        }
        // One is decided, and waits no more.
        let rejected = try await desk.post("/admin/refund-requests/RF-003/reject", admin, #"{"note": "no"}"#)
        #expect(rejected.status == 200, "\(rejected.body)")
        try await desk.sum()
        return (today, before)
    }

    @Test("Orders: in all and today, by currency, of a member's apps alone")
    func orders() async throws {
        try await withDesk { desk in
            let shop = try await openShop(desk)
            func statistics(_ query: String, _ token: String) async throws -> [String: String] {
                let answer = try await desk.get("/admin/orders/stats\(query)", token)
                #expect(answer.status == 200, "\(answer.body)")
                // Where the day has turned since, nothing was bought today.
                let isToday = answer.object?.string("today") == "\(shop.today)"
                var members: [String: String] = ["isToday": "\(isToday)"]
                for (name, value) in try #require(
                    try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
                {
                    if let list = value as? [[String: Any]] {
                        members[name] = list.map { "\($0["currency"] ?? "") \($0["amount"] ?? $0["share"] ?? "")" }
                            .joined(separator: ", ")
                    } else {
                        members[name] = "\(value)"
                    }
                }
                return members
            }
            func hold(_ found: [String: String], _ expected: [String: String], _ about: String) {
                for (name, value) in expected {
                    if name.hasPrefix("today"), found["isToday"] == "false" { continue }
                    #expect(found[name] == value, "\(about): \(name) is \(found[name] ?? "missing")")
                }
            }
            // With the two of every desk, which have no price.
            let whole = [
                "totalOrders": "6", "totalRevenue": "EUR 39980, USD 4990", "todayOrders": "2",
                "todayRevenue": "EUR 9990, USD 4990", "pendingRefunds": "2", "totalRefunded": "EUR 3996",
                "refundRate": "EUR 9995, USD 0", "unpriced": "2", "unknownRefunds": "0", "zone": "UTC",
                "environment": "Production",
            ]
            let own = [
                "totalOrders": "4", "totalRevenue": "EUR 19980, USD 4990", "todayOrders": "2",
                "todayRevenue": "EUR 9990, USD 4990", "pendingRefunds": "1", "totalRefunded": "EUR 3996",
                "refundRate": "EUR 20000, USD 0", "unpriced": "1",
            ]
            let nothing = [
                "totalOrders": "0", "totalRevenue": "", "todayOrders": "0", "todayRevenue": "", "pendingRefunds": "0",
                "totalRefunded": "", "refundRate": "", "unpriced": "0",
            ]
            let viewer = try await desk.member(.viewer).token
            let some = try await desk.member(.viewer, of: [Desk.app]).token
            hold(try await statistics("", viewer), whole, "all")
            hold(try await statistics("?app=\(Desk.app)", viewer), own, "one app")
            hold(try await statistics("", some), own, "of some apps")
            hold(try await statistics("?app=\(Desk.other)", some), nothing, "another app")
            hold(try await statistics("?environment=Sandbox", viewer), nothing, "Sandbox")
            let (theirs, none) = (
                try await desk.get("/admin/orders/stats?app=\(Desk.other)", some),
                try await desk.get("/admin/orders/stats?app=com.example.none", some)
            )
            #expect(theirs.body == none.body)
            #expect(try await statistics("", viewer)["upToDate"] == "1")
            _ = try await desk.order(20)
            #expect(try await statistics("", viewer)["upToDate"] == "0")
            for path in ["/admin/orders/stats", "/admin/support/stats"] {
                #expect(try await desk.get(path).status == 401)
                for query in ["environment=production", "app="] {
                    #expect(try await desk.get("\(path)?\(query)", viewer).status == 400, "\(path) \(query)")
                }
            }
        }
    }

    @Test("A month that is summed wrongly is found, and made anew: with its products and without")
    func check() async throws {
        try await withDesk { desk in
            _ = try await openShop(desk)
            let figures = FigureStore(desk.observer)
            let viewer = try await desk.member(.viewer).token
            func body() async throws -> String { try await desk.get("/admin/orders/stats", viewer).body }
            let right = try await body()
            #expect(try await figures.check(repair: false) { _ in } == 0)
            for grain in ["month_product", "month_country", "plain_month", "day"] {
                try await desk.observer.query(
                    "update storehook.figure_sums set amount = amount + 1 where grain = \(grain) and measure = 'refund'"
                )
                #expect(try await body() == right || grain == "plain_month")
                var tables: [String] = []
                #expect(try await figures.check(repair: true) { tables.append($0.table) } == 2, "\(grain)")
                #expect(tables == ["figure_sums", "figure_sums"])
                #expect(try await figures.check(repair: false) { _ in } == 0)
                #expect(try await body() == right)
            }
        }
    }

    @Test("Revenue by month: the last twelve, the latest first, also months without revenue")
    func trends() async throws {
        try await withDesk { desk in
            // The months stay the same in a test that runs across midnight, but where a month ends.
            let shop = try await openShop(desk)
            func trends(_ query: String, _ token: String) async throws -> [ReadTrends.Trend] {
                let answer = try await desk.get("/admin/support/stats\(query)", token)
                #expect(answer.status == 200, "\(answer.body)")
                return try JSONDecoder().decode(ReadTrends.self, from: Data(answer.body.utf8)).revenueTrends
            }
            func revenue(_ trends: [ReadTrends.Trend], _ day: CalendarDay) -> [String] {
                trends.filter { $0.date == "\(FigureMonth(day))" }
                    .flatMap { $0.revenue.map { "\($0.currency) \($0.amount)" } }
            }
            let viewer = try await desk.member(.viewer).token
            let some = try await desk.member(.viewer, of: [Desk.app]).token
            let all = try await trends("", viewer)
            #expect(all.count == 12 && all.map(\.date) == all.map(\.date).sorted(by: >), "\(all)")
            #expect(revenue(all, shop.today) == ["EUR 9990", "USD 4990"])
            #expect(revenue(all, shop.before) == ["EUR 29990"])
            #expect(all.count { !$0.revenue.isEmpty } == 2)
            #expect(all.map(\.running) == [true] + Array(repeating: false, count: 11))
            #expect(all.allSatisfy { $0.upToDate && !$0.proven })
            #expect(revenue(try await trends("", some), shop.before) == ["EUR 9990"])
            #expect(try await trends("?app=\(Desk.other)", some).allSatisfy(\.revenue.isEmpty))
            #expect(revenue(try await trends("?app=\(Desk.other)", viewer), shop.before) == ["EUR 20000"])
        }
    }
}

/// What a client reads of revenue by month.
private struct ReadTrends: Decodable {
    struct Amount: Decodable {
        var currency: String
        var amount: Int64
    }
    struct Trend: Decodable {
        var date: String
        var revenue: [Amount]
        var running: Bool
        var upToDate: Bool
        var proven: Bool
    }
    var revenueTrends: [Trend]
}
