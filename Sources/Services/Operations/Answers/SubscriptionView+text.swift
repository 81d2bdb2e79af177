import Accounts
import AppStorePayloads
import Base
import Subscriptions

extension SubscriptionView {
    /// How a subscription stands, for people: above its timeline.
    func text(at instant: Timestamp) -> String {
        let end = (accessUntil ?? expiresAt)?.minute ?? "-"
        var rows = [
            "subscription \(key.originalTransactionID) of \(key.bundleID), \(key.environment)",
            "at \(instant.minute): \(status?.rawValue ?? "-"), \(access ? "access until \(end)" : "no access") "
                + "(Apple's status \(status?.appleStatus ?? 0))",
        ]
        if let basisExplained { rows.append(basisExplained) }
        rows.append(
            Self.joined([
                "product \(productID ?? "unknown")", price?.words, storefront.map { "storefront \($0)" },
                ownership.flatMap {
                    $0 == OwnershipType.purchased.rawValue ? nil : $0.lowercased().replacing("_", with: " ")
                },
            ]))
        rows.append(
            Self.joined([
                "period ends \((periodEndsAt ?? expiresAt)?.minute ?? "-")",
                graceEndsAt.map { "grace ends \($0.minute)" }, offer, renewal,
            ]))
        rows.append("account \(appAccountToken.map { "\($0)" } ?? "unknown")")
        return rows.joined(separator: "\n")
    }

    private static func joined(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: ", ") }

    private var offer: String? {
        guard let type = offerType else { return nil }
        let names = [1: "introductory offer", 2: "promotional offer", 3: "offer code", 4: "win-back offer"]
        return (names[type] ?? "offer of type \(type)") + (offerID.map { " \($0)" } ?? "")
    }

    private var renewal: String {
        switch willRenew {
        case true:
            let product = renewalProductID.flatMap { $0 == productID ? nil : $0 }
            return "renews" + (product.map { " as \($0)" } ?? "") + (renewalPrice.map { " for \($0.words)" } ?? "")
        case false: return "auto-renew is off"
        default: return "Apple never said whether it renews"
        }
    }
}
