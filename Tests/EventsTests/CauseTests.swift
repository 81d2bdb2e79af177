import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
import StoreModel
import Subscriptions
import Testing

/// By which a reader tells what came of one thing.
@Suite("The cause of an event")
struct CauseTests {
    private let ann = UniqueIdentifier(high: 1, low: 1)
    private let notification = UniqueIdentifier(high: 2, low: 1)
    private let record = UniqueIdentifier(high: 2, low: 2)

    /// The `uuid` of a written cause.
    private func uuid(_ draft: EventDraft) throws -> UniqueIdentifier {
        let text = Event(draft, account: nil, version: nil, sequence: 1).json(previousSequence: nil)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let cause = try #require((body["data"] as? [String: Any])?["cause"] as? [String: Any])
        return try #require((cause["uuid"] as? String).flatMap { UniqueIdentifier($0) })
    }

    /// The account with a subscription up to an instant, and what it is from then on.
    private func state(until end: Timestamp, _ status: AccountStatus) throws -> AccountState {
        let key = Listener.key
        let before = AccountPhase(
            startsAt: day(0), status: .active, tier: "pro", source: .apple, purchase: key, expiresAt: day(30))
        let after = AccountPhase(
            startsAt: end, status: status, tier: "free", source: .apple, purchase: key, expiresAt: end)
        return try #require(AccountState([before, after]))
    }

    @Test(
        "all that one refund brings names the first evidence of it, whatever else comes with it and speaks of the transaction",
        arguments: [false, true])
    func refund(_ isReversed: Bool) throws {
        var listener = Listener.subscriber()
        listener.account = ann
        listener.tick(day(1))
        let refunded = period("1", 0...30, revoked: day(4), signed: day(4, seconds: 9))
        var facts = listener.facts
        let known = facts
        facts.merge(refunded)
        // Apple posted it, its history of refunds says it again, and a later notification is of the same transaction.
        let posted = Evidence(
            .notification(type: "REFUND", subtype: nil, uuid: notification), asOf: day(4, seconds: 9),
            transactionID: "1", refundedAt: day(4))
        let listed = Evidence(
            .refresh, asOf: day(4, seconds: 20), transactionID: "1", refundedAt: day(4), id: record)
        let later = Evidence(
            .notification(type: "DID_CHANGE_RENEWAL_STATUS", subtype: nil, uuid: UniqueIdentifier(high: 2, low: 3)),
            asOf: day(4, seconds: 30), transactionID: "1", refundedAt: day(4))
        let evidence = isReversed ? [later, listed, posted] : [posted, listed, later]
        let purchase = PurchaseState(facts, policy: listener.policy)
        let line = SubscriptionNow(
            key: Listener.key, phases: purchase.subscription?.phases ?? [], periods: purchase.paidPeriods,
            periodsBefore: PaidPeriod.all(of: known), account: ann)
        let events = SubscriptionEvents(listener.told, line, evidence: evidence, at: day(4, seconds: 40))
        #expect(events.events.map(\.kind) == [.subscriptionRefunded, .subscriptionRevoked])
        let access = AccountEvents(
            LastReportedAccount(value: try state(until: day(4), .revoked).value(at: day(1)), since: day(0)),
            try state(until: day(4), .revoked), of: ann, in: "Production", evidence: evidence,
            at: day(4, seconds: 40))
        #expect(access.events.map(\.kind) == [.accountAccessChanged])
        for event in events.events + access.events { #expect(try uuid(event) == notification) }
        // Once more, by what was reported last: nothing.
        let again = SubscriptionNow(
            key: Listener.key, phases: purchase.subscription?.phases ?? [], periods: purchase.paidPeriods,
            periodsBefore: purchase.paidPeriods, account: ann)
        #expect(SubscriptionEvents(events.reported, again, evidence: [listed], at: day(5)).events.isEmpty)
    }

    @Test("the refund of something bought once, likewise")
    func oneTime() throws {
        func bought(_ revoked: Timestamp?) throws -> OneTimePurchase {
            try #require(
                OneTimePurchase(
                    PurchaseFacts(transactions: [
                        TransactionFact(
                            transactionID: "9", productID: "book", kind: .nonConsumable, purchasedAt: day(0),
                            revokedAt: revoked, signedAt: revoked ?? day(0), digest: [1])
                    ])))
        }
        let events = OneTimePurchaseEvents.events(
            try bought(nil), try bought(day(4)), of: Listener.key, account: ann,
            evidence: [
                Evidence(.refresh, asOf: day(5), transactionID: "9", refundedAt: day(4), id: record),
                Evidence(
                    .notification(type: "REFUND", subtype: nil, uuid: notification), asOf: day(4), transactionID: "9",
                    refundedAt: day(4)),
            ], at: day(5))
        #expect(events.map(\.kind) == [.purchaseRefunded])
        #expect(try events.map { try uuid($0) } == [notification])
    }

    @Test("what the clock brings an account at an instant has one id; another account or instant has another")
    func clock() throws {
        var listener = Listener.subscriber()
        listener.account = ann
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        listener.rules.warningDays = []
        listener.events = []
        listener.runClock(to: day(31))
        let expired = try #require(listener.events.first)
        #expect(expired.kind == .subscriptionExpired && expired.cause == .clock)
        func ended(_ account: UniqueIdentifier, at end: Timestamp) throws -> EventDraft {
            try #require(
                AccountEvents(
                    LastReportedAccount(value: try state(until: end, .expired).value(at: day(1)), since: day(0)),
                    try state(until: end, .expired), of: account, in: "Production", at: day(40)
                ).events.first)
        }
        #expect(try uuid(expired) == uuid(ended(ann, at: day(30))))
        #expect(try uuid(expired) != uuid(ended(ann, at: day(29))))
        #expect(try uuid(expired) != uuid(ended(UniqueIdentifier(high: 1, low: 2), at: day(30))))
    }
}
