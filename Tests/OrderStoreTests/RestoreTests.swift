import AccountStore
import Accounts
import Base
import Foundation
import OrderStore
import OrderSupport
import Pipeline
import Postgres
import TestSupport
import Testing
import Worker

@Suite("Restores that apps report")
struct RestoreTests {
    @Test("a restore makes no order: how it ended is kept without the account, and a pending one is passed over")
    func restores() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for (second, outcome) in ["nothing", "completed", "failed", "cancelled", "pending"].enumerated() {
                try await site.report(outcome, at: Shop.day(0).adding(seconds: Int64(second)), of: nil, kind: "restore")
            }
            try await site.report("failed", at: Shop.day(1), kind: "restore", environment: "Sandbox")
            try await site.report("failed", at: Shop.day(2), of: "Ann Miller", kind: "restore", reason: "Ann Miller's")
            #expect(try await site.orders.isDue())
            try await site.step()
            #expect(try await !site.orders.isDue())
            #expect(try await site.attempts().isEmpty)
            #expect(try await site.numbers().isEmpty)
            let kept = [
                "Production - - nothing", "Production - - completed", "Production - - failed",
                "Production - - cancelled", "Sandbox com.example.app basic failed", "Production - - failed",
            ]
            let restores: PostgresQuery = """
                select concat_ws(' ', environment, coalesce(nullif(bundle_id, ''), '-'), coalesce(nullif(product_id, ''), '-'), outcome)
                  from storehook.reported_restores order by at, id
                """
            #expect(try await site.texts(restores) == kept)
            #expect(try await site.orders.bookRestores(site.accounts) == 0)
            // Nothing of the account stays, and what is not booked yet goes as well.
            try await site.report("failed", at: Shop.day(3), kind: "restore")
            #expect(try await EvidencePipeline(site.pool).erase("ann", by: "staff") != nil)
            try await site.step()
            #expect(try await site.texts(restores) == kept)
        }
    }

    @Test("a worker's clock books restores, also those that were reported before it ran")
    func clock() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for day in Int64(0)..<3 { try await site.report("failed", at: Shop.day(day), kind: "restore") }
            let clock = OrderClock(site.orders, site.accounts, site.ledger, logger: quiet)
            #expect(try await clock.step())
            #expect(try await !clock.step())
            #expect(try await site.texts("select count(*)::text from storehook.reported_restores") == ["3"])
        }
    }

    @Test("two clocks at once book each restore once")
    func restoringClocks() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for number in 0..<100 {
                try await site.report("failed", at: Shop.day(Int64(number)), as: "\(number)", kind: "restore")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<30 { _ = try await site.orders.bookRestores(site.accounts, atMost: 7) }
                    }
                }
                try await group.waitForAll()
            }
            try await site.step()
            #expect(
                try await site.texts("select count(*) || ' ' || count(distinct at) from storehook.reported_restores")
                    == ["100 100"])
        }
    }
}
