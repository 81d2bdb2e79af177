import AppStorePayloads
import Simulator
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
                let line = PurchaseKey(
                    environment: expectation.app.environment.rawValue, bundleID: expectation.app.bundleId,
                    originalTransactionID: claim.originalTransactionId)
                let state = try #require(known.state(of: line), "\(name) on day \(day)")
                expect(state, at: instant, is: claim, "\(name) on day \(day)")
            case .consumable(let transactionID, let credited):
                let records = known.lines.values.compactMap { $0.transactions[transactionID] }
                #expect(records.count == 1, "\(name) on day \(day)")
                #expect((records.first?.revokedAt == nil) == credited, "\(name) on day \(day)")
            case .nothing:
                #expect(known.lines.isEmpty, "\(name) on day \(day)")
            case .entitlement:
                break  // over an account's lines: a view, tested with the ledger
            }
        }
    }

    private func expect(
        _ state: SubscriptionState, at instant: Timestamp, is claim: StoryExpectation.Subscription, _ where: String
    ) {
        let now = state.status(at: instant)
        #expect(now.status.rawValue == claim.status.rawValue, "\(`where`)")
        #expect(now.status.access == claim.access, "\(`where`)")
        #expect(now.status.appleStatus == claim.status.appleStatus, "\(`where`)")
        #expect(now.productID == claim.productId, "\(`where`)")
        if let renews = claim.willRenew { #expect(state.willRenew == renews, "\(`where`)") }
        if let next = claim.renewalProductId { #expect(state.renewalProductID == next, "\(`where`)") }
        if let pending = claim.priceIncreasePending { #expect(state.priceIncreasePending == pending, "\(`where`)") }
        switch claim.account {
        case .anyone: break
        case .nobody: #expect(state.appAccountToken == nil, "\(`where`)")
        case .token(let token): #expect(state.appAccountToken == UniqueIdentifier(token), "\(`where`)")
        }
    }
}
