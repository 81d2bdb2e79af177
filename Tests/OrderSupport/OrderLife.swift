import AppStorePayloads
import Base
package import PurchaseStore

/// What Apple signed about the purchases of one customer, in no particular order of arrival.
package struct OrderLife: Sendable {
    /// What its ids begin with.
    package let seed: UInt64
    /// All of it but ``late``.
    package var entries: [LedgerEntry]
    /// What arrives after everything else: a refund where there is one.
    package var late: LedgerEntry?

    package init(seed: UInt64, entries: [LedgerEntry], late: LedgerEntry? = nil) {
        (self.seed, self.entries, self.late) = (seed, entries, late)
    }

    /// The seed of the life that an order is of.
    package static func seed(ofKey key: String) -> UInt64? { key.split(separator: ".").first.flatMap { UInt64($0) } }

    /// One line a record, in the order of signing.
    package var story: String {
        let all = (entries + [late].compactMap(\.self)).sorted {
            ($0.signedAt ?? .distantPast) < ($1.signedAt ?? .distantPast)
        }
        return all.compactMap { entry in
            entry.transaction.map { record in
                let payload = record.payload
                let words: [(String, String?)] = [
                    ("", entry.environment), ("", payload.bundleId), ("original ", payload.originalTransactionId),
                    ("transaction ", payload.transactionId), ("line item ", payload.webOrderLineItemId),
                    ("", payload.productId), ("", payload.type?.rawValue), ("", payload.inAppOwnershipType?.rawValue),
                    ("", payload.transactionReason?.rawValue), ("from ", payload.purchaseDate.map(Self.text)),
                    ("to ", payload.expiresDate.map(Self.text)),
                    ("first ", payload.originalPurchaseDate.map(Self.text)),
                    ("price ", payload.price.map { "\($0)" }), ("", payload.currency), ("", payload.storefront),
                    ("quantity ", payload.quantity.map { "\($0)" }),
                    ("", payload.offerDiscountType?.rawValue), ("", payload.isUpgraded == true ? "upgraded" : nil),
                    ("revoked ", payload.revocationDate.map(Self.text)), ("", payload.revocationType?.rawValue),
                    ("share ", payload.revocationPercentage.map { "\($0)" }),
                ]
                let mark = entry.outboxID == late?.outboxID ? "late " : ""
                return mark + "signed \(Self.text(payload.signedDate)): "
                    + words.compactMap { label, value in value.map { label + $0 } }.joined(separator: ", ")
            }
        }.joined(separator: "\n")
    }

    private static func text(_ instant: Timestamp) -> String { instant.description }
}
