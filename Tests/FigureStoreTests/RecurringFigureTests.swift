import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// Monthly recurring revenue, its movements and churn of small shops, worked by hand.
@Suite("Figures of recurring revenue")
struct RecurringFigureTests {
    static let account = UniqueIdentifier(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)
    private static let other = UniqueIdentifier(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)

    /// A period of a subscription, and what Apple says of it.
    static func period(
        _ line: String, _ id: String, _ day: Int64, hours: Int64 = 12, days: Int64 = 30, _ product: String = "basic",
        price: Int64? = 9_990, of account: UniqueIdentifier? = nil, first: Int64 = 0, signed: Int64? = nil,
        intent: ExpirationIntent? = nil, grace: Int64? = nil, status: AppleStatus? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        var renewal: RenewalInfoPayload?
        if status != nil {
            renewal = RenewalInfoPayload(
                originalTransactionId: line, signedDate: Shop.day(signed ?? day, hours: hours), productId: product,
                autoRenewProductId: product, autoRenewStatus: intent == .customerCancelled ? .off : .on,
                expirationIntent: intent, isInBillingRetryPeriod: intent == .billing ? true : nil,
                gracePeriodExpiresDate: grace.map { Shop.day($0, hours: hours) })
        }
        return Shop.entry(
            line, id, at: Shop.day(day, hours: hours), days: days, product: product, renewal: line != id, price: price,
            first: Shop.day(first, hours: hours), signed: Shop.day(signed ?? day, hours: hours), status: status,
            renewalInfo: renewal
        ) { payload in
            payload.appAccountToken = account
            change(&payload)
        }
    }

