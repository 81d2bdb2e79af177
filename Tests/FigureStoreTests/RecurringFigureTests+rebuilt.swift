import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import Testing

extension RecurringFigureTests {
    @Test("further times of a period that is gone, or found again, are summed again", arguments: [true, false])
    func foundAgain(isChanged: Bool) async throws {
        try await FigureDatabase.with { database in
            // Of one account: what the end of the other one on 20 June is depends on the further time.
            try await database.hear(
                Self.period("1", "1", 0, of: Self.account),
                Self.period("2", "2", 140, "premium", price: 19_980, of: Self.account, first: 140))
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    insert into storehook.booked_stretches (order_id, item, place, starts_at, ends_at, end_reason)
                    select order_id, item, 0, starts_at + interval '150 days', starts_at + interval '180 days', 'other'
                      from storehook.booked_transactions where transaction_id = '1';
                    create table storehook.away as select * from storehook.booked_transactions where transaction_id = '1';
                    """)
            }
            try await database.settle()
            let before = try await database.lines(.mrrMovements, "2026-05-01", "2026-07-31")
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    isChanged
                        ? "update storehook.booked_transactions set is_void = true where transaction_id = '1'"
                        : "delete from storehook.booked_transactions where transaction_id = '1'")
            }
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            let meanwhile = try await database.lines(.mrrMovements, "2026-05-01", "2026-07-31")
            #expect(meanwhile != before)
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    isChanged
                        ? "update storehook.booked_transactions set is_void = false where transaction_id = '1'"
                        : "insert into storehook.booked_transactions select * from storehook.away")
            }
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            let after = try await database.lines(.mrrMovements, "2026-05-01", "2026-07-31")
            #expect(after == before)
        }
    }
}
