import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// What accounts were at instants that are over.
struct PastTests {
    private struct Answer: Equatable {
        var tier: String
        var status: String
    }

    private func answer(
        _ number: Int, day: Int64, plus milliseconds: Int64 = 0, _ database: AccountDatabase
    ) async throws -> Answer? {
        let instant = PostgresTimestamp(Purchases.now.adding(days: day).adding(milliseconds: milliseconds))
        let rows = try await database.pool.query(
            """
            select tier, status from storehook.account_status_at(\(instant))
             where token = \(UUID(token(number))) and environment = 'Production'
            """)
        #expect(rows.count <= 1)
        return try rows.first.map { Answer(tier: try $0.decode(0), status: try $0.decode(1)) }
    }

    /// A subscription of so many months; the last one runs.
    private func months(_ count: Int64, of number: Int, account: UniqueIdentifier?) -> [LedgerEntry] {
        (0..<count).map { month in
            let start = (month + 1 - count) * 30 - 5
            return Purchases.period(
                purchase(number), "basic", from: start, to: start + 30, account: account, number: Int(month))
        }
    }

    @Test func `An instant a year ago is answered of everybody who paid then, in whatever order it was heard`()
        async throws
    {
        var generator = SeededGenerator()
        let entries = months(20, of: 1, account: token(1)) + months(13, of: 2, account: token(2))
        var counts: [Int64]?
        for round in 0..<4 {
            let found = try await AccountDatabase.with { database in
                _ = try await database.store.apply(Shop.catalog(), by: "test")
                let order = round == 0 ? entries : entries.shuffled(using: &generator)
                for batch in order.batches(of: round + 1) { try await database.apply(batch) }
                for month in Int64(0)..<12 {
                    #expect(try await answer(1, day: -month * 30, database) == Answer(tier: "pro", status: "active"))
                    #expect(try await answer(2, day: -month * 30, database) == Answer(tier: "pro", status: "active"))
                }
                #expect(try await answer(2, day: -420, database)?.status == "free")
                #expect(try await database.stale().isEmpty)
                var counts: [Int64] = []
                for day in [-600, -500, -400, -350, -100, -1, 0] as [Int64] {
                    let instant = PostgresTimestamp(Purchases.now.adding(days: day))
                    counts.append(
                        try await database.value(
                            "select count(*) from storehook.account_status_at(\(instant)) where access"))
                }
                return counts
            }
            #expect(found.last == 2)
            if let counts { #expect(found == counts, "seed \(generator.seed), round \(round)") }
            counts = counts ?? found
        }
    }

    @Test func `A refund of a month long ago, heard late, changes that month and no other`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for entry in months(16, of: 1, account: token(1)) { try await database.apply([entry]) }
            // The period from day -305 to -275, given back ten days before its end.
            try await database.apply([
                Purchases.period(
                    purchase(1), "basic", from: -305, to: -275, account: token(1), number: 5, revoked: -285)
            ])
            #expect(try await answer(1, day: -290, database)?.status == "active")
            #expect(try await answer(1, day: -280, database)?.status == "revoked")
            #expect(try await answer(1, day: -270, database)?.status == "active")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `An instant is answered by the catalog that was current then`() async throws {
        try await AccountDatabase.with { database in
            func instant() async throws -> PostgresTimestamp {
                try await database.value("select date_trunc('milliseconds', clock_timestamp())")
            }
            func tiers(_ instant: PostgresTimestamp) async throws -> [String] {
                try await database.pool.query(
                    """
                    select tier from storehook.account_status_at(\(instant))
                     where environment = 'Production' and token = any(\([UUID(token(1)), UUID(token(2))])) order by token
                    """
                ).map { try $0.decode(0) }
            }
            try await database.apply(months(9, of: 1, account: token(1)))
            _ = try await database.store.apply(Shop.catalog(["pro", "premium", "pro"]), by: "test")
            try await database.apply([Purchases.forever(purchase(2), at: -3, account: token(2))])
            let first = try await instant()
            _ = try await database.store.apply(Shop.catalog(["premium", "premium", "pro"]), by: "test")
            let second = try await instant()
            _ = try await database.store.apply(Shop.catalog([nil, "premium", "premium"]), by: "test")
            let third = try await instant()
            #expect(try await tiers(first) == ["pro", "pro"])
            #expect(try await tiers(second).sorted() == ["premium", "pro"])
            #expect(try await tiers(third).sorted() == ["free", "premium"])
            #expect(try await answer(1, day: -200, database)?.tier == "pro")
            #expect(try await database.stale().isEmpty)
            // What is heard later changes nothing about that.
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: 25, to: 55, account: token(1), number: 9)
            ])
            #expect(try await tiers(first) == ["pro", "pro"])
            #expect(try await tiers(second).sorted() == ["premium", "pro"])
            let told = try await database.store.history(of: token(1), in: "Production", at: Timestamp(first))
            #expect(told?.current.tier == "pro")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `A second refund record, a reversal and a later token change nothing of what was before them`()
        async throws
    {
        func period(revoked: Int64? = nil, signed: Int64, account: Int = 1) -> LedgerEntry {
            Purchases.period(
                purchase(1), "basic", from: -20, to: 10, account: token(account), revoked: revoked, signed: signed)
        }
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([period(signed: -20), period(revoked: -12, signed: -12)])
            #expect(try await answer(1, day: -11, database)?.status == "revoked")
            try await database.apply([period(revoked: -9, signed: -8)])
            #expect(try await answer(1, day: -13, database)?.status == "active")
            #expect(try await answer(1, day: -11, database)?.status == "revoked")
            try await database.apply([period(signed: -6)])
            for day in [-11, -9, -7] as [Int64] {
                #expect(try await answer(1, day: day, database)?.status == "revoked", "\(day)")
            }
            #expect(try await answer(1, day: -5, database)?.status == "active")
            try await database.apply([period(signed: -3, account: 2)])
            #expect(try await answer(1, day: -5, database)?.status == "active")
            #expect(try await answer(2, day: -5, database)?.status == "free")
            #expect(try await answer(1, day: -2, database)?.status != "active")
            #expect(try await answer(2, day: -2, database)?.status == "active")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `A first proof counts from its own instant`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply(months(14, of: 1, account: nil))
            _ = try await database.pool.withTransaction {
                try database.store.bind([purchase(1)], to: account(1), under: .keep, $0)
            }
            #expect(try await answer(1, day: -1, database)?.status == "free")
            #expect(try await answer(1, day: -300, database)?.status == "free")
            #expect(try await answer(1, day: 1, database)?.status == "active")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `A transaction without an end gives its account access until the date of renewal`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([Purchases.endless(purchase(1), "basic", to: 20, account: token(1))])
            let line = try await database.pool.query(
                "select access, app_account_token from storehook.subscription_status"
            ).one()
            #expect(try line.decode(0, as: Bool.self))
            #expect(try line.decode(1, as: UUID?.self) == UUID(token(1)))
            #expect(
                try await database.value("select storehook.has_access(\(UUID(token(1))), 'basic')", as: Bool.self))
            #expect(try await answer(1, day: 19, database) == Answer(tier: "pro", status: "active"))
            #expect(try await answer(1, day: 22, database)?.status == "expired")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `Of an erased account nothing is said of any instant`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply(months(16, of: 1, account: token(1)))
            #expect(try await answer(1, day: -300, database)?.status == "active")
            _ = try await database.pipeline.erase(AccountIdentity(token: token(1)), by: "test")
            for day in [-300, -100, -1, 0, 10] as [Int64] {
                #expect(try await answer(1, day: day, database) == nil)
            }
            #expect(try await database.value("select count(*) from storehook.account_history", as: Int64.self) == 0)
        }
    }

    @Test func `What was not derived since the upgrade is answered by the purchases, and a block holds`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply(months(3, of: 1, account: token(1)) + months(3, of: 2, account: token(2)))
            _ = try await database.pipeline.act(.revoke, for: AccountIdentity(token: token(2)), by: "test", why: "test")
            // As an older program leaves rows.
            try await database.pool.query(
                """
                update storehook.account_status set holding_starts = null, holding_ends = null, holding_product = null,
                       holding_bundle = null, holding_purchase = null
                """)
            for (number, isHeld) in [(1, true), (2, false), (3, false)] {
                #expect(
                    try await database.value(
                        "select storehook.has_access(\(UUID(token(number))), 'basic')", as: Bool.self) == isHeld)
            }
            #expect(try await database.store.view(token(1), in: "Production").purchases.first?.givesAccess == true)
            #expect(try await database.store.view(token(2), in: "Production").purchases.first?.givesAccess == false)
        }
    }

    @Test func `Before a catalog purchases decide, those without a token for whom they were proven`() async throws {
        try await AccountDatabase.with { database in
            try await database.apply(
                months(2, of: 1, account: token(1)) + months(2, of: 2, account: nil)
                    + [Purchases.forever(purchase(3), at: -3, account: nil)])
            func has(_ name: String, _ product: String) async throws -> Bool {
                try await database.value("select storehook.has_access_of(\(name), \(product))")
            }
            #expect(try await has(name(1), "basic"))
            #expect(try await !has(name(2), "basic"))
            _ = try await database.pool.withTransaction {
                try database.store.bind([purchase(2), purchase(3)], to: account(2), under: .keep, $0)
            }
            #expect(try await has(name(2), "basic"))
            #expect(try await has(name(2), "forever"))
            #expect(try await !has(name(1), "forever"))
            _ = try await database.pipeline.move(purchase(1), to: account(3), by: "test", why: "test")
            #expect(try await !has(name(1), "basic"))
            #expect(try await has(name(3), "basic"))
        }
    }
}
