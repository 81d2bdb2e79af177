import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Subscriptions
import Testing

@Suite("A balance of consumables")
struct BalanceTests {
    private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

    private func coins(
        _ id: String, of original: String? = nil, quantity: Int64 = 1, share: Int64? = nil, revoked: Bool = false,
        token: UniqueIdentifier? = nil, later: Int64 = 0
    ) -> LedgerEntry {
        let digest = Array(repeating: UInt8(later), count: 16) + Arrival.digest(Array(id.utf8)).prefix(16)
        return LedgerEntry(
            outboxID: Int64.random(in: 1...(.max)), receivedAt: PostgresTimestamp(millisecondsSince1970: 0),
            source: .api, environment: "Production", bundleID: "app",
            .transaction(
                .init(
                    TransactionPayload(
                        transactionId: id, originalTransactionId: original ?? id, bundleId: "app",
                        signedDate: Self.now.adding(seconds: later), productId: "coins", purchaseDate: Self.now,
                        quantity: quantity, type: .consumable, appAccountToken: token,
                        revocationDate: revoked ? Self.now.adding(seconds: 5) : nil, revocationPercentage: share,
                        json: Array("{}".utf8)), digest: digest)))
    }

    /// Bought, revoked, balance, and the exact ones of the last two.
    private func balances(_ database: LedgerDatabase) async throws -> [[Int64]] {
        try await database.connection.query(
            """
            select bought, revoked, balance, revoked_parts, balance_parts from storehook.consumable_balances
             order by app_account_token nulls first
            """
        ).map { row in try (0..<5).map { try row.decode($0, as: Int64.self) } }
    }

    @Test(
        "has a credit for each transaction, also under one originalTransactionId, and is exact to 1/100,000 of a unit")
    func exact() async throws {
        try await LedgerDatabase.with { database in
            try await database.apply([coins("1"), coins("2", of: "1", quantity: 2)])
            #expect(try await balances(database) == [[3, 0, 3, 0, 300_000]])
            try await database.apply([coins("1", share: 99_000, revoked: true, later: 10)])
            #expect(try await balances(database) == [[3, 0, 2, 99_000, 201_000]])
            // The hundredth that is missing of a whole unit comes from another purchase.
            try await database.apply([coins("3"), coins("3", share: 1000, revoked: true, later: 10)])
            #expect(try await balances(database) == [[4, 1, 3, 100_000, 300_000]])
            // Reversed, it is credited again.
            try await database.apply([coins("1", later: 20)])
            #expect(try await balances(database) == [[4, 0, 3, 1000, 399_000]])
        }
    }
}
