import Postgres
import PurchaseStore
import Simulation
import Testing

/// What a renewal costs must not depend on how long the purchase has lasted. Told by rows, not by a clock.
@Suite("A purchase of 2,000 periods")
struct LongPurchaseTests {
    /// Rows that a connection has read of a table, and written to it.
    private struct Touched {
        var read: Int64
        var written: Int64

        static func - (after: Touched, before: Touched) -> Touched {
            Touched(read: after.read - before.read, written: after.written - before.written)
        }
    }

    private static let tables = ["purchase_facts", "transactions", "subscription_history"]

    private func touched(_ table: String, _ session: borrowing PostgresSession) throws -> Touched {
        let row = try session.query(
            """
            select (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint, (n_tup_ins + n_tup_upd + n_tup_del)::bigint
              from pg_stat_xact_user_tables where schemaname = 'storehook' and relname = \(table)
            """
        ).one()
        return Touched(read: try row.decode(0), written: try row.decode(1))
    }

    @Test("renews by its last statements and periods alone")
    func bounded() async throws {
        try await LedgerDatabase.with { database in
            // In a database of one purchase the planner would rightly read all of it.
            try await database.connection.withTransaction { session in
                try session.executeScript(
                    SimulatedState(subscriptions: 4000, oneTimePurchases: 1000).script, deadline: .seconds(120))
            }
            var purchase = RenewingPurchase(1)
            let ledger = database.ledger
            for batch in (0..<2000).map({ _ in purchase.next() }).batches(of: 500) {
                try await database.apply(batch)
            }
            // As autovacuum would have.
            try await database.connection.query("vacuum (analyze)")
            for _ in 0..<8 {
                let entry = purchase.next()
                let read = try await database.connection.withTransaction { session in
                    var touched: [Touched] = []
                    for table in Self.tables { touched.append(try self.touched(table, session)) }
                    _ = try ledger.apply([entry], session)
                    for (place, table) in Self.tables.enumerated() {
                        touched[place] = try self.touched(table, session) - touched[place]
                    }
                    return touched
                }
                // The three periods before the phases at hand, those at hand, and four statements before them.
                #expect(read[0].read <= 20, "statements")
                #expect(read[0].written == 1)
                #expect(read[1].read <= 20, "transactions")
                #expect(read[2].read <= 1 && read[2].written <= 1, "earlier phases")
            }
            #expect(
                try await database.count("select max(earlier_phases)::bigint from storehook.subscriptions")
                    > Int64(purchase.period) - 10)
        }
    }
}
