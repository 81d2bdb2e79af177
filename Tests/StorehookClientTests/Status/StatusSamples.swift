import Foundation

@testable import StorehookClient

/// Values of tests about the status.
enum StatusSamples {
    static let now = MovedClock.start
    static let day: TimeInterval = 86_400
    static let token = UUID(uuidString: "8c1aa1a3-5796-5a41-af00-ab65ff930c25") ?? UUID()

    /// A transaction whose number says which one of its purchase it is.
    static func transaction(
        _ id: Int = 101, of original: String = "100", _ productID: String = "pro.monthly",
        until end: Date? = now + 10 * day
    ) -> StoreTransaction {
        StoreTransaction(
            id: "\(id)", originalID: original, productID: productID, purchasedAt: now - day, expiresAt: end,
            appAccountToken: token, signedTransactionInfo: "signed.\(id).x", signedRenewalInfo: "renewal.\(id).x")
    }

    static func purchase(
        _ transaction: String? = "101", of original: String = "100", _ productID: String = "pro.monthly",
        _ status: String = "active", access: Bool = true, until end: Date? = now + 10 * day, tier: String = "pro"
    ) -> KnownStatus.Purchase {
        KnownStatus.Purchase(
            originalID: original, transactionID: transaction, productID: productID, tier: tier, status: status,
            hasAccess: access, expiresAt: end)
    }

    static func answer(
        _ status: String = "active", access: Bool = true, tier: String = "pro", until end: Date? = now + 10 * day,
        _ purchases: [KnownStatus.Purchase] = []
    ) -> KnownStatus.Answer {
        KnownStatus.Answer(
            readAt: now, hasAccess: access, tier: access ? tier : "free", status: status, expiresAt: end,
            accessUntil: access ? end : nil, purchaseType: purchases.isEmpty ? "none" : "subscription", version: 1,
            purchases: purchases)
    }

    static func known(_ answer: KnownStatus.Answer? = nil) -> KnownStatus {
        KnownStatus(
            accountID: "alice", appAccountToken: token, answer: answer,
            tiers: ["pro.monthly": "pro", "basic.monthly": "basic", "lifetime": "pro"],
            ranks: ["free", "basic", "pro", "max"], highest: now)
    }
}
