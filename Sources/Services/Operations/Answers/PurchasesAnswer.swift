package import Accounts
import AppStorePayloads
package import Base
package import PurchaseStore
import Subscriptions

extension CommandAnswer {
    /// The purchases of an original transaction: their state at an instant, and their timeline. For people no row of a
    /// timeline is wider than 120 characters.
    /// - Parameter known: by what had been applied at that instant it is so; nil for all that is known now.
    package init(
        at instant: Timestamp, knownAt known: Timestamp? = nil, _ subscriptions: [SubscriptionView],
        _ oneTimePurchases: [RecordedOneTimePurchase],
        _ stories: [RecordedStory]
    ) {
        let blocks = stories.map { story in
            let key = story.purchase
            let head =
                subscriptions.first { $0.key == key }?.text(at: instant)
                ?? oneTimePurchases.first { $0.purchase == key }?.text(at: instant)
                ?? "purchase \(key.originalTransactionID) of \(key.bundleID), \(key.environment): nothing at \(instant)"
            var table = Table(["SIGNED (UTC)", "WHAT HAPPENED", "STATUS"])
            for entry in story.entries {
                for (number, line) in entry.lines.enumerated() {
                    let isFirst = number == 0
                    table.add([isFirst ? entry.recorded.signedAt.minute : "", line, isFirst ? entry.status : ""])
                }
            }
            let basis = known.map { "\nby what had been applied by \($0)" } ?? ""
            return "\(head)\(basis)\n\n\(table.text)"
        }
        // Scripts know subscriptions by the name of lines.
        let members: JSONValue = [
            "at": .time(instant), "lines": SubscriptionShapes.command.values(of: subscriptions),
            "one_time_purchases": Self.oneTimePurchase.values(of: oneTimePurchases.map { ($0, instant) }),
            "timeline": .array(stories.flatMap(\.timeline)),
        ]
        self.init(
            known.map { members.adding("known_at", .time($0)) } ?? members, text: blocks.joined(separator: "\n\n"))
    }

    private static let oneTimePurchase = CommandShape<(bought: RecordedOneTimePurchase, at: Timestamp)>([
        .init("environment", \.bought.purchase.environment), .init("bundle_id", \.bought.purchase.bundleID),
        .init("original_transaction_id", \.bought.purchase.originalTransactionID),
        .init("transaction_id", \.bought.value.transactionID), .init("kind", \.bought.value.kind.rawValue),
        .init("product_id", \.bought.value.productID), .init("ownership", \.bought.value.ownership),
        .init("app_account_token", \.bought.value.appAccountToken), .init("state") { $0.bought.state(at: $0.at) },
        .init("purchased_at", \.bought.value.purchasedAt), .init("expires_at", \.bought.value.expiresAt),
        .init("revoked_at", \.bought.value.revokedAt), .init("quantity", \.bought.value.quantity),
        .init("revoked_share", \.bought.value.revokedShare),
        .init("revoked_reason", \.bought.value.revokedReason?.word),
    ])
}

extension RecordedOneTimePurchase {
    /// `bought`, `refunded`, or `not_bought` before its time.
    fileprivate func state(at instant: Timestamp) -> String {
        if value.purchasedAt > instant { return "not_bought" }
        return value.isRevoked(at: instant) ? "refunded" : "bought"
    }

    /// For people, above its timeline.
    fileprivate func text(at instant: Timestamp) -> String {
        let reason = value.revokedReason.map { " (\($0.words))" } ?? ""
        let standing =
            switch state(at: instant) {
            case "refunded": "refunded \(value.revocation(at: instant)?.minute ?? "")\(reason)"
            case "bought": "bought \(value.purchasedAt.minute)"
            default: "not bought yet"
            }
        let quantity = value.quantity > 1 ? "\(value.quantity) × " : ""
        let kind = value.kind.rawValue.replacing("_", with: " ")
        return """
            \(kind) \(purchase.originalTransactionID) of \(purchase.bundleID), \(purchase.environment)
            at \(instant.minute): \(standing), \(quantity)\(value.productID ?? "an unnamed product")
            account \(value.appAccountToken.map { "\($0)" } ?? "unknown")
            """
    }
}