    private func same(
        _ found: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    @Test("a month and a year, an upgrade, a cancellation that still runs, and an end")
    func worked() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                // 9.99 a month, from 1 January; on the 21st 19.98, which ends on 20 February by the customer's decision.
                Self.period("1", "1", 0), Self.period("1", "2", 20, "premium", price: 19_980),
                Self.period(
                    "1", "2", 20, "premium", price: 19_980, signed: 50, intent: .customerCancelled, status: .expired),
                // 100.00 a year are 8.33 a month, half to even; from 11 January on.
                Self.period("9", "9", 10, days: 365, "yearly", price: 100_000, first: 10),
                // Free: in no revenue. And a charge that is not known.
                Self.period("5", "5", 3, first: 3) { ($0.price, $0.offerType) = (0, .introductory) },
                Self.period("6", "6", 4, price: nil, first: 4) { $0.currency = nil })
            try await database.settle()
            same(
                try await database.lines(.mrr, "2026-01-01", "2026-03-31", by: .month),
                [
                    "2026-01-01 none 0 0 0 1", "2026-01-01 USD 28313 339756 2 0",
                    "2026-02-01 USD 8333 99996 1 0", "2026-03-01 USD 8333 99996 1 0",
                ])
            same(
                try await database.lines(.mrr, "2026-01-20", "2026-01-22"),
                [
                    "2026-01-20 none 0 0 0 1", "2026-01-20 USD 18323 219876 2 0", "2026-01-21 none 0 0 0 1",
                    "2026-01-21 USD 28313 339756 2 0", "2026-01-22 none 0 0 0 1", "2026-01-22 USD 28313 339756 2 0",
                ])
            same(
                try await database.lines(.mrr, "2026-01-20", "2026-02-20", by: .month, .product),
                [
                    "2026-01-01 basic none 0 0 0 1", "2026-01-01 premium USD 19980 239760 1 0",
                    "2026-01-01 yearly USD 8333 99996 1 0", "2026-02-01 yearly USD 8333 99996 1 0",
                ])
            // moved, start, new, reactivation, expansion, contraction, churn voluntary, billing and other, rates, end.
            same(
                try await database.lines(.mrrMovements, "2026-01-01", "2026-03-31", by: .month),
                [
                    "2026-01-01 USD 28313 0 18323 0 9990 0 0 0 0 0 28313",
                    "2026-02-01 USD -19980 28313 0 0 0 0 -19980 0 0 0 8333",
                    "2026-03-01 USD 0 8333 0 0 0 0 0 0 0 0 8333",
                ])
            same(
                try await database.lines(.active, "2026-01-01", "2026-03-31", by: .month),
                [
                    "2026-01-01 2", "2026-02-01 1", "2026-03-01 1",
                ])
            // churn, lost, voluntary, billing, other, came back, paid before.
            same(
                try await database.lines(.churn, "2026-01-01", "2026-03-31", by: .month),
                [
                    "2026-02-01 50000 1 1 0 0 0 2", "2026-03-01 0 0 0 0 0 0 1",
                ])
            // Each opens to the rows that it counts.
            let movements = try await database.rows(
                FigureRowQuestion(database.question(.mrrMovements, "2026-01-01", "2026-02-28", by: .month)))
            #expect(
                movements.map { "\($0.measure.rawValue) \($0.transactionID ?? "-") \($0.amount ?? 0)" } == [
                    "new 1 9990", "new 9 8333", "expansion 1 -9990", "expansion 2 19980", "churn_voluntary 2 -19980",
                ])
            let standing = try await database.rows(
                FigureRowQuestion(database.question(.mrr, "2026-01-01", "2026-01-31", by: .month)))
            #expect(standing.map { "\($0.transactionID ?? "-") \($0.amount ?? -1)" } == ["2 19980", "9 8333", "6 -1"])
            let paying = try await database.rows(
                FigureRowQuestion(database.question(.active, "2026-01-01", "2026-01-31", by: .month)))
            #expect(paying.map(\.transactionID) == ["2", "9"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a failed charge in grace, a stop, and a return in the same month and in another one")
    func stopped() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.period("1", "1", 0),
                // Ends on 31 January in grace, which ends on 16 February.
                Self.period("1", "1", 0, signed: 30, intent: .billing, grace: 46, status: .gracePeriod),
                Self.period("1", "1", 0, signed: 46, intent: .billing, status: .expired),
                // Back on 20 February for a month, and for 4.99 from 1 April on.
                Self.period("1", "2", 50), Self.period("1", "3", 90, price: 4_990))
            try await database.settle()
            same(
                try await database.lines(.mrrMovements, "2026-01-01", "2026-04-30", by: .month),
                [
                    "2026-01-01 USD 9990 0 9990 0 0 0 0 0 0 0 9990",
                    "2026-02-01 USD 0 9990 0 9990 0 0 0 -9990 0 0 9990",
                    "2026-03-01 USD -9990 9990 0 0 0 0 0 0 -9990 0 0",
                    "2026-04-01 USD 4990 0 0 4990 0 0 0 0 0 0 4990",
                ])
            same(
                try await database.lines(.churn, "2026-01-01", "2026-04-30", by: .month),
                [
                    "2026-02-01 0 1 0 1 0 1 1", "2026-03-01 100000 1 0 0 1 0 1",
                ])
            same(
                try await database.lines(.active, "2026-03-20", "2026-03-23"),
                ["2026-03-20 1", "2026-03-21 1"])
        }
    }

    @Test("two purchases of one account are one customer, and a purchase that two accounts had is one of its own")
    func accounts() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.period("1", "1", 0, of: Self.account), Self.period("2", "2", 10, of: Self.account, first: 10))
            try await database.settle()
            let (from, to) = ("2026-01-01", "2026-02-28")
            same(
                try await database.lines(.mrrMovements, from, to, by: .month),
                [
                    "2026-01-01 USD 9990 0 9990 0 9990 -9990 0 0 0 0 9990",
                    "2026-02-01 USD -9990 9990 0 0 0 0 0 0 -9990 0 0",
                ])
            same(
                try await database.lines(.active, from, "2026-01-31", by: .month),
                ["2026-01-01 1"])
            // The first renews for another account: the purchase is a customer of its own then, for all of its time.
            try await database.hear(Self.period("1", "3", 30, of: Self.other))
            try await database.settle()
            same(
                try await database.lines(.mrrMovements, from, to, by: .month),
                [
                    "2026-01-01 USD 19980 0 19980 0 0 0 0 0 0 0 19980",
                    "2026-02-01 USD -9990 19980 0 0 0 0 0 0 -9990 0 9990",
                ])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a late record changes later days of the customer, and only days with other values")
    func heardLate() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.period("1", "3", 90, first: 0), Self.period("2", "2", 95, of: Self.account, first: 95))
            try await database.settle()
            same(
                try await database.lines(.mrrMovements, "2026-04-01", "2026-04-30", by: .month),
                [
                    "2026-04-01 USD 19980 0 19980 0 0 0 0 0 0 0 19980"
                ])
            // A purchase of the same line in January: that of April is a return.
            try await database.hear(Self.period("1", "1", 0))
            // And one of the account that ran in April: that one adds to it.
            try await database.hear(Self.period("4", "4", 80, of: Self.account, first: 80))
            try await database.settle()
            same(
                try await database.lines(.mrrMovements, "2026-04-01", "2026-04-30", by: .month),
                [
                    "2026-04-01 USD 9990 9990 0 9990 9990 -9990 0 0 0 0 19980"
                ])
            // A full refund in March, which arrives a year later: the day in April of the purchase's end no longer has it.
            try await database.hear(
                Self.period("4", "4", 80, of: Self.account, first: 80, signed: 400) {
                    $0.revocationDate = Shop.day(85)
                })
            try await database.settle()
            same(
                try await database.lines(.mrrMovements, "2026-03-01", "2026-04-30", by: .month),
                [
                    "2026-03-01 USD 0 0 9990 0 0 0 0 0 -9990 0 0", "2026-04-01 USD 19980 0 0 19980 0 0 0 0 0 0 19980",
                ])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a late record changes the next payment of the account, also behind a free period of another purchase")
    func nextPayment() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.period("1", "1", 0, of: Self.account), Self.period("2", "2", 10, of: Self.account, first: 10),
                Self.period("2", "3", 65, days: 10, price: 0, of: Self.account, first: 10) {
                    $0.offerType = .introductory
                },
                Self.period("2", "4", 75, of: Self.account, first: 10))
            try await database.settle()
            func churn() async throws -> [String] {
                try await database.lines(.churn, "2026-01-01", "2026-03-31", by: .month)
            }
            // Paid until 10 February, and again from 17 March on.
            same(try await churn(), ["2026-02-01 100000 1 0 0 1 0 1"])
            // Paid until 4 March: the return of 17 March is one in the same month.
            try await database.hear(Self.period("1", "5", 32, of: Self.account))
            try await database.settle()
            same(try await churn(), ["2026-02-01 0 0 0 0 0 0 1", "2026-03-01 0 1 0 0 1 1 1"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("another catalog's periods change what is paid a month, also on days long ago")
    func catalogs() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.period("1", "1", 0, days: 365, "unheard", price: 120_000))
            try await database.settle()
            // No catalog knows it: a year is nearest to its end.
            let (from, to) = ("2026-02-01", "2026-02-28")
            same(
                try await database.lines(.mrr, from, to, by: .month),
                ["2026-02-01 USD 10000 120000 1 0"])
            let plan = FigurePlan(bundleID: Shop.app, productID: "unheard", quarters: 24, groupID: "")
            #expect(try await database.figures.isDue(in: "UTC", plans: [plan]))
            while try await database.figures.sum(in: "UTC", plans: [plan]) {}
            #expect(try await !database.figures.isDue(in: "UTC", plans: [plan]))
            same(
                try await database.lines(.mrr, from, to, by: .month),
                ["2026-02-01 USD 20000 240000 1 0"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("nothing begins or ends before its instant, and does so soon after it without a word of Apple's")
    func turning() async throws {
        try await FigureDatabase.with { database in
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            // One ends in an hour, and another one begins then.
            try await database.hear(
                Shop.entry("1", at: now.adding(days: -30).adding(seconds: 3600)),
                Shop.entry("2", at: now.adding(seconds: 3600)))
            try await database.settle()
            let cells = {
                try await database.site.texts(
                    "select measure || ' ' || count from storehook.figure_cells where measure in ('enter', 'leave') order by 1"
                )
            }
            #expect(try await cells() == ["enter 1"])
            // As an hour later: nothing of the books changed meanwhile, so that nothing is marked.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    update storehook.booked_transactions set ends_at = now() - interval '30 seconds' where item = 'w1';
                    update storehook.figure_state set turned_until = now() - interval '2 minutes';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(try await cells() == ["enter 1", "leave 1"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("converted, each period has the rate of its own day, and what renewals at other rates change stands apart")
    func converted() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-01 USD 2", "2026-01-31 USD 4")
            try await database.hear(Self.period("1", "1", 0), Self.period("1", "2", 30))
            let expected = [
                "2026-01-01 EUR 4995 0 4995 0 0 0 0 0 0 -2497 2498", "2026-02-01 EUR 0 2498 0 0 0 0 0 0 0 0 2498",
                "2026-03-01 EUR -2498 2498 0 0 0 0 0 0 -2498 0 0",
            ]
            func lines() async throws -> [String] {
                try await database.lines(.mrrMovements, "2026-01-01", "2026-03-31", by: .month, in: "EUR")
            }
            // Worked out when it is asked for, and kept.
            try await database.settle()
            same(try await lines(), expected)
            try await database.settle(currency: "EUR")
            same(try await lines(), expected)
            same(
                try await database.lines(.mrr, "2026-01-31", "2026-02-01", .product, in: "EUR"),
                [
                    "2026-01-31 basic EUR 2498 29976 1 0", "2026-02-01 basic EUR 2498 29976 1 0",
                ])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test(
        "pages of any length are the same rows in the same order",
        arguments: [Figure.mrr, .mrrMovements, .active, .churn])
    func pages(_ figure: Figure) async throws {
        try await FigureDatabase.with { database in
            for line in 1...6 as ClosedRange<Int64> {
                try await database.hear(
                    Self.period("\(line)", "\(line)", line, first: line),
                    Self.period("\(line)", "\(line)0", line + 20, "premium", first: line),
                    Self.period("\(line)", "\(line)1", line + 52, first: line))
            }
            try await database.settle()
            let asked = FigureRowQuestion(try database.question(figure, "2026-01-01", "2026-02-28"))
            let whole = try await database.rows(asked, limit: 1_000)
            #expect(whole.count >= 6, "\(whole.count)")
            let instants = whole.map(\.at)
            let isLatestFirst = [Figure.mrr, .active].contains(figure)
            #expect(instants == (isLatestFirst ? instants.sorted(by: >) : instants.sorted()))
            for limit in [1, 2, 5] { #expect(try await database.rows(asked, limit: limit) == whole, "\(limit)") }
        }
    }

    @Test("customers are apart by app alone")
    func splits() async throws {
        try await FigureDatabase.with { database in
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.active, "2026-01-01", by: .month, .product).check()
            }
            try database.question(.churn, "2026-01-01", by: .month, .app).check()
            try database.question(.mrr, "2026-01-01", by: .month, .product).check()
        }
    }

    @Test("a closed month has what stood at its end, and later records are corrections")
    func closed() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.period("1", "1", 0, days: 45), Self.period("2", "2", 10, first: 10))
            try await database.settle()
            let month = try #require(FigureMonth("2026-01"))
            _ = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            try await database.hear(
                Self.period("2", "2", 10, first: 10, signed: 20) { $0.revocationDate = Shop.day(20) })
            try await database.settle()
            let question = { try database.question($0, "2026-01-01", "2026-01-31", by: .month) }
            same(
                try await database.figures.closedAnswer(question(.mrr)).lines,
                ["2026-01-01 USD 19980 239760 2 0"])
            same(
                try await database.lines(.mrr, "2026-01-01", "2026-01-31", by: .month),
                [
                    "2026-01-01 USD 9990 119880 1 0"
                ])
            same(
                try await database.figures.closedAnswer(question(.mrrMovements)).lines,
                ["2026-01-01 USD 19980 0 19980 0 0 0 0 0 0 0 19980"])
            same(
                try await database.figures.closedAnswer(question(.active)).lines,
                ["2026-01-01 2"])
            same(
                try await database.figures.closedAnswer(question(.churn)).lines,
                ["2026-01-01 - 0 0 0 0 0 0"])
            let corrections = try await database.figures.corrections(question(.mrr), limit: 10).elements
            #expect(corrections.map { $0.was?.amount } == [9_990])
            #expect(corrections.map { $0.now?.amount } == [nil])
            #expect(try await database.figures.corrections(question(.active), limit: 10).elements.count == 1)
            #expect(try await database.figures.corrections(question(.churn), limit: 10).elements.count == 1)
        }
    }
}
