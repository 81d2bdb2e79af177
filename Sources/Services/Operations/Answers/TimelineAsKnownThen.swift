import AppStorePayloads
import Base
package import PurchaseStore
import Subscriptions

extension CommandAnswer {
    /// The derived state of a purchase after each piece of evidence, in the order in which the evidence was applied,
    /// for audits.
    package init(of originalTransactionID: String, asKnownThen beliefs: [RecordedBelief]) {
        var table = Table(["APPLIED (UTC)", "SIGNED (UTC)", "NOTIFICATION", "BELIEVED"])
        var before: [PurchaseKey: SubscriptionStatus] = [:]
        for belief in beliefs {
            let after = belief.believed?.status
            table.add([
                belief.learned?.appliedAt.minute ?? "-", belief.signedAt.minute,
                belief.type == nil
                    ? belief.learned?.origin ?? "-"
                    : [belief.type?.rawValue, belief.subtype?.rawValue].compactMap(\.self).joined(separator: " "),
                RecordedStory.Entry.status(before[belief.purchase], after),
            ])
            before[belief.purchase] = after
        }
        self.init(
            [
                "original_transaction_id": .string(originalTransactionID),
                "learned": Self.belief.values(of: beliefs),
            ], text: table.text)
    }

    /// `as_of` is the latest date of Apple's statements that were known by then. The members after it hold as of that
    /// instant, and are left out for what is no subscription.
    private static let belief = CommandShape<RecordedBelief>([
        .init("environment", \.purchase.environment), .init("bundle_id", \.purchase.bundleID),
        .init("notification_uuid", \.notificationUUID), .init("type", \.type?.rawValue),
        .init("subtype", \.subtype?.rawValue), .init("signed_at", \.signedAt), .init("kind", \.learned?.kind.rawValue),
        .init("source", \.learned?.source.rawValue), .init("received_at", \.learned?.receivedAt),
        .init("applied_at", \.learned?.appliedAt), .init("outcome", \.learned?.outcome.rawValue),
        .init("as_of", \.asOf), .init("status", \.believed?.status.rawValue),
        .init("access", \.believed?.status.access), .init("product_id", \.believed?.productID),
        .init("expires_at", \.believed?.expiresAt), .init("basis", \.believed?.basis.rawValue),
    ])
}
