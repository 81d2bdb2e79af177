import Testing

@testable import Simulation

@Suite("The store's side of a subscription")
struct SimulatedSubscriberTests {
    private let start: Milliseconds = 1_750_000_000_000
    private var anna = SimulatedSubscriber(appAccountToken: "7e3fb204-2a6b-4d0a-9f0c-1c1f1d1b1a19", lane: 1, seed: 1)

    @Test("signs each later truth later, outside and inside")
    mutating func signedDates() {
        for seed in 0..<50 as Range<UInt64> {
            var ben = SimulatedSubscriber(lane: 1, seed: seed)
            let line = ben.buy(.basicMonthly, at: start)
            for _ in 1...20 {
                ben.switchAutoRenew(line, on: false, at: start + .hours(1))
                ben.switchAutoRenew(line, on: true, at: start + .hours(1))
            }
            let told = ben.takeNotifications()
            for (earlier, later) in zip(told, told.dropFirst()) {
                #expect(earlier.signedDate < later.signedDate, "seed \(seed)")
                #expect((earlier.renewal?.signedDate ?? 0) < (later.renewal?.signedDate ?? 0), "seed \(seed)")
            }
            for notification in told {
                let skew = (notification.transaction?.signedDate ?? 0) - notification.signedDate
                #expect((-1500...13).contains(skew), "seed \(seed)")
                #expect(notification.transaction?.signedDate == notification.renewal?.signedDate)
            }
        }
    }

    @Test("charges a renewal early, for a period that begins where the last one ends")
    mutating func earlyRenewal() throws {
        let line = anna.buy(.basicMonthly, at: start)
        anna.renew(line)
        let told = anna.takeNotifications()
        let (first, second) = try (#require(told.first), #require(told.last))
        #expect(second.transaction?.purchaseDate == first.transaction?.expiresDate)
        #expect(second.signedDate < second.transaction?.purchaseDate ?? 0)
        #expect(second.transaction?.transactionReason == "RENEWAL")
        #expect(second.transaction?.transactionId != first.transaction?.transactionId)
        #expect(second.transaction?.webOrderLineItemId != first.transaction?.webOrderLineItemId)
        #expect(second.transaction?.originalTransactionId == first.transaction?.transactionId)
        #expect(second.renewal?.renewalDate == second.transaction?.expiresDate)
    }

    @Test("continues without a gap when paid in grace, and from the payment when paid later")
    mutating func recovery() {
        let inGrace = anna.buy(.basicMonthly, at: start)
        let end = anna[inGrace].expiresDate
        anna.failToRenew(inGrace, grace: .dated)
        anna.recover(inGrace, at: end + .days(5))
        #expect(anna[inGrace].purchaseDate == end)

        let later = anna.buy(.basicMonthly, at: start + .days(100))
        anna.failToRenew(later)
        let payment = anna[later].expiresDate + .days(40)
        anna.recover(later, at: payment)
        #expect(anna[later].purchaseDate == payment)
        #expect(anna[later].renewal.isInBillingRetryPeriod == nil)
        #expect(anna[later].renewal.expirationIntent == nil)
    }

    @Test("never sends the transaction that an upgrade has replaced")
    mutating func upgrade() {
        let line = anna.buy(.basicYearly, at: start)
        _ = anna.takeNotifications()
        anna.upgrade(line, to: .premiumMonthly, at: start + .days(3))
        let told = anna.takeNotifications()
        #expect(told.count == 1)
        #expect(told[0].transaction?.isUpgraded == false)
        #expect(anna[line].transactions[0].isUpgraded)
        #expect((anna[line].transactions[0].expiresDate ?? 0) > anna[line].expiresDate)
    }

    @Test("names the refunded transaction beside the renewal info of the present one")
    mutating func oldRefund() throws {
        let line = anna.buy(.basicMonthly, at: start)
        let first = anna.latest(of: line)
        anna.renew(line)
        anna.refund(first, at: start + .days(33))
        let told = try #require(anna.takeNotifications().last)
        #expect(told.transaction?.transactionId == anna[line].originalTransactionId)
        #expect(told.transaction?.revocationPercentage == 100_000)
        #expect(told.renewal?.autoRenewStatus == 1)
        #expect(told.renewal?.renewalDate == anna[line].expiresDate)
        #expect(told.appleStatus == 1)
        anna.reverseRefund(of: first, at: start + .days(34))
        let reversed = try #require(anna.takeNotifications().last?.transaction)
        #expect(!String(decoding: reversed.json, as: UTF8.self).contains("revocation"))
    }

    @Test("keeps the order's identifier through a restore")
    mutating func restore() {
        let line = anna.buy(.basicMonthly, at: start)
        anna.restore(line)
        let (bought, restored) = (anna[line].transactions[0], anna[line].transactions[1])
        #expect(bought.transactionId != restored.transactionId)
        #expect(bought.webOrderLineItemId == restored.webOrderLineItemId)
        #expect(bought.expiresDate == restored.expiresDate)
    }

    @Test("asks prices in whole units of a currency without decimals, in milliunits, offer and quantity included")
    func prices() {
        var ken = SimulatedSubscriber(storefront: .japan, lane: 2, seed: 2)
        let line = ken.buy(.basicMonthly, offer: .freeWeek, at: start)
        #expect(ken[ken.latest(of: line)].price == 0)
        ken.redeem(.promotion, line, at: start + .days(1))
        ken.renew(line)
        let list: Int64 = 750_000
        #expect(ken[ken.latest(of: line)].price == list / 2)
        #expect(ken[ken.charge(.coins, quantity: 3, at: start + .days(9))].price == 3 * 150_000)
        #expect(ken[line].renewal.renewalPrice == list)
    }

    @Test("lets periods pass faster at a faster pace, grace included")
    func pace() {
        var ben = SimulatedSubscriber(lane: 3, seed: 3, pace: 8640)
        let line = ben.buy(.basicMonthly, at: start)
        #expect(ben[line].expiresDate == start + .minutes(5))
        ben.failToRenew(line, grace: .dated)
        #expect(ben[line].renewal.gracePeriodExpiresDate == .date(start + .minutes(5) + .seconds(160)))
    }
}
