import Base
import OrderStore
import OrderSupport
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// Two acts at once about one request: in either order, one of them ends it.
struct RefundRaceTests {
    private func isWaiting(_ site: OrderDatabase, for statement: String) async throws -> Bool {
        try await site.value(
            """
            select count(*) > 0 from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like \("%\(statement)%")
            """)
    }

    @Test func `Of eight approvals at once one succeeds`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for purchase in 1...4 {
                let order = try await site.month("\(purchase)00")
                let number = try await site.refunds.create(.full, order: order, why: "why", by: anna).number
                let outcomes = try await withThrowingTaskGroup { group in
                    for person in 1...8 {
                        group.addTask {
                            do {
                                _ = try await site.refunds.approve(
                                    number, by: StaffActor(name: "cli:\(person)", role: .admin))
                                return true
                            } catch RefundRefusal.state(.approved, _) {
                                return false
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.count { $0 } == 1)
            }
            #expect(try await site.acts().count { $0.hasSuffix(" approve_refund_request") } == 4)
        }
    }

    @Test func `Of eight requests at once one succeeds`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            let outcomes = try await withThrowingTaskGroup { group in
                for _ in 1...8 {
                    group.addTask {
                        do {
                            _ = try await site.refunds.create(.full, order: order, why: "why", by: anna)
                            return true
                        } catch RefundRefusal.openRequest {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
    }

    /// What a decision holds until its end, as ``RefundRequests`` takes it: the transaction's row and then the request's.
    private func decision(_ act: PostgresQuery, in site: OrderDatabase) async throws -> HeldTransaction {
        try await HeldTransaction(
            in: site.database,
            """
            with booked as materialized (select from storehook.booked_transactions where transaction_id = '100' for share)
            \(embedding: act)
            """)
    }

    @Test func `Apple's refund that arrives during an approval processes the request`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            let number = try await site.refunds.create(.full, order: order, why: "why", by: anna).number
            let approving = try await decision(
                """
                update storehook.staff_refund_requests
                   set state = 'approved', approved = 9990, is_whole = true, decider = 'cli:anna', decided_at = now(),
                       acted_by = 'cli:anna', acted_at = now()
                 where (select count(*) >= 0 from booked)
                """, in: site)
            async let applied: Void = site.apply([OrderDatabase.refund("100", 50_000, after: 1)])
            try await eventually("the refund waits") {
                try await isWaiting(site, for: "insert into storehook.booked_transactions")
            }
            try await approving.release()
            try await applied
            let found = try #require(try await site.request(number)).request
            #expect(found.state == .processed && found.decider == "cli:anna" && found.refundedByApple?.amount == 4_995)
        }
    }

    @Test func `A request or a decision during the booking of Apple's refund sees it`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            let other = try await site.month("200")
            let number = try await site.refunds.create(.full, order: order, why: "why", by: anna).number
            // As a batch leaves it before its commit.
            let booking = try await HeldTransaction(
                in: site.database,
                """
                with booked as (
                    update storehook.booked_transactions
                       set revoked_share = 100000, refunded = 9990, refunded_at = now() returning order_id
                )
                update storehook.staff_refund_requests
                   set state = 'cancelled', decider = 'apple', decided_at = now(), apple_share = 100000,
                       apple_amount = 9990, apple_at = now()
                 where order_id in (select order_id from booked)
                """)
            let approved = Task { try await site.refunds.approve(number, by: ben) }
            let made = Task { try await site.refunds.create(.full, order: other, why: "why", by: ben) }
            try await eventually("both wait") {
                try await site.value(
                    """
                    select count(*) = 2 from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock' and query like '%for share of t%'
                    """)
            }
            try await booking.release()
            await #expect(throws: RefundRefusal.state(.cancelled, by: "apple")) { _ = try await approved.value }
            await #expect(throws: RefundRefusal.nothingLeft) { _ = try await made.value }
        }
    }

    @Test func `Refunds and decisions of many at once end as one after the other`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let purchases = (1...12).map { "\($0)00" }
            for purchase in purchases { try await site.month(purchase) }
            try await withThrowingTaskGroup { group in
                for (place, purchase) in purchases.enumerated() {
                    let order = try await site.order(purchase)
                    group.addTask {
                        do {
                            let number = try await site.refunds.create(.full, order: order, why: "why", by: anna).number
                            _ = try await site.refunds.approve(number, by: ben)
                        } catch is RefundRefusal {}
                    }
                    if place.isMultiple(of: 4) {
                        group.addTask {
                            try await site.apply(
                                purchases[place..<place + 4].shuffled().map {
                                    OrderDatabase.refund($0, 60_000, after: 1)
                                })
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Each request was about what was left before the refund and was ended by it, or about what was left after it.
            let wrong = try await site.texts(
                """
                select number || ' ' || state from storehook.refund_requests
                 where not (requested = 9990 and refunded_by_apple = 5994
                            and (state = 'processed' or state = 'cancelled' and decider = 'apple')
                            or requested = 3996 and refunded_by_apple is null and state = 'approved')
                """)
            #expect(wrong.isEmpty)
        }
    }
}
