import OrderStore
import Postgres
import PurchaseStore
package import TestSupport

extension OrderDatabase {
    /// Rows are lost and wrong; what is evidence stays.
    package func destroy() async throws {
        try await pool.withTransaction { session in
            try session.executeScript(
                """
                delete from storehook.booked_refunds where hashtext(item || place) % 3 = 0;
                update storehook.booked_refunds set at = at - interval '1 day', amount = 1 where hashtext(item) % 5 = 0;
                update storehook.booked_transactions
                   set price = 1, is_void = not is_void, relation = 'initial_purchase', revoked_share = 7, refunded = null
                 where hashtext(item) % 4 = 0;
                delete from storehook.booked_transactions where hashtext(item) % 7 = 0;
                update storehook.booked_orders set status = 'failed', item = null, refunded_at = now(), turns_at = null
                 where hashtext(order_key) % 3 = 0;
                """)
        }
    }

    /// Several writers hear the lives, a message now and then twice; numbers are dealt at the end, and meanwhile where that is asked for.
    /// - Parameter size: the most messages of a batch.
    package func hear(
        _ lives: [OrderLife], size: Int, isDealtMeanwhile: Bool = true,
        _ generator: inout SeededGenerator
    ) async throws {
        var entries = lives.flatMap(\.entries)
        let again = entries.shuffled(using: &generator).prefix(entries.count / 10).map {
            LedgerEntry($0, outboxID: $0.outboxID + 1_000_000_000, receivedAt: $0.receivedAt)
        }
        entries = (entries + again).shuffled(using: &generator)
        let writers = 4
        var batches = Array(repeating: [[LedgerEntry]](), count: writers)
        var rest = entries[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Int.random(in: 1...size, using: &generator)))
            rest = rest.dropFirst(batch.count)
            batches[Int.random(in: 0..<writers, using: &generator)].append(batch)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for batches in batches {
                group.addTask {
                    for (place, batch) in batches.enumerated() {
                        try await apply(batch)
                        if isDealtMeanwhile, place % 50 == 49 { _ = try await orders.deal(accounts) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await number()
    }
}
