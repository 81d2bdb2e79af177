import AppStorePayloads
import Base
import Simulation
import Stories
import Subscriptions
import Testing

@Suite("Every story of the catalogue")
struct StoryExpectationTests {
    @Test("comes true, whatever of it is known at each instant", arguments: Story.catalogue.map(\.name))
    func comesTrue(_ name: String) throws {
        let story = try HeardStory(#require(Story.named(name)))
        for expectation in story.performance.expectations {
            let instant = Timestamp(millisecondsSince1970: expectation.instant)
            let known = story.known(at: instant)
            let day = (expectation.instant - 1_749_990_400_000) / 86_400_000
            switch expectation.claim {
            case .subscription(let claim):
                let purchase = PurchaseKey(
                    environment: expectation.app.environment.rawValue, bundleID: expectation.app.bundleId,
                    originalTransactionID: claim.originalTransactionId)
                let state = try #require(known.state(of: purchase), "\(name) on day \(day)")
                expect(state, at: instant, is: claim, "\(name) on day \(day)")
            case .consumable(let transactionID, let credited):
                let records = known.purchases.values.compactMap {
                    $0.transactions.last { $0.transactionID == transactionID }
                }
                #expect(records.count == 1, "\(name) on day \(day)")
                #expect((records.first?.revokedAt == nil) == credited, "\(name) on day \(day)")
            case .nothing:
                #expect(known.purchases.isEmpty, "\(name) on day \(day)")
            case .entitlement:
                break  // over an account's lines: a view, tested with the ledger
            }
        }
    }

    private func expect(
        _ state: SubscriptionState, at instant: Timestamp, is claim: StoryExpectation.Subscription, _ where: String
    ) {
        guard let now = state.status(at: instant) else {
            Issue.record("\(`where`): nothing")
            return
        }
        #expect(now.status.rawValue == claim.status.rawValue, "\(`where`)")
        #expect(now.status.access == claim.access, "\(`where`)")
        #expect(now.status.appleStatus == claim.status.appleStatus, "\(`where`)")
        #expect(now.productID == claim.productId, "\(`where`)")
        if let renews = claim.willRenew { #expect(now.willRenew == renews, "\(`where`)") }
        if let next = claim.renewalProductId { #expect(now.renewalProductID == next, "\(`where`)") }
        if let pending = claim.priceIncreasePending { #expect(now.priceIncreasePending == pending, "\(`where`)") }
        switch claim.account {
        case .anyone: break
        case .nobody: #expect(now.appAccountToken == nil, "\(`where`)")
        case .token(let token): #expect(now.appAccountToken == UniqueIdentifier(token), "\(`where`)")
        }
    }
}
