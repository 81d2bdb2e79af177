import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// Figures of trials of small shops, worked by hand.
@Suite("Figures of trials")
struct TrialFigureTests {
    private let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))

    /// A trial of a week, and what Apple says of its renewal.
    private static func trial(
        _ line: String, at start: Timestamp, days: Int64 = 7, signed: Timestamp? = nil, renews: Bool? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        let renewal = renews.map { renews in
            RenewalInfoPayload(
                originalTransactionId: line, signedDate: signed ?? start, productId: "basic",
                autoRenewProductId: "basic",
                autoRenewStatus: renews ? .on : .off)
        }
        return Shop.entry(
            line, at: start, days: days, price: 0, signed: signed, status: renews == nil ? nil : .active,
            renewalInfo: renewal
        ) { payload in
            (payload.offerType, payload.offerDiscountType) = (.introductory, .freeTrial)
            change(&payload)
        }
    }

    private func trial(
        _ line: String, _ day: Int64, days: Int64 = 7, signed: Int64? = nil, renews: Bool? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Self.trial(line, at: Shop.day(day), days: days, signed: signed.map { Shop.day($0) }, renews: renews, change)
    }

    private func paid(
        _ line: String, _ id: String, _ day: Int64, from first: Int64 = 0, _ product: String = "basic",
        price: Int64? = 9_990, signed: Int64? = nil, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            line, id, at: Shop.day(day), product: product, renewal: true, price: price, first: Shop.day(first),
            signed: signed.map { Shop.day($0) }, change)
    }

    @Test(
        "converted at once, late, by another product and for an unknown price; lapsed by decision, too late and never")
    func worked() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                // On 1 January: at its end, and on the 60th day after it.
                trial("1", 0), paid("1", "1b", 7),
                trial("2", 0), paid("2", "2b", 67),
                // A day later than that.
                trial("3", 0), paid("3", "3b", 68),
                // On 2 January: an upgrade within the trial, and a payment without a known price.
                trial("4", 1), paid("4", "4b", 4, from: 1, "premium", price: 19_980),
                trial("5", 1), paid("5", "5b", 8, from: 1, price: nil) { $0.currency = nil },
                // What follows is free as well; and nothing follows.
                trial("6", 1), paid("6", "6b", 8, from: 1, price: 0), trial("7", 1),
                // On 1 February: ended by the customer, with a payment within the 60 days.
                trial("8", 31), trial("8", 31, signed: 33, renews: false), paid("8", "8b", 50, from: 31),
                // Paid from the beginning: no trial.
                Shop.entry("9", at: Shop.day(2)))
            try await database.settle()
            // trials, converted, lapsed, open, and the app's own.
            #expect(
                try await database.lines(.trials, "2026-01-01", "2026-02-28", by: .month)
                    == ["2026-01-01 7 4 3 0 0 0 0 0", "2026-02-01 1 1 0 0 0 0 0 0"])
            #expect(
                try await database.lines(.trials, "2026-01-01", "2026-01-03")
                    == ["2026-01-01 3 2 1 0 0 0 0 0", "2026-01-02 4 2 2 0 0 0 0 0"])
            // rate, converted, trials, open, refunded, and the app's own.
            #expect(
                try await database.lines(.trialConversion, "2026-01-01", "2026-02-28", by: .month)
                    == ["2026-01-01 57143 4 7 0 0 - 0 0 0 0", "2026-02-01 100000 1 1 0 0 - 0 0 0 0"])
            // Each opens to its rows.
            let rows = try await database.rows(
                FigureRowQuestion(database.question(.trials, "2026-01-01", "2026-01-31", by: .month)))
            #expect(
                rows.map { "\($0.measure.rawValue) \($0.transactionID ?? "-")" } == [
                    "trial 1", "trial_converted 1", "trial 2", "trial_converted 2", "trial 3", "trial_lapsed 3",
                    "trial 4", "trial_converted 4", "trial 5", "trial_converted 5", "trial 6", "trial_lapsed 6",
                    "trial 7", "trial_lapsed 7",
                ])
            for limit in [1, 3] {
                let paged = try await database.rows(
                    FigureRowQuestion(database.question(.trials, "2026-01-01", "2026-01-31", by: .month)), limit: limit)
                #expect(paged == rows)
            }
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("open until it converts, until auto-renew was off at its end, and else for 60 days; time alone decides it")
    func turning() async throws {
        try await FigureDatabase.with { database in
            let start = now.adding(days: -8)
            try await database.hear(
                Self.trial("1", at: start, days: 30), Self.trial("2", at: start, days: 7),
                Self.trial("3", at: start, days: 7),
                Self.trial("3", at: start, days: 7, signed: start.adding(days: 1), renews: false),
                // Ends in an hour, with auto-renew off.
                Self.trial("4", at: start, days: 9),
                Self.trial("4", at: start, days: 9, signed: start.adding(days: 2), renews: false))
            try await database.settle()
            func outcomes() async throws -> [String] {
                try await database.rows(
                    FigureRowQuestion(
                        FigureQuestion(.trials, CalendarDay("2020-01-01")!...CalendarDay("2100-01-01")!, by: .month))
                ).filter { $0.measure != .trial }.map { "\($0.measure.rawValue) \($0.transactionID ?? "-")" }
            }
            func summed() async throws -> [String] {
                try await database.site.texts(
                    "select measure || ' ' || sum(count) from storehook.figure_cells where measure like 'trial%' group by measure order by 1"
                )
            }
            #expect(try await outcomes() == ["trial_lapsed 3"])
            #expect(try await summed() == ["trial 4", "trial_lapsed 1"])
            // As days and weeks later: nothing of the books changed meanwhile, so that nothing is marked.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    update storehook.booked_transactions set ends_at = now() - interval '30 seconds' where item = 'w4';
                    update storehook.booked_transactions set ends_at = now() - interval '60 days 30 seconds' where item = 'w2';
                    update storehook.figure_state set turned_until = now() - interval '2 minutes';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(try await summed() == ["trial 4", "trial_lapsed 3"])
            #expect(try await outcomes() == ["trial_lapsed 2", "trial_lapsed 3", "trial_lapsed 4"])
            // A late payment converts it all the same.
            try await database.hear(
                Shop.entry("3", "3b", at: now.adding(seconds: -60), renewal: true, first: start))
            try await database.settle()
            #expect(try await summed() == ["trial 4", "trial_converted 1", "trial_lapsed 2"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test(
        "a refund of the payment does not undo it and is counted, a reversal of that takes it back, and an earlier payment decides"
    )
    func refunded() async throws {
        try await FigureDatabase.with { database in
            func conversion() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                return try await database.lines(.trialConversion, "2026-01-01", "2026-01-31", by: .month)
            }
            try await database.hear(trial("1", 0), paid("1", "1c", 37))
            #expect(try await conversion() == ["2026-01-01 100000 1 1 0 0 - 0 0 0 0"])
            try await database.hear(paid("1", "1c", 37, signed: 40) { $0.revocationDate = Shop.day(40) })
            #expect(try await conversion() == ["2026-01-01 100000 1 1 0 1 - 0 0 0 0"])
            try await database.hear(paid("1", "1c", 37, signed: 45))
            #expect(try await conversion() == ["2026-01-01 100000 1 1 0 0 - 0 0 0 0"])
            // The first payment arrives last, and is refunded.
            try await database.hear(paid("1", "1b", 7, signed: 50) { $0.revocationDate = Shop.day(9) })
            #expect(try await conversion() == ["2026-01-01 100000 1 1 0 1 - 0 0 0 0"])
        }
    }

    @Test("trials by app, product and country, without trials of other environments and shared ones")
    func parts() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                trial("1", 0), trial("2", 0) { $0.storefront = "DEU" },
                Shop.entry("3", at: Shop.day(0), price: 0, environment: "Sandbox") {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                },
                trial("4", 0) { $0.inAppOwnershipType = .familyShared })
            // As with a seat that was added to the first.
            try await database.site.pool.query(
                "update storehook.booked_transactions set part_of = item where transaction_id = '1'")
            try await database.settle()
            let (from, to) = ("2026-01-01", "2026-01-31")
            #expect(
                try await database.lines(.trials, from, to, by: .month, .country)
                    == ["2026-01-01 DEU 1 0 1 0 0 0 0 0", "2026-01-01 USA 1 0 1 0 0 0 0 0"])
            #expect(
                try await database.lines(.trials, from, to, by: .month, .product) == [
                    "2026-01-01 basic 2 0 2 0 0 0 0 0"
                ])
            #expect(
                try await database.lines(.trials, from, to, by: .month, environment: "Sandbox")
                    == ["2026-01-01 1 0 1 0 0 0 0 0"])
        }
    }

    @Test("a database of before has its trials summed by the first worker that knows of them, once")
    func earlier() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(trial("1", 0), paid("1", "1b", 7))
            try await database.settle()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_cells where measure like 'trial%';
                    delete from storehook.figure_sums where measure like 'trial%';
                    update storehook.figure_state set content = 1;
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await database.lines(.trials, "2026-01-01", by: .month) == ["2026-01-01 1 1 0 0 0 0 0 0"])
            #expect(try await !database.figures.isDue(in: "UTC"))
        }
    }

    @Test(
        "days that an earlier release summed meanwhile are summed anew, also while a zone's days are summed for the first time"
    )
    func earlierBeside() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(trial("1", 0), paid("1", "1b", 7))
            try await database.settle()
            let before = try await database.tables()
            // As a release that knows nothing of trials sums a day.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_cells where day = '2026-01-01' and measure like 'trial%';
                    delete from storehook.figure_sums where measure like 'trial%';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await database.tables() == before)
            #expect(try await !database.figures.isDue(in: "UTC"))
            // Half way through a first zone.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_cells where measure like 'trial%';
                    delete from storehook.figure_sums where measure like 'trial%';
                    update storehook.figure_state set content = 1, next_zone = zone, zone = null, summed_from = '2026-01-01';
                    """)
            }
            try await database.settle()
            #expect(try await database.tables() == before)
        }
    }

    @Test("a trial that converts after its month was closed is a correction of that month")
    func closed() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(trial("1", 20), trial("2", 21), paid("2", "2b", 28, from: 21))
            try await database.settle()
            let month = try #require(FigureMonth("2026-01"))
            _ = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            try await database.hear(paid("1", "1b", 40, from: 20))
            try await database.settle()
            let question = try database.question(.trials, "2026-01-01", "2026-01-31", by: .month)
            #expect(try await database.figures.closedAnswer(question).lines == ["2026-01-01 2 1 1 0 0 0 0 0"])
            #expect(try await database.figures.answer(question).lines == ["2026-01-01 2 2 0 0 0 0 0 0"])
            let corrections = try await database.figures.corrections(question, limit: 10).elements
            #expect(
                corrections.compactMap { $0.was?.measure ?? $0.now?.measure }.map(\.rawValue).sorted() == [
                    "trial_converted", "trial_lapsed",
                ])
        }
    }
}
