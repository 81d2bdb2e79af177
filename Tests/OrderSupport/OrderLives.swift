import AppStorePayloads
package import Base
import Crypto
import Postgres
import PurchaseStore
import TestSupport

/// Makes random lives of customers: what each bought, and what Apple signed about it.
///
/// It avoids what the definitions leave open, such as a share that falls to an unknown one.
package struct OrderLives {
    /// A purchase: its records so far.
    struct Thing {
        /// What the last record said.
        var record: TransactionPayload
        /// When that was signed.
        var signed: Timestamp
        /// The transactions that restores made of it.
        var copies: [String] = []
        /// When they were made, where that is not the date of the purchase.
        var restored: [String: Timestamp] = [:]
    }

    static let otherApp = "com.example.other"
    static let hour: Int64 = 3_600
    static let day: Int64 = 86_400
    private static let regions = [("USD", "USA"), ("EUR", "DEU"), ("JPY", "JPN"), ("EUR", "FRA")]

    let seed: UInt64
    let now: Timestamp
    var generator: SeededGenerator
    var environment = "Production"
    var app = Shop.app
    var region = ("USD", "USA")
    private var entries: [LedgerEntry] = []
    private var ids = 0
    /// The non-consumables that were bought again.
    var again: Set<String> = []

    private init(seed: UInt64, now: Timestamp) {
        (self.seed, self.now) = (seed, now)
        generator = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 17)
    }

    /// A life. Its ids begin with the seed.
    /// - Parameter now: what is charged ahead begins some hours after it.
    package static func life(seed: UInt64, now: Timestamp) -> OrderLife {
        var maker = OrderLives(seed: seed, now: now)
        for _ in 0..<maker.pick([1, 1, 2, 3]) {
            let before = maker.ids
            maker.settle()
            maker.buy()
            // The same ids elsewhere: nothing crosses apps and environments.
            if maker.chance(12) {
                let after = maker.ids
                maker.ids = before
                maker.environment = maker.environment == "Production" ? "Sandbox" : "Production"
                maker.buy()
                maker.ids = max(maker.ids, after)
            }
        }
        var life = OrderLife(seed: seed, entries: maker.entries)
        let refunds = life.entries.indices.filter { place in
            let payload = life.entries[place].transaction?.payload
            // Without the refund, what was bought again after it may be a copy. What is shared is shared in its last record.
            return payload?.revocationDate != nil && payload?.inAppOwnershipType != .familyShared
                && !(payload.map { maker.again.contains($0.originalTransactionId) } ?? false)
        }
        if !refunds.isEmpty { life.late = life.entries.remove(at: maker.pick(refunds)) }
        return life
    }

    /// Where the next purchase is made.
    private mutating func settle() {
        environment = chance(80) ? "Production" : "Sandbox"
        app = chance(75) ? Shop.app : Self.otherApp
        region = pick(Self.regions)
    }

    private mutating func buy() {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<55: subscribe()
        case 55..<65: renewUntilNow()
        case 65..<80: buyForGood()
        default: buyForOnce()
        }
    }

    // MARK: Records

    mutating func newID() -> String {
        ids += 1
        return "\(seed).\(ids)"
    }

    /// A transaction of the place and region where the life is.
    mutating func transaction(
        of original: String, id: String, _ product: String, _ kind: ProductType, at start: Timestamp, days: Int64?
    ) -> TransactionPayload {
        if chance(5) { region = pick(Self.regions) }
        var payload = TransactionPayload(
            transactionId: id, originalTransactionId: original, bundleId: app, signedDate: start,
            webOrderLineItemId: days == nil || chance(5) ? nil : id + "w", productId: product,
            subscriptionGroupIdentifier: days == nil ? nil : "group", purchaseDate: start,
            originalPurchaseDate: start, expiresDate: days.map { start.adding(days: $0) },
            quantity: pick([1, 1, 1, nil, 3]), type: kind, inAppOwnershipType: chance(90) ? .purchased : nil,
            transactionReason: .purchase)
        (payload.currency, payload.storefront) = region
        payload.price = between(290, 300_000)
        if chance(6) { (payload.price, payload.currency) = (nil, nil) }
        return payload
    }

    /// Records what Apple signs. What it would sign in the future is not said.
    mutating func report(_ thing: inout Thing, at signed: Timestamp, as id: String? = nil) {
        thing.signed = max(thing.signed, signed)
        guard signed < now else { return }
        var payload = thing.record
        payload.signedDate = signed
        if let id { (payload.transactionId, payload.purchaseDate) = (id, thing.restored[id] ?? payload.purchaseDate) }
        let number = seed * 1_000 + UInt64(entries.count) + 1
        payload.json = Array("{\"number\":\(number)}".utf8)
        let uuid = UniqueIdentifier(high: 2, low: number)
        let type: NotificationType = payload.revocationDate == nil ? .didRenew : .refund
        entries.append(
            LedgerEntry(
                outboxID: Int64(number),
                receivedAt: PostgresTimestamp(signed.adding(seconds: 1)), environment: environment, bundleID: app,
                notification: NotificationPayload(
                    notificationType: type, notificationUUID: uuid.description, uuid: uuid, signedDate: signed,
                    part: .data(NotificationData(status: nil))),
                transaction: .init(payload, digest: Array(SHA256.hash(data: payload.json))), renewal: nil))
    }

    // MARK: Chance

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &generator)] }
    mutating func between(_ low: Int64, _ high: Int64) -> Int64 { Int64.random(in: low...high, using: &generator) }

    /// An instant from which on years are left.
    mutating func beginning() -> Timestamp {
        Timestamp(millisecondsSince1970: 1_609_459_200_000).adding(milliseconds: between(0, 900 * Self.day * 1_000))
    }
}
