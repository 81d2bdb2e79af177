import AccountStore
import Accounts
import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Pipeline
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Figures of what apps report, worked by hand.
@Suite("Figures of attempts and restores")
struct AttemptFigureTests {
    private static func month(_ figure: Figure, _ database: FigureDatabase) throws -> FigureRowQuestion {
        FigureRowQuestion(try database.question(figure, "2026-01-01", "2026-01-31", by: .month))
    }

    /// Ten attempts in January: three completed, two failed, three cancelled, and two pending for too long.
    private static func fill(_ database: FigureDatabase) async throws {
        let site = database.site
        try await database.hear(
            Shop.bought("1", at: Shop.day(0, hours: 2), as: "1"), Shop.bought("2", at: Shop.day(0, hours: 3), as: "2"),
            Shop.bought("3", at: Shop.day(4), product: "premium", as: "3"))
        try await site.report("completed", at: Shop.day(0, hours: 2), as: "1")
        // Failed, and completed within a day: one attempt.
        try await site.report("failed", at: Shop.day(0, hours: 1), as: "2")
        try await site.report("completed", at: Shop.day(0, hours: 3), as: "2")
        // Failed, and bought on the next day.
        try await site.report("failed", at: Shop.day(3, hours: 2), of: "premium", as: "3")
        try await site.report("failed", at: Shop.day(0), as: "4")
        // Two reports are one attempt, with the latest outcome.
        try await site.report("cancelled", at: Shop.day(1), as: "5")
        try await site.report("failed", at: Shop.day(1, hours: 24), as: "5")
        try await site.report("cancelled", at: Shop.day(5), as: "6")
        try await site.report("failed", at: Shop.day(6), as: "7")
        try await site.report("cancelled", at: Shop.day(6, hours: 1), as: "7")
        // Of a product that the catalog lacks.
        try await site.report("cancelled", at: Shop.day(7), of: "Ann Miller", as: "8")
        // Pending for more than 7 days, one as completed.
        try await site.report("pending", at: Shop.day(8), as: "9")
        try await site.report("completed", at: Shop.day(9), as: "10")
        try await site.step()
        try await database.settle()
    }

