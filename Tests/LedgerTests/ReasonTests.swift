import AppStorePayloads
import Postgres
import PurchaseStore
import Simulation
import Testing

@Suite("The reason of a transaction")
struct ReasonTests {
    @Test("is kept with what was said of it, and is none where Apple gives none that is known")
    func kept() async throws {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, at: 1_749_990_400_000)
        anna.renew(line)
        let arrivals = try anna.takeNotifications().map { try Arrival($0, in: .example) }
        var odd = try #require(arrivals.last)
        odd.transaction?.payload.transactionId = "odd"
        odd.transaction?.payload.transactionReason = TransactionReason(rawValue: "GIFT")
        odd.transaction?.payload.additionalTransactionReason = "SEAT_ADDITION"
        odd.renewal = nil
        try await LedgerDatabase.with { database in
            try await database.apply(arrivals.map { $0.entry(run: 0) } + odd.records(run: 0))
            let rows = try await database.connection.query(
                """
                select coalesce(reason, '-') || ' ' || coalesce(additional_reason, '-') from storehook.purchase_facts
                 order by outbox_id
                """)
            let expected = ["PURCHASE -", "RENEWAL -", "- SEAT_ADDITION"]
            #expect(try rows.map { try $0.decode(0, as: String.self) } == expected)
            let records = try await database.connection.query(
                "select coalesce(additional_reason, '-') from storehook.transactions order by 1 desc")
            #expect(try records.map { try $0.decode(0, as: String.self) } == ["SEAT_ADDITION", "-", "-"])
        }
    }
}
