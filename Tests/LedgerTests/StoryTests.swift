import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Simulation
import Stories
import Testing

@Suite("Every story, told to the database")
struct StoryTests {
    @Test("comes true in status_at, whatever of it is known at each instant")
    func statuses() async throws {
        try await LedgerDatabase.with { database in
            for story in Story.catalogue {
                let performance = story.performed()
                var rest = try Arrival.all(of: performance)[...]
                for expectation in performance.expectations {
                    let due = rest.prefix { $0.notification.signedDate.millisecondsSince1970 <= expectation.instant }
                    try await database.apply(due.map { $0.entry() })
                    rest = rest.dropFirst(due.count)
                    guard let claim = expectation.subscription else { continue }
                    let at = PostgresTimestamp(millisecondsSince1970: expectation.instant)
                    let row = try await database.connection.query(
                        """
                        select * from storehook.status_at(\(at))
                         where environment = \(expectation.app.environment.rawValue)
                           and bundle_id = \(expectation.app.bundleId)
                           and original_transaction_id = \(claim.originalTransactionId)
                        """
                    ).one()
                    try expect(row, is: claim, "\(story.name) at \(expectation.instant)")
                }
            }
        }
    }

    private func expect(_ row: PostgresRow, is claim: StoryExpectation.Subscription, _ where: String) throws {
        #expect(try row.decode("status", as: String.self) == claim.status.rawValue, "\(`where`)")
        #expect(try row.decode("access", as: Bool.self) == claim.access, "\(`where`)")
        #expect(try row.decode("apple_status", as: Int16.self) == Int16(claim.status.appleStatus), "\(`where`)")
        #expect(try row.decode("product_id", as: String.self) == claim.productId, "\(`where`)")
        if let renews = claim.willRenew {
            #expect(try row.decode("will_renew", as: Bool?.self) == renews, "\(`where`)")
        }
        if let next = claim.renewalProductId {
            #expect(try row.decode("renewal_product_id", as: String?.self) == next, "\(`where`)")
        }
        if let pending = claim.priceIncreasePending {
            #expect(try row.decode("price_increase_pending", as: Bool.self) == pending, "\(`where`)")
        }
        let token = try row.decode("app_account_token", as: UUID?.self)
        switch claim.account {
        case .anyone: break
        case .nobody: #expect(token == nil, "\(`where`)")
        case .token(let expected): #expect(token == UUID(uuidString: expected), "\(`where`)")
        }
    }

    @Test("comes true in the view entitlements, told so that the claimed instant is now")
    func entitlements() async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var checked = 0
        try await LedgerDatabase.with { database in
            for story in Story.catalogue {
                let claims = story.performed().expectations
                for (number, first) in claims.enumerated() {
                    guard case .entitlement = first.claim else { continue }
                    // Told over again for each claim, in the claim's own app, with identifiers of its own.
                    let begin = 1_749_990_400_000 + now - first.instant
                    var app = SimulatedApp.example
                    app.bundleId += ".\(number)"
                    let performance = story.performed(in: app, startingAt: begin, variation: number)
                    let expectation = performance.expectations[number]
                    guard case .entitlement(let claim) = expectation.claim, case .token(let token) = claim.account
                    else { continue }
                    let told = try Arrival.all(of: performance).filter {
                        $0.notification.signedDate.millisecondsSince1970 <= now
                    }
                    try await database.apply(told.map { $0.entry() })
                    let found = try await database.count(
                        """
                        select count(*) from storehook.entitlements
                         where environment = \(app.environment.rawValue) and bundle_id = \(app.bundleId)
                           and app_account_token = \(UUID(uuidString: token)) and product_id = \(claim.productId)
                           and kind = \(claim.kind) and access
                        """)
                    #expect((found > 0) == claim.access, "\(story.name), claim \(number)")
                    checked += 1
                }
            }
        }
        #expect(checked >= 15)
    }
}
