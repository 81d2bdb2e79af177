import AppStorePayloads
package import Base
package import PurchaseStore
import TestSupport

/// What Apple signs of a random subscription: trials, renewals that are charged ahead, upgrades, failed charges with and without grace, lapses
/// and returns, full refunds and their reversals, switches of auto-renew.
package struct RecurringLife {
    private var generator: SeededGenerator
    private let id: String
    private let accounts: [UniqueIdentifier]
    private var account: UniqueIdentifier?
    package private(set) var entries: [LedgerEntry] = []
    private var clock: Timestamp
    private var product = "basic"
    private var count = 0
    private var price: Int64?
    private var last: (id: String, from: Timestamp, days: Int64, isRenewal: Bool, isTrial: Bool)?

    /// Long enough ago that nothing is to come.
    private static let start = Shop.day(-8_000)

    /// - Parameters:
    ///   - steps: how much happens at most.
    ///   - accounts: the accounts that it may have; nearly always it has one for all of its time.
    package init(_ id: String, seed: UInt64, steps: Int, of accounts: [UniqueIdentifier] = []) {
        generator = SeededGenerator(seed: seed)
        self.id = id
        self.accounts = accounts
        clock = Self.start
        clock = clock.adding(seconds: .random(in: 0...86_399, using: &generator))
        if chance(80) { account = accounts.randomElement(using: &generator) }
        buy(isTrial: chance(40))
        // Many customers of a trial want it to end.
        if let last, last.isTrial, chance(25) { word(at: last.from.adding(days: 2), on: false, .active) }
        for _ in 0..<Int.random(in: 1...steps, using: &generator) { goOn() }
        if chance(50) { word(at: clock, on: false, intent: pick([1, 2, 3, 4, 5, nil]), .expired) }
    }

    private mutating func goOn() {
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: upgrade()
        case 1, 2: fail()
        case 3: refund()
        case 4:
            word(at: clock, on: false, intent: pick([1, nil]), .expired)
            clock = clock.adding(days: .random(in: 1...90, using: &generator))
            buy()
        case 5, 6, 7:
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                guard let last else { return }
                let length = clock.milliseconds(since: last.from)
                word(
                    at: last.from.adding(milliseconds: .random(in: 0...max(length - 1, 0), using: &generator)),
                    on: chance(50), .active)
            }
        default: buy(isRenewal: true)
        }
    }

    private mutating func buy(isTrial: Bool = false, isRenewal: Bool = false) {
        let days: Int64 = isTrial ? 7 : product == "yearly" ? 90 : 30
        let signed =
            isRenewal && chance(40) ? clock.adding(seconds: -.random(in: 1...70_000, using: &generator)) : clock
        count += 1
        if chance(4) { account = accounts.randomElement(using: &generator) }
        price = chance(3) ? nil : chance(5) ? 4_990 : product == "yearly" ? 59_950 : 9_990
        last = ("\(id).\(count)", clock, days, isRenewal, isTrial)
        hear(signed: signed, status: chance(70) ? .active : nil)
        clock = clock.adding(days: days)
    }

    private mutating func upgrade() {
        guard let last else { return }
        let length = clock.milliseconds(since: last.from)
        clock = last.from.adding(
            milliseconds: .random(in: max(length / 10, 1)...max(length * 8 / 10, 2), using: &generator))
        product = pick(["basic", "yearly", "premium"].filter { $0 != product })
        buy()
    }

    /// A charge that fails; it may succeed later, while Apple goes on saying things of it.
    private mutating func fail() {
        let grace = chance(50) ? clock.adding(days: 16) : nil
        word(at: clock, on: true, intent: 2, retry: true, grace: grace, grace == nil ? .billingRetry : .gracePeriod)
        if grace == nil, chance(30) {
            let later = clock.adding(days: 3)
            word(at: later, on: true, intent: 2, retry: true, grace: later.adding(days: 13), .gracePeriod)
        }
        let end = clock
        clock = clock.adding(days: .random(in: 4...70, using: &generator))
        if chance(30) {
            let gap = clock.milliseconds(since: end)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                word(
                    at: end.adding(milliseconds: .random(in: 0...gap, using: &generator)), on: chance(50),
                    retry: chance(50) ? true : nil, pick([.billingRetry, .expired]))
            }
        }
        buy(isRenewal: chance(70))
    }

    private mutating func refund() {
        guard let last else { return }
        let instant = last.from.adding(
            milliseconds: .random(in: 0...clock.milliseconds(since: last.from), using: &generator))
        hear(signed: instant.adding(seconds: 5), revoked: instant)
        if chance(40) {
            let signed = instant.adding(seconds: .random(in: 10...400_000, using: &generator))
            hear(signed: signed)
            clock = max(clock, signed)
        } else {
            clock = clock.adding(days: .random(in: 0...20, using: &generator))
        }
        buy()
    }

    private mutating func word(
        at instant: Timestamp, on autoRenew: Bool, intent: Int64? = nil, retry: Bool? = nil, grace: Timestamp? = nil,
        _ status: AppleStatus
    ) {
        var payload = RenewalInfoPayload(originalTransactionId: id, signedDate: instant)
        (payload.productId, payload.autoRenewProductId) = (product, product)
        payload.autoRenewStatus = autoRenew ? .on : .off
        payload.expirationIntent = intent.map { ExpirationIntent(rawValue: $0) }
        (payload.isInBillingRetryPeriod, payload.gracePeriodExpiresDate) = (retry, grace)
        hear(signed: instant, status: status, renewal: payload)
    }

    /// A notification, which always has the transaction as it is then.
    private mutating func hear(
        signed: Timestamp, revoked: Timestamp? = nil, status: AppleStatus? = nil, renewal: RenewalInfoPayload? = nil
    ) {
        guard let last else { return }
        entries.append(
            Shop.entry(
                id, last.id, at: last.from, days: last.days, product: product, renewal: last.isRenewal,
                price: last.isTrial ? 0 : price, first: Self.start, signed: signed, status: status,
                renewalInfo: renewal
            ) {
                $0.appAccountToken = account
                if last.isTrial { ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial) }
                if let revoked { ($0.revocationDate, $0.revocationType) = (revoked, .refundFull) }
            })
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &generator)] }
}
