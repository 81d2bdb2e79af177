import AccountStore
import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Later changes of estimated proceeds, by late purchases and by commission tables.
@Suite("Changes of proceeds")
struct CommissionStoreTests {
    private static let start: Int64 = -500
    private static let table = "rates: [{from: 2008-07-10, first_year: 20%}]\n"

    /// A month of 30 days, by its place from 0 on.
    private static func month(
        _ month: Int64, signed: Int64? = nil, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            "1", "1.\(month)", at: Shop.day(start + 30 * month), renewal: month > 0, first: Shop.day(start),
            signed: signed.map { Shop.day($0) }, change)
    }

    /// The amounts of a month's sale, and of its refunds and reversals.
    private func amounts(_ database: FigureDatabase, _ month: Int64) async throws -> [Int64?] {
        try await database.settle()
        #expect(try await database.differences().isEmpty)
        return try await database.proceeds().filter { $0.transactionID == "1.\(month)" }.map(\.amount)
    }

    @Test("an earlier month that arrives late, is refunded or given again moves the border, for refunds as well")
    func border() async throws {
        try await FigureDatabase.with { database in
            let back = Self.start + 30 * 13
            for month in Int64(0)..<13 where month != 4 { try await database.hear(Self.month(month)) }
            try await database.hear(Self.month(12, signed: back) { $0.revocationDate = Shop.day(back) })
            #expect(try await amounts(database, 12) == [6_993, -6_993])
            try await database.hear(Self.month(4))
            #expect(try await amounts(database, 12) == [8_492, -8_492])
            try await database.hear(Self.month(6, signed: back + 1) { $0.revocationDate = Shop.day(back + 1) })
            #expect(try await amounts(database, 12) == [6_993, -6_993])
            try await database.hear(Self.month(6, signed: back + 2))
            #expect(try await amounts(database, 12) == [8_492, -8_492])
            // As of a trial, or of nothing that was paid.
            for change in ["is_trial = true", "price = 0", "is_void = true"] {
                try await database.site.pool.query(
                    PostgresQuery(
                        unescaped: "update storehook.booked_transactions set \(change) where transaction_id = '1.2'"))
                #expect(try await amounts(database, 12) == [6_993, -6_993], "\(change)")
                try await database.site.pool.query(
                    "update storehook.booked_transactions set is_trial = false, price = 9990, is_void = false where transaction_id = '1.2'"
                )
                #expect(try await amounts(database, 12) == [8_492, -8_492], "\(change)")
            }
            // Another plan: each of them is a week.
            _ = try await database.site.accounts.apply(
                Shop.catalog().replacing(
                    "product_id: basic, tier: pro, period: month", with: "product_id: basic, tier: pro, period: week"),
                by: "test")
            #expect(try await amounts(database, 12) == [6_993, -6_993])
        }
    }

    @Test("a renewal that arrives in order marks no day of another one")
    func inOrder() async throws {
        try await FigureDatabase.with { database in
            for month in Int64(0)..<13 { try await database.hear(Self.month(month)) }
            try await database.settle()
            try await database.hear(Self.month(13))
            let others: PostgresQuery = """
                select count(*) from storehook.figure_marks m
                  join storehook.booked_transactions t on date_trunc('hour', t.starts_at) = m.hour and t.transaction_id <> '1.13'
                 -- Whether the customer was retained is counted on the day of the first payment.
                 where t.starts_at > (select min(starts_at) from storehook.booked_transactions)
                """
            #expect(try await database.site.value(others, as: Int64.self) == 0)
            try await database.settle()
            try await database.hear(Self.month(7, signed: 0) { $0.revocationDate = Shop.day(0) })
            #expect(try await database.site.value(others, as: Int64.self) >= 6)
        }
    }

    @Test("a new table has all days estimated anew, and leaves a closed month as it was")
    func closed() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Shop.coins("1", at: Shop.day(10)), Shop.coins("2", at: Shop.day(40)))
            try await database.settle()
            let commissions = CommissionStore(database.site.pool)
            func isDue() async throws -> Bool {
                try await database.figures.isDue(in: "UTC", commission: commissions.counting())
            }
            #expect(try await !isDue())
            let month = try #require(FigureMonth("2026-01"))
            let closed = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            #expect(closed.commissionVersion == nil)
            #expect(try await database.apply(Self.table) == .init(version: 1, isNew: true))
            #expect(try await isDue())
            let february = try #require(ClosingMonth("2026-02"))
            await #expect(throws: CloseRefusal.changing(february)) {
                try await database.figures.close(february, by: "cli:test", unproven: "a test")
            }
            try await database.settle()
            #expect(try await !isDue())
            let question = try database.question(.proceeds, "2026-01-01", "2026-02-28", by: .month)
            #expect(
                try await database.figures.answer(question).lines
                    == ["2026-01-01 USD 7992 7992 0 1 0", "2026-02-01 USD 7992 7992 0 1 0"])
            #expect(try await database.figures.closedAnswer(question).lines == ["2026-01-01 USD 6993 6993 0 1 0"])
            let corrections = try await database.figures.corrections(question, limit: 10).elements
            #expect(corrections.map { "\($0.was?.amount ?? 0) \($0.now?.amount ?? 0)" } == ["6993 7992"])
            #expect(try await database.differences().isEmpty)
            try await database.figures.reopen(.calendar(month), by: "cli:test", why: "a test")
            let again = try await database.figures.close(.calendar(month), by: "cli:test", unproven: "a test")
            #expect(again.commissionVersion == 1)
            #expect(try await database.figures.closedMonths(month.days).map(\.commissionVersion) == [1])
        }
    }

    @Test("a database of before has its proceeds summed by the first worker that knows of them")
    func earlier() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Shop.coins("1", at: Shop.day(10)))
            try await database.settle()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_cells where measure like 'proceeds%';
                    delete from storehook.figure_sums where measure like 'proceeds%';
                    update storehook.figure_state set content = 3;
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(
                try await database.lines(.proceeds, "2026-01-01", by: .month) == ["2026-01-01 USD 6993 6993 0 1 0"])
        }
    }

    @Test("each table is a version, on record and in the audit; the same text is none, and a wrong one leaves nothing")
    func versions() async throws {
        try await FigureDatabase.with { database in
            let commissions = CommissionStore(database.site.pool)
            #expect(try await commissions.applied() == nil)
            #expect(try await commissions.counting() == .standard)
            await #expect(throws: FigureFileFault.self) {
                try await database.apply("rates: [{from: 2008-07-10, first_year: 120%}]")
            }
            #expect(try await commissions.applied() == nil)
            // Of several at once one applies it.
            let outcomes = try await withThrowingTaskGroup(of: FigureFileApplication.self) { group in
                for _ in 0..<6 { group.addTask { try await database.apply(Self.table) } }
                return try await group.reduce(into: [FigureFileApplication]()) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.version == 1 } && outcomes.count { $0.isNew } == 1, "\(outcomes)")
            let other = Self.table + "# and no more\n"
            #expect(try await database.apply(other) == .init(version: 2, isNew: true))
            #expect(try await database.apply(other) == .init(version: 2, isNew: false))
            #expect(try await database.apply(Self.table) == .init(version: 3, isNew: true))
            let applied = try await commissions.applied()
            #expect(applied?.version == 3 && applied?.source == Self.table && applied?.appliedBy == "cli:test")
            #expect(try await commissions.counting() == Commission(yaml: Self.table))
            #expect(
                try await database.site.texts(
                    "select concat_ws(' ', act, actor, role, subject_kind, subject, length(after::jsonb ->> 'digest')) from storehook.audit where subject_kind = 'commission' order by place"
                ) == (1...3).map { "apply_commission cli:test admin commission \($0) 64" })
        }
    }

    @Test("what a newer release applied, and this one cannot read, leaves the figures as they are")
    func newer() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Shop.coins("1", at: Shop.day(10)))
            try await database.apply(Self.table)
            try await database.settle()
            try await database.site.pool.query(
                "insert into storehook.commissions (version, source, digest, applied_by) select 2, 'later: yes', digest, 'test' from storehook.commissions"
            )
            #expect(try await CommissionStore(database.site.pool).counting() == nil)
            try await database.settle()
            #expect(
                try await database.lines(.proceeds, "2026-01-01", by: .month) == ["2026-01-01 USD 7992 7992 0 1 0"])
        }
    }
}