    @Test("failed of completed and failed, a report and another one within a day as one, and pending ones for 7 days")
    func attempts() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            // rate, failed, completed, cancelled, pending.
            #expect(
                try await database.lines(.purchaseFailureRate, "2026-01-01", "2026-01-31", by: .month)
                    == ["2026-01-01 40000 2 3 5 0"])
            #expect(
                try await database.lines(.purchaseFailureRate, "2026-01-01", "2026-01-10") == [
                    "2026-01-01 33333 1 2 0 0", "2026-01-02 100000 1 0 0 0", "2026-01-04 0 0 1 0 0",
                    "2026-01-06 - 0 0 1 0", "2026-01-07 - 0 0 1 0", "2026-01-08 - 0 0 1 0", "2026-01-09 - 0 0 1 0",
                    "2026-01-10 - 0 0 1 0",
                ])
            #expect(
                try await database.lines(.purchaseFailureRate, "2026-01-01", "2026-01-31", by: .month, .product) == [
                    "2026-01-01 none - 0 0 1 0", "2026-01-01 basic 50000 2 2 4 0", "2026-01-01 premium 0 0 1 0 0",
                ])
            #expect(
                try await database.lines(.purchaseFailureRate, "2026-01-01", "2026-01-31", by: .month, .app) == [
                    "2026-01-01 none - 0 0 1 0", "2026-01-01 com.example.app 40000 2 3 4 0",
                ])
            let question = try database.question(.purchaseFailureRate, "2026-01-01", "2026-01-31", .country)
            #expect(throws: FigureQuestion.NoSplit.self) { try question.check() }
            // Each opens to its rows, which have the order's number and the transaction that completed it.
            let asked = try Self.month(.purchaseFailureRate, database)
            let rows = try await database.rows(asked)
            #expect(
                rows.map { "\($0.measure.rawValue) \($0.productID ?? "none") \($0.transactionID ?? "-")" } == [
                    "attempt_failed basic -", "attempt_completed basic 2", "attempt_completed basic 1",
                    "attempt_failed basic -", "attempt_completed premium 3", "attempt_cancelled basic -",
                    "attempt_cancelled basic -", "attempt_cancelled none -", "attempt_cancelled basic -",
                    "attempt_cancelled basic -",
                ])
            #expect(rows.allSatisfy { $0.order != nil && $0.amount == nil && $0.currency == nil })
            for limit in [1, 3] { #expect(try await database.rows(asked, limit: limit) == rows) }
            var premium = asked
            premium.productID = "premium"
            #expect(try await database.rows(premium).map(\.transactionID) == ["3"])
            #expect(try await database.differences().isEmpty)
            // What an app wrote in the place of a product is in no table of figures.
            #expect(try await database.tables().allSatisfy { !$0.contains("Miller") })
        }
    }

    @Test("what comes of an attempt marks its day: an outcome, time, a late transaction, and one that goes again")
    func marked() async throws {
        try await FigureDatabase.with { database in
            let site = database.site
            func rate() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                return try await database.lines(.purchaseFailureRate, "2020-01-01", "2100-01-01", by: .month)
                    .map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
            }
            let now = try await site.clock()
            try await site.report("pending", at: now.adding(seconds: -60))
            try await site.step()
            #expect(try await rate() == ["- 0 0 0 1"])
            try await site.report("failed", at: now.adding(seconds: -50))
            try await site.step()
            #expect(try await rate() == ["100000 1 0 0 0"])
            try await site.report("pending", at: now.adding(seconds: -40))
            try await site.step()
            #expect(try await rate() == ["- 0 0 0 1"])
            try await site.match(at: now.adding(days: 7))
            #expect(try await rate() == ["- 0 0 1 0"])
            // Its transaction comes late, and turns out to be one that the family shares.
            try await database.hear(Shop.bought("1", at: now.adding(seconds: -30)))
            try await site.match(at: now.adding(days: 7))
            #expect(try await rate() == ["0 0 1 0 0"])
            try await database.hear(
                Shop.entry("1", at: now.adding(seconds: -30), price: nil, signed: now.adding(seconds: -20)) {
                    $0.inAppOwnershipType = .familyShared
                })
            try await site.match(at: now.adding(days: 7))
            #expect(try await rate() == ["- 0 0 1 0"])
        }
    }

    @Test("what an account attempts beyond 20 a day does not count")
    func surplus() async throws {
        try await FigureDatabase.with { database in
            for number in 0..<25 { try await database.site.report("failed", at: Shop.day(0), of: "product-\(number)") }
            try await database.site.step()
            try await database.settle()
            #expect(try await database.lines(.purchaseFailureRate, "2026-01-01") == ["2026-01-01 100000 20 0 0 0"])
        }
    }

    /// Restores of January: two completed, one failed, two found nothing, one cancelled and one pending.
    private static func restore(_ database: FigureDatabase) async throws {
        let outcomes = ["completed", "failed", "nothing", "completed", "nothing", "cancelled", "pending"]
        for (place, outcome) in outcomes.enumerated() {
            let product: String? = place < 2 ? "basic" : place == 2 ? "Ann Miller" : nil
            try await database.site.report(
                outcome, at: Shop.day(0, hours: Int64(place) * 5), of: product, kind: "restore")
        }
        try await database.site.report("failed", at: Shop.day(0), kind: "restore", environment: "Sandbox")
        try await database.site.step()
        try await database.settle()
    }

    @Test("restores by their day, product and app, each with its row; other environments are apart")
    func restores() async throws {
        try await FigureDatabase.with { database in
            try await Self.restore(database)
            let (from, to) = ("2026-01-01", "2026-01-31")
            // rate, completed, failed, nothing, cancelled.
            #expect(
                try await database.lines(.restoreSuccessRate, from, to, by: .month) == ["2026-01-01 66667 2 1 2 1"])
            #expect(
                try await database.lines(.restoreSuccessRate, "2026-01-01", "2026-01-02")
                    == ["2026-01-01 66667 2 1 2 0", "2026-01-02 - 0 0 0 1"])
            #expect(
                try await database.lines(.restoreSuccessRate, from, to, by: .month, .product)
                    == ["2026-01-01 none 100000 1 0 2 1", "2026-01-01 basic 50000 1 1 0 0"])
            #expect(
                try await database.lines(.restoreSuccessRate, from, to, by: .month, apps: [Shop.app])
                    == ["2026-01-01 50000 1 1 0 0"])
            #expect(
                try await database.lines(.restoreSuccessRate, from, to, by: .month, environment: "Sandbox")
                    == ["2026-01-01 0 0 1 0 0"])
            let asked = try Self.month(.restoreSuccessRate, database)
            let rows = try await database.rows(asked)
            #expect(
                rows.map(\.measure) == [
                    .restoreCompleted, .restoreFailed, .restoreNothing, .restoreCompleted, .restoreNothing,
                    .restoreCancelled,
                ])
            #expect(rows.map(\.productID) == ["basic", "basic", nil, nil, nil, nil])
            #expect(rows.allSatisfy { $0.order == nil && $0.transactionID == nil })
            for limit in [1, 4] { #expect(try await database.rows(asked, limit: limit) == rows) }
            #expect(try await database.differences().isEmpty)
            // Without a mark it is found by holding the days against the reports.
            try await database.site.pool.query(
                "update storehook.reported_restores set at = at + interval '60 days' where outcome = 'failed'")
            try await database.site.pool.query("delete from storehook.figure_marks")
            #expect(try await !database.differences(repair: true).isEmpty)
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            #expect(try await database.lines(.restoreSuccessRate, "2026-03-02") == ["2026-03-02 0 0 1 0 0"])
        }
    }

    @Test("neither an erasure nor the age of reports changes a number")
    func kept() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await Self.restore(database)
            // But for how many accounts there are, and how many of these paid.
            func kept() async throws -> [String] {
                try await database.tables().filter { !$0.contains("\"account_") }
            }
            let before = try await kept()
            // Of a restore, and of attempts that failed, were completed, and are of no known product.
            for account: AccountIdentity in ["ann", "2", "4", "8"] {
                #expect(try await EvidencePipeline(database.site.pool).erase(account, by: "staff") != nil)
            }
            try await database.site.step()
            try await database.settle()
            #expect(try await kept() == before)
            #expect(try await database.site.accounts.dropAttempts(keeping: 0) == 9)
            #expect(
                try await database.site.texts("select count(*)::text from storehook.purchase_attempts") == ["0"])
            try await database.site.step()
            try await database.settle()
            #expect(try await kept() == before)
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a database of before has its attempts and restores summed once")
    func earlier() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await Self.restore(database)
            let right = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_cells where measure like 'attempt%' or measure like 'restore%';
                    delete from storehook.figure_sums where measure like 'attempt%' or measure like 'restore%';
                    update storehook.figure_state set content = 2;
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await database.tables() == right)
            #expect(try await !database.figures.isDue(in: "UTC"))
        }
    }

    @Test("attempts and restores of a closed month stay, and what became of them since is its corrections")
    func closed() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await Self.restore(database)
            let month = try #require(FigureMonth("2026-01"))
            _ = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            // A transaction completes what had failed, and a report of a restore comes late.
            try await database.hear(Shop.bought("4", at: Shop.day(0, hours: 5), as: "4"))
            try await database.site.report("nothing", at: Shop.day(2), kind: "restore")
            try await database.site.step()
            try await database.settle()
            for (figure, closed, now, changes) in [
                (
                    Figure.purchaseFailureRate, "40000 2 3 5 0", "20000 1 4 5 0",
                    ["- attempt_completed 4", "attempt_failed - -"]
                ),
                (Figure.restoreSuccessRate, "66667 2 1 2 1", "66667 2 1 3 1", ["- restore_nothing -"]),
            ] {
                let question = try database.question(figure, "2026-01-01", "2026-01-31", by: .month)
                #expect(try await database.figures.closedAnswer(question).lines == ["2026-01-01 \(closed)"])
                #expect(try await database.figures.answer(question).lines == ["2026-01-01 \(now)"])
                let corrections = try await database.figures.corrections(question, limit: 10).elements
                #expect(
                    corrections.map {
                        "\($0.was?.measure.rawValue ?? "-") \($0.now?.measure.rawValue ?? "-") \($0.now?.transactionID ?? "-")"
                    }.sorted() == changes)
                var (pages, cursor) = ([FigureCorrection](), ListCursor?.none)
                repeat {
                    let page = try await database.figures.corrections(question, after: cursor, limit: 1)
                    (pages, cursor) = (pages + page.elements, page.next)
                } while cursor != nil
                #expect(pages == corrections)
            }
        }
    }
}
