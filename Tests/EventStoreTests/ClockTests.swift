import AppStorePayloads
import Base
import EventStore
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

@Suite("What is due")
struct ClockTests {
    @Test("ends are told once by any number of clocks, the purchase's before the account's, with their true instants")
    func ends() async throws {
        try await EventDatabase.with { site in
            let count = 40
            // EventCounts while they ran, a day before they ended; two days ago.
            try await site.apply(
                (0..<count).map { number in
                    Records.period(
                        purchase(number), from: -32, to: -2, account: number.isMultiple(of: 3) ? nil : token(number),
                        renews: number.isMultiple(of: 2))
                }, at: Records.now.adding(days: -31))
            let ended: Int64 = try await site.value("select count(*) from storehook.events where kind like '%expired'")
            #expect(ended == 0)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await site.runClock() }
                }
                for try await _ in group {}
            }
            _ = try await site.runClock()
            let expired: Int64 = try await site.value(
                "select count(*) from storehook.events where kind = 'subscription.expired' and is_late")
            #expect(expired == Int64(count))
            let instants = try await site.pool.query(
                "select distinct at from storehook.events where kind = 'subscription.expired' order by at"
            ).map { Timestamp(try $0.decode(0, as: PostgresTimestamp.self)) }
            let end = Records.now.adding(days: -2)
            #expect(instants == [end, end.adding(seconds: 600)])
            for number in [1, 2] {
                #expect(
                    try await site.told("token = \(UUID(token(number)))").suffix(2).map { $0.dropFirst(2) }
                        == ["subscription.expired", "account.access_changed"])
            }
            #expect(
                try await site.value(
                    """
                    select (select count(*) from storehook.purchase_tellings where due_at is not null)
                         + (select count(*) from storehook.access_tellings where due_at is not null)
                    """) == 0 as Int64)
            #expect(try await site.runClock() == 0)
        }
    }

    @Test("a purchase that somebody is at is left out, and told when that is over")
    func held() async throws {
        try await EventDatabase.with { site in
            try await site.apply(
                (1...2).map { Records.period(purchase($0), from: -32, to: -2, account: token($0), renews: false) },
                at: Records.now.adding(days: -31))
            let held = try await HeldTransaction(
                in: site.database,
                """
                select from storehook.purchase_lines
                 where original_transaction_id = \(purchase(1).originalTransactionID) for update
                """)
            _ = try await site.tick()
            let expired: PostgresQuery =
                "select count(*) from storehook.events where kind = 'subscription.expired'"
            #expect(try await site.value(expired) == 1 as Int64)
            try await held.release()
            _ = try await site.runClock()
            #expect(try await site.value(expired) == 2 as Int64)
        }
    }

    @Test("an end is said to come soon where the account's access ends with it, and not while another purchase goes on")
    func endingAsAWhole() async throws {
        try await EventDatabase.with { site in
            func renewing(revoked: Int64? = nil) -> LedgerEntry {
                Records.period(purchase(2), from: -10, to: 20, account: token(1), revoked: revoked)
            }
            try await site.apply([renewing()])
            try await site.apply([
                Records.period(purchase(1), from: -25, to: 5, account: token(1), renews: false),
                Records.period(purchase(3), from: -25, to: 5, account: token(3), renews: false),
            ])
            func warned(_ number: Int) async throws -> Int64 {
                try await site.value(
                    """
                    select count(*) from storehook.events
                     where kind = 'subscription.expiring_soon' and token = \(UUID(token(number)))
                    """)
            }
            #expect(try await warned(1) == 0)
            #expect(try await warned(3) == 1)
            let due: PostgresQuery = """
                select due_at - now() between interval '23 hours' and interval '25 hours' from storehook.purchase_tellings
                 where original_transaction_id = \(purchase(1).originalTransactionID)
                """
            #expect(try await site.value(due))
            // The other one is refunded. This one is told nothing of it until it is looked at again.
            try await site.apply([renewing(revoked: -1)])
            #expect(try await warned(1) == 0)
            try await site.pool.query(
                """
                update storehook.purchase_tellings set due_at = now()
                 where original_transaction_id = \(purchase(1).originalTransactionID)
                """)
            _ = try await site.runClock()
            #expect(try await warned(1) == 1)
            let listed: Int64 = try await site.value("select count(*) from storehook.expiring_soon('7 days')")
            #expect(listed == 2)
        }
    }
}
