import AppStorePayloads
import Base
import Foundation
import PurchaseStore
import Subscriptions

/// How a subscription stands, for people: above its story.
struct SubscriptionHead {
    private let status: PurchaseStatus
    private let instant: Timestamp

    init(_ status: PurchaseStatus, at instant: Timestamp) {
        self.status = status
        self.instant = instant
    }

    var text: String {
        let access = status.access ? "access until \((status.accessUntil ?? status.expiresAt).minute)" : "no access"
        var rows = [
            "subscription \(status.originalTransactionID) of \(status.bundleID), \(status.environment)",
            "at \(instant.minute): \(status.status), \(access) (Apple's status \(status.appleStatus))",
        ]
        if let explanation = Self.explanation(of: status.basis) { rows.append(explanation) }
        rows.append(
            joined([
                "product \(status.productID ?? "unknown")", status.price?.words,
                status.storefront.map { "storefront \($0)" },
                status.ownership.flatMap {
                    $0 == OwnershipType.purchased.rawValue ? nil : $0.lowercased().replacing("_", with: " ")
                },
            ]))
        rows.append(
            joined([
                "period ends \((status.periodEndsAt ?? status.expiresAt).minute)",
                status.graceEndsAt.map { "grace ends \($0.minute)" }, offer, renewal,
            ]))
        rows.append("account \(status.appAccountToken?.uuidString.lowercased() ?? "unknown")")
        return rows.joined(separator: "\n")
    }

    private func joined(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: ", ") }

    private var offer: String? {
        guard let type = status.offerType else { return nil }
        let names = [1: "introductory offer", 2: "promotional offer", 3: "offer code", 4: "win-back offer"]
        return (names[type] ?? "offer of type \(type)") + (status.offerID.map { " \($0)" } ?? "")
    }

    private var renewal: String {
        switch status.willRenew {
        case true:
            let product = status.renewalProductID.flatMap { $0 == status.productID ? nil : $0 }
            return "renews" + (product.map { " as \($0)" } ?? "")
                + (status.renewalPrice.map { " for \($0.words)" } ?? "")
        case false: return "auto-renew is off"
        default: return "Apple never said whether it renews"
        }
    }

    /// What it means that a status does not rest on records; nil where it does.
    static func explanation(of basis: String) -> String? {
        switch StatusAtInstant.Basis(rawValue: basis) {
        case .renewalInfo: "by renewal info alone: the period whose end it names was never heard of"
        case .reportedStatus: "by Apple's reported status alone: no record that is known explains it"
        case .records, nil: nil
        }
    }
}
