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
import Subscriptions
import TestSupport
import Testing

/// Figures of trials that the app grants itself, worked by hand.
@Suite("Figures of the app's own trials")
struct OwnTrialFigureTests {
    private static func noon(_ day: String) -> Timestamp {
        Timestamp(iso8601: "\(day)T12:00:00Z") ?? .distantPast
    }

    private static func paid(
        _ line: String, as id: String? = nil, _ from: String, of account: String?, price: Int64? = 9_990,
        first: String? = nil, environment: String = "Production",
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            line, id, at: noon(from), renewal: id != nil, price: price, first: noon(first ?? from),
            environment: environment
        ) { payload in
            payload.appAccountToken = account.map { OrderDatabase.token($0) }
            change(&payload)
        }
    }

    private static func grant(
        _ database: FigureDatabase, _ account: String, at start: Timestamp, days: Int64 = 7, app: String? = nil,
        product: String? = nil
    ) async throws {
        let token = OrderDatabase.token(account).description
        try await database.site.pool.query(
            """
            insert into storehook.trials (account_hash, token, tier, bundle_id, product_id, started_at, ends_at)
            values (sha256(convert_to(\(token)::text, 'UTF8')), \(token)::text::uuid, 'pro', \(app), \(product),
                    \(PostgresTimestamp(start)), \(PostgresTimestamp(start.adding(days: days))))
            """)
    }

    /// A trial of a week.
    private static func grant(
        _ database: FigureDatabase, _ account: String, _ day: String, app: String? = nil, product: String? = nil
    ) async throws {
        try await grant(database, account, at: noon(day), app: app, product: product)
    }

    /// The columns of the app's own trials of January 2023: how many, converted, lapsed, open.
    private static func january(_ database: FigureDatabase) async throws -> String? {
        try await database.settle()
        #expect(try await database.differences().isEmpty)
        let cells = try await database.figures.answer(
            database.question(.trials, "2023-01-01", "2023-01-31", by: .month)
        ).cells
        return cells.first.map { cell in
            Figure.trials.columns.suffix(4).map { column in column.value(cell.sums).map { "\($0)" } ?? "-" }
                .joined(separator: " ")
        }
    }

    private static func refunded(_ database: FigureDatabase) async throws -> Int64 {
        try await database.figures.answer(
            database.question(.trialConversion, "2023-01-01", "2023-01-31", by: .month)
        ).cells.first?.sums[.ownTrialRefunded].count ?? 0
    }

    @Test(
        "converted within it, on the 60th day after it, by coins and for an unknown price; not later, not before it, not by what is free, elsewhere or several accounts'"
    )
    func worked() async throws {
        try await FigureDatabase.with { database in
            for account in ["ann", "bob", "cy", "dee", "eve", "fay", "gus", "hal", "jim", "kim"] {
                try await Self.grant(database, account, "2023-01-10")
            }
            try await Self.grant(database, "ian", "2023-02-01")
            try await database.hear(
                Self.paid("1", "2023-01-12", of: "ann"), Self.paid("2", "2023-03-18", of: "bob"),
                Self.paid("3", "2023-03-19", of: "cy"),
                Shop.entry("5", at: Self.noon("2023-01-20"), days: nil, product: "coins", kind: .consumable) {
                    $0.appAccountToken = OrderDatabase.token("eve")
                },
                Self.paid("6", "2023-01-05", of: "fay"),
                Self.paid("6", as: "6b", "2023-02-04", of: "fay", first: "2023-01-05"),
                Self.paid("7", "2023-01-18", of: "gus", price: 0), Self.paid("8", "2023-01-15", of: "hal"),
                Self.paid("8", as: "8b", "2023-02-14", of: "ivy", first: "2023-01-15"),
                Self.paid("9", "2023-01-20", of: "jim", price: nil) { $0.currency = nil },
                Self.paid("10", "2023-01-20", of: "kim", environment: "Sandbox"),
                Self.paid("11", "2023-02-03", of: "ian"))
            try await database.settle()
            // None of Apple's: trials, converted, lapsed, open.
            #expect(
                try await database.lines(.trials, "2023-01-01", "2023-02-28", by: .month)
                    == ["2023-01-01 0 0 0 0 10 4 6 0", "2023-02-01 0 0 0 0 1 1 0 0"])
            #expect(
                try await database.lines(.trials, "2023-01-10", "2023-01-12") == ["2023-01-10 0 0 0 0 10 4 6 0"])
            // Rate, converted, trials, open, refunded.
            #expect(
                try await database.lines(.trialConversion, "2023-01-01", "2023-01-31", by: .month)
                    == ["2023-01-01 - 0 0 0 0 40000 4 10 0 0"])
            #expect(
                try await database.lines(.trials, "2023-01-01", "2023-02-28", by: .month, environment: "Sandbox") == [])
            let asked = FigureRowQuestion(try database.question(.trials, "2023-01-01", "2023-01-31", by: .month))
            let rows = try await database.rows(asked)
            #expect(rows.count == 20 && rows.allSatisfy { $0.order == nil && $0.bundleID == Shop.app })
            #expect(rows.allSatisfy { $0.at == Self.noon("2023-01-10") && $0.amount == nil && $0.currency == nil })
            #expect(
                rows.filter { $0.measure == .ownTrialConverted }.compactMap(\.transactionID).sorted() == [
                    "1", "2", "5", "9",
                ])
            #expect(rows.filter { $0.measure != .ownTrialConverted }.allSatisfy { $0.transactionID == nil })
            for limit in [1, 3] { #expect(try await database.rows(asked, limit: limit) == rows) }
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("open until 60 days after its end, which time alone decides; a payment converts it at once")
    func turning() async throws {
        try await FigureDatabase.with { database in
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            for account in ["ann", "bob"] {
                try await Self.grant(database, account, at: now.adding(days: -100), days: 41)
            }
            try await database.settle()
            func summed() async throws -> [String] {
                try await database.site.texts(
                    """
                    select measure || ' ' || sum(count) from storehook.figure_cells
                     where measure like 'own_trial%' group by measure order by 1
                    """)
            }
            #expect(try await summed() == ["own_trial 2"])
            #expect(try await !database.figures.isDue(in: "UTC"))
            // As a day later: nothing changed meanwhile, so that nothing is marked.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    update storehook.trials set ends_at = now() - interval '1440 hours 30 seconds';
                    update storehook.figure_state set turned_until = now() - interval '2 minutes';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(try await summed() == ["own_trial 2", "own_trial_lapsed 2"])
            // Heard of late, and as it begins: both in time.
            try await database.site.pool.query(
                "update storehook.trials set ends_at = now() where token = \(OrderDatabase.token("bob").description)::text::uuid"
            )
            try await database.hear(
                Shop.entry("1", at: now.adding(days: -90)) { $0.appAccountToken = OrderDatabase.token("ann") },
                Shop.entry("2", at: now) { $0.appAccountToken = OrderDatabase.token("bob") })
            try await database.settle()
            #expect(try await summed() == ["own_trial 2", "own_trial_converted 2"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test(
        "the first payment decides, in whatever order payments are heard; its refund is counted, and a reversal takes that back"
    )
    func heardLate() async throws {
        try await FigureDatabase.with { database in
            try await Self.grant(database, "ann", "2023-01-10")
            #expect(try await Self.january(database) == "1 0 1 0")
            try await database.hear(Self.paid("1", "2023-03-30", of: "ann"))
            #expect(try await Self.january(database) == "1 0 1 0")
            func second(_ signed: String, revoked: String? = nil) -> LedgerEntry {
                Self.paid("2", "2023-01-20", of: "ann") {
                    ($0.signedDate, $0.revocationDate) = (Self.noon(signed), revoked.map { Self.noon($0) })
                }
            }
            try await database.hear(second("2023-01-20"))
            #expect(try await Self.january(database) == "1 1 0 0")
            try await database.hear(second("2023-06-01", revoked: "2023-06-01"))
            #expect(try await Self.january(database) == "1 1 0 0")
            #expect(try await Self.refunded(database) == 1)
            try await database.hear(second("2023-06-05"))
            #expect(try await Self.january(database) == "1 1 0 0")
            #expect(try await Self.refunded(database) == 0)
            // Who had paid before is converted by nothing.
            try await database.hear(Self.paid("3", "2023-01-05", of: "ann"))
            #expect(try await Self.january(database) == "1 0 1 0")
        }
    }

    @Test(
        "a purchase that is moved to an account converts its trial, and is the payment of none once another one had it")
    func moved() async throws {
        try await FigureDatabase.with { database in
            for account in ["ann", "bob"] { try await Self.grant(database, account, "2023-01-10") }
            try await database.hear(Self.paid("1", "2023-01-15", of: nil), Self.paid("2", "2023-01-25", of: "bob"))
            #expect(try await Self.january(database) == "2 1 1 0")
            let pipeline = EvidencePipeline(database.site.pool)
            func move(_ line: String, to account: AccountIdentity) async throws {
                let purchase = PurchaseKey(
                    environment: "Production", bundleID: Shop.app, originalTransactionID: line)
                #expect(try await pipeline.move(purchase, to: account, by: "staff", why: "a test"))
            }
            try await move("1", to: "ann")
            #expect(try await Self.january(database) == "2 2 0 0")
            // Bob keeps the other one.
            try await move("1", to: "bob")
            #expect(try await Self.january(database) == "2 1 1 0")
            try await move("2", to: "ann")
            #expect(try await Self.january(database) == "2 0 2 0")
        }
    }

    @Test(
        "an account that is erased leaves its trial as what it is by then, and the number says nothing of the account")
    func erased() async throws {
        try await FigureDatabase.with { database in
            for account in ["ann", "bob", "cy"] { try await Self.grant(database, account, "2023-01-10") }
            let refund = Self.paid("2", "2023-01-15", of: "bob") {
                ($0.signedDate, $0.revocationDate) = (Self.noon("2023-01-20"), Self.noon("2023-01-20"))
            }
            try await database.hear(
                Self.paid("1", "2023-01-15", of: "ann"), Self.paid("2", "2023-01-15", of: "bob"), refund)
            #expect(try await Self.january(database) == "3 2 1 0")
            let tables = try await database.tables().filter { $0.contains("own_trial") }
            let pipeline = EvidencePipeline(database.site.pool)
            for account in ["ann", "bob", "cy"] as [AccountIdentity] {
                #expect(try await pipeline.erase(account, by: "staff") != nil)
            }
            #expect(try await Self.january(database) == "3 2 1 0")
            #expect(try await Self.refunded(database) == 1)
            #expect(try await database.tables().filter { $0.contains("own_trial") } == tables)
            #expect(
                try await database.site.texts(
                    "select outcome || ' ' || (token is null) from storehook.trials order by 1"
                ) == ["converted true", "lapsed true", "refunded true"])
            let question = try database.question(.trials, "2023-01-01", "2023-01-31", by: .month)
            #expect(try await database.rows(FigureRowQuestion(question)).allSatisfy { $0.transactionID == nil })
            // What is heard of later changes nothing.
            try await database.hear(
                Self.paid("3", "2023-01-01", of: "ann"), Self.paid("4", "2023-01-15", of: "cy"))
            #expect(try await Self.january(database) == "3 2 1 0")
            // Of one that an earlier release erased nothing is known.
            try await database.site.pool.query("update storehook.trials set outcome = null where outcome = 'lapsed'")
            #expect(try await Self.january(database) == "2 2 0 0")
        }
    }

    @Test("one that runs when its account is erased is open no more")
    func erasedRunning() async throws {
        try await FigureDatabase.with { database in
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            try await Self.grant(database, "ann", at: now.adding(days: -3))
            try await database.settle()
            #expect(try await EvidencePipeline(database.site.pool).erase("ann", by: "staff") != nil)
            try await database.settle()
            #expect(
                try await database.site.texts(
                    "select measure from storehook.figure_cells where measure like 'own_trial%' order by 1"
                ) == ["own_trial", "own_trial_lapsed"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("by app, product and fiscal month: one that names no app is of the only one that has subscriptions")
    func parts() async throws {
        try await FigureDatabase.with { database in
            try await Self.grant(database, "ann", "2023-01-10", app: Shop.app, product: "basic")
            try await Self.grant(database, "bob", "2023-01-11")
            try await Self.grant(database, "cy", "2023-01-31", app: "com.example.other", product: "best")
            try await Self.grant(database, "dee", "2023-01-31", app: "")
            try await database.settle(hasFiscalMonths: true)
            let (from, to) = ("2023-01-01", "2023-01-31")
            #expect(
                try await database.lines(.trials, from, to, by: .month, .app) == [
                    "2023-01-01 none 0 0 0 0 1 0 1 0", "2023-01-01 com.example.app 0 0 0 0 2 0 2 0",
                    "2023-01-01 com.example.other 0 0 0 0 1 0 1 0",
                ])
            #expect(
                try await database.lines(.trials, from, to, by: .month, .product) == [
                    "2023-01-01 none 0 0 0 0 2 0 2 0", "2023-01-01 basic 0 0 0 0 1 0 1 0",
                    "2023-01-01 best 0 0 0 0 1 0 1 0",
                ])
            #expect(
                try await database.lines(.trials, from, to, by: .month, apps: ["com.example.other"])
                    == ["2023-01-01 0 0 0 0 1 0 1 0"])
            let best = FigureRowQuestion(
                try database.question(.trials, from, to, by: .month), productID: "best", storefront: "")
            #expect(
                try await database.rows(best).map { "\($0.measure.rawValue) \($0.bundleID)" } == [
                    "own_trial com.example.other", "own_trial_lapsed com.example.other",
                ])
            // 2023-FM04 is from 2023-01-01 to 2023-02-04.
            let question = try #require(
                try await database.figures.question(
                    .trials, from: FigureBound("2023-FM04"), to: FigureBound("2023-FM04"), by: .fiscalMonth))
            #expect(try await database.figures.answer(question).lines == ["2023-01-01 0 0 0 0 4 0 4 0"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("one that converts after its month was closed is a correction of that month, and an erasure is none")
    func closed() async throws {
        try await FigureDatabase.with { database in
            for account in ["ann", "bob"] { try await Self.grant(database, account, "2023-01-20") }
            try await database.hear(Self.paid("2", "2023-01-28", of: "bob"))
            try await database.settle()
            let month = try #require(FigureMonth("2023-01"))
            _ = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            #expect(try await EvidencePipeline(database.site.pool).erase("bob", by: "staff") != nil)
            let question = try database.question(.trials, "2023-01-01", "2023-01-31", by: .month)
            #expect(try await database.figures.corrections(question, limit: 10).elements.isEmpty)
            try await database.hear(Self.paid("1", "2023-02-10", of: "ann"))
            try await database.settle()
            #expect(try await database.figures.closedAnswer(question).lines == ["2023-01-01 0 0 0 0 2 1 1 0"])
            #expect(try await database.figures.answer(question).lines == ["2023-01-01 0 0 0 0 2 2 0 0"])
            let corrections = try await database.figures.corrections(question, limit: 10).elements
            #expect(
                corrections.map { "\($0.was?.measure.rawValue ?? "-") \($0.now?.measure.rawValue ?? "-")" }.sorted()
                    == [
                        "- own_trial_converted", "own_trial_lapsed -",
                    ])
        }
    }
}
