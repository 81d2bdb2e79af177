import AppStorePayloads
import Foundation
import Postgres
import PurchaseStore
import Simulation
import Testing

@Suite("Entitlements")
struct EntitlementTests {
    private static let now = Int64(Date().timeIntervalSince1970 * 1000)
    private static let dayLength: Int64 = 86_400_000
    private static func ago(_ days: Int64) -> Int64 { now - days * dayLength }

    private struct Entitlement: Equatable {
        var product: String?
        var kind: String
        var access: Bool
    }

    private func entitlements(
        of token: String?, in database: LedgerDatabase
    ) async throws -> [Entitlement] {
        try await database.connection.query(
            """
            select product_id, kind, access from storehook.entitlements
             where app_account_token is not distinct from \(token.flatMap { UUID(uuidString: $0) })
             order by kind, product_id, access
            """
        ).map {
            Entitlement(product: try $0.decode(0), kind: try $0.decode(1), access: try $0.decode(2))
        }
    }

    @Test("a line that ends in billing retry takes nothing from the one bought beside it")
    func secondLine() async throws {
        let token = UUID().uuidString
        var anna = SimulatedSubscriber(appAccountToken: token, lane: 1, seed: 1)
        let first = anna.buy(.basicMonthly, at: Self.ago(95))
        anna.failToRenew(first)
        let second = anna.buy(.basicMonthly, at: Self.ago(40))
        anna.renew(second)
        anna.expire(first, .billing)
        let told = try anna.takeNotifications().map { try Arrival($0, in: .example) }
        try await LedgerDatabase.with { database in
            // Before the second purchase nothing is left of the first.
            try await database.apply(told.prefix(2).map { $0.entry() })
            #expect(
                try await entitlements(of: token, in: database)
                    == [Entitlement(product: SimulatedProduct.basicMonthly.id, kind: "subscription", access: false)])
            for arrival in told.dropFirst(2) { try await database.apply([arrival.entry()]) }
            #expect(
                try await entitlements(of: token, in: database)
                    == [Entitlement(product: SimulatedProduct.basicMonthly.id, kind: "subscription", access: true)])
            let statuses = try await database.connection.query(
                "select status from storehook.subscription_status order by status")
            #expect(try statuses.map { try $0.decode(0, as: String.self) } == ["active", "expired"])
        }
    }

    @Test("an identifier shared by two apps and two environments never ties them together")
    func namesakes() async throws {
        let token = UUID().uuidString
        var second = SimulatedApp.example
        second.bundleId += ".second"
        let apps = [SimulatedApp.example, second, SimulatedApp.example.in(.production), second.in(.production)]
        try await LedgerDatabase.with { database in
            for (number, app) in apps.enumerated() {
                var anna = SimulatedSubscriber(app: app, appAccountToken: token, lane: 1, seed: UInt64(number))
                let line = anna.buy(.basicMonthly, at: Self.ago(10))
                if number == 0 { anna.refund(anna.latest(of: line), at: Self.ago(5)) }
                let told = try anna.takeNotifications().map { try Arrival($0, in: app).about("2000000000000001") }
                try await database.apply(told.map { $0.entry() })
            }
            let rows = try await database.connection.query(
                """
                select environment, bundle_id, status, original_transaction_id from storehook.subscription_status
                 order by status, environment, bundle_id
                """)
            #expect(
                try rows.map { try $0.decode("status", as: String.self) } == ["active", "active", "active", "revoked"])
            #expect(try Set(rows.map { try $0.decode("original_transaction_id", as: String.self) }).count == 1)
            #expect(try rows.last?.decode("bundle_id", as: String.self) == SimulatedApp.example.bundleId)
            #expect(try rows.last?.decode("environment", as: String.self) == "Sandbox")
            #expect(try await entitlements(of: token, in: database).map(\.access) == [false, true, true, true])
        }
    }

    @Test("without an account token each line speaks for itself")
    func nobody() async throws {
        try await LedgerDatabase.with { database in
            for lane in 1...2 {
                var anna = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
                let line = anna.buy(.basicMonthly, at: Self.ago(10))
                if lane == 1 { anna.refund(anna.latest(of: line), at: Self.ago(5)) }
                let told = try anna.takeNotifications().map { try Arrival($0, in: .example) }
                try await database.apply(told.map { $0.entry() })
            }
            #expect(try await entitlements(of: nil, in: database).map(\.access) == [false, true])
        }
    }

    @Test("what the family shares gives access, and is nobody's money")
    func family() async throws {
        let token = UUID().uuidString
        var child = SimulatedSubscriber(appAccountToken: token, lane: 1, seed: 1)
        child.buy(.premiumYearly, ownership: .familyShared, at: Self.ago(10))
        let told = try child.takeNotifications().map { try Arrival($0, in: .example) }
        try await LedgerDatabase.with { database in
            try await database.apply(told.map { $0.entry() })
            #expect(try await entitlements(of: token, in: database).map(\.access) == [true])
            #expect(try await database.connection.query("select 1 from storehook.paid_periods").isEmpty)
        }
    }
}

extension Arrival {
    /// The same about a line of another name.
    fileprivate func about(_ original: String) -> Arrival {
        var copy = self
        copy.transaction?.payload.originalTransactionId = original
        copy.renewal?.payload.originalTransactionId = original
        return copy
    }
}
