import AppStorePayloads
import Foundation
import Postgres
import PurchaseStore
import Simulation
import TestSupport
import Testing

@Suite("A transaction under two original transactions")
struct SharedTransactionTests {
    private static let start: Int64 = 1_749_990_400_000

    /// A purchase, and some time later the same transaction under another original transaction, with a refund.
    private func told() throws -> [Arrival] {
        var anna = SimulatedSubscriber(appAccountToken: UUID().uuidString, lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, at: Self.start)
        anna.switchAutoRenew(line, on: false, at: Self.start + 86_400_000)
        anna.refund(anna.latest(of: line), at: Self.start + 5 * 86_400_000)
        var arrivals = try anna.takeNotifications().map { try Arrival($0, in: .example) }
        for index in 1..<arrivals.count {
            arrivals[index].transaction?.payload.originalTransactionId = "2000000000000777"
            arrivals[index].renewal?.payload.originalTransactionId = "2000000000000777"
        }
        return arrivals
    }

    @Test("is the latest-signed record's: the same rows in every order, and no ghost with access")
    func everyOrder() async throws {
        let arrivals = try told()
        try await LedgerDatabase.with { database in
            let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
            for (run, order) in orders.enumerated() {
                for index in order { try await database.apply([arrivals[index].entry(run: run)]) }
            }
            // And all at once.
            try await database.apply(orders[3].map { arrivals[$0].entry(run: orders.count) })
            let rows = try await database.rows()
            for run in 1...orders.count { #expect(rows[run] == rows[0], "run \(run)") }

            let at = PostgresTimestamp(millisecondsSince1970: Self.start + 10 * 86_400_000)
            let statuses = try await database.connection.query(
                "select distinct original_transaction_id, status from storehook.status_at(\(at)) where basis = 'records'"
            )
            #expect(try statuses.map { try $0.decode(0, as: String.self) } == ["2000000000000777"])
            #expect(try statuses.map { try $0.decode(1, as: String.self) } == ["revoked"])
            let ghosts = try await database.count(
                "select count(*) from storehook.status_at(\(at)) where access")
            #expect(ghosts == 0)
            let shared = try await database.count(
                "select count(*) from storehook.anomalies where kind = 'transaction_shared'")
            #expect(shared == 2 * Int64(orders.count + 1))
        }
    }
}
