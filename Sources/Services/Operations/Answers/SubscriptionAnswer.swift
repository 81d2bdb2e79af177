import AppStorePayloads
package import Base
import Foundation
package import PurchaseStore
import Subscriptions

/// What is known of the purchases of an original transaction: how they stand at an instant, and what happened to them.
package struct SubscriptionAnswer: Encodable {
    /// A subscription as it stands.
    package struct Subscription: Encodable {
        package var environment: String
        package var bundleId: String
        package var originalTransactionId: String
        package var productId: String?
        package var subscriptionGroupId: String?
        package var appAccountToken: String?
        package var status: String
        package var access: Bool
        package var expiresAt: String
        package var accessUntil: String?
        package var willRenew: Bool?
        package var renewalProductId: String?
        package var inTrial: Bool
        package var priceIncreasePending: Bool
        package var appleStatus: Int
        package var periodEndsAt: String?
        package var graceEndsAt: String?
        package var expirationIntent: Int?
        /// `records`, `renewal_info` or `reported_status`.
        package var basis: String
        /// What that means, where it is not `records`.
        package var basisExplained: String?
        package var since: String?
        package var transactionId: String?
        package var ownership: String?
        package var offerType: Int?
        package var offerId: String?
        /// Thousandths of the currency's unit.
        package var price: Int64?
        package var currency: String?
        package var storefront: String?
        package var appTransactionId: String?
        package var renewalPrice: Int64?
        package var renewalCurrency: String?
    }

    /// Something bought once, as it stands.
    package struct OneTime: Encodable {
        package var environment: String
        package var bundleId: String
        package var originalTransactionId: String
        package var transactionId: String
        package var kind: String
        package var productId: String?
        package var ownership: String?
        package var appAccountToken: String?
        /// `bought`, `refunded`, or `not_bought` before its time.
        package var state: String
        package var purchasedAt: String
        package var expiresAt: String?
        package var revokedAt: String?
        package var quantity: Int64
        /// Thousandths of a percent that were taken back.
        package var revokedShare: Int64
    }

    package var at: String
    package var subscriptions: [Subscription]
    package var oneTimePurchases: [OneTime]
    package var timeline: [StoryEntryAnswer]
    private let blocks: [String]

    // Scripts know subscriptions by this name.
    private enum CodingKeys: String, CodingKey {
        case at
        case subscriptions = "lines"
        case oneTimePurchases, timeline
    }

    /// What is known, at an instant.
    package init(
        at instant: Timestamp, _ statuses: [PurchaseStatus], _ oneTimePurchases: [RecordedOneTimePurchase],
        _ stories: [RecordedStory]
    ) {
        at = instant.description
        subscriptions = statuses.map(Subscription.init)
        self.oneTimePurchases = oneTimePurchases.map { OneTime($0, at: instant) }
        timeline = stories.flatMap { story in story.entries.map { StoryEntryAnswer($0, of: story.purchase) } }
        var blocks: [String] = []
        for story in stories {
            let key = story.purchase
            let status = statuses.first {
                $0.originalTransactionID == key.originalTransactionID && $0.bundleID == key.bundleID
                    && $0.environment == key.environment
            }
            let once = oneTimePurchases.first { $0.purchase == key }
            let head =
                status.map { SubscriptionHead($0, at: instant).text } ?? once.map { Self.head($0, at: instant) }
                ?? "purchase \(key.originalTransactionID) of \(key.bundleID), \(key.environment): nothing at \(instant)"
            var table = Table(["SIGNED (UTC)", "WHAT HAPPENED", "STATUS"])
            for entry in story.entries {
                let answer = StoryEntryAnswer(entry, of: key)
                for (number, line) in answer.lines.enumerated() {
                    let isFirst = number == 0
                    table.add([isFirst ? entry.told.signedAt.minute : "", line, isFirst ? answer.status : ""])
                }
            }
            blocks.append("\(head)\n\n\(table.text)")
        }
        self.blocks = blocks
    }

    /// Whether nothing is known.
    package var isEmpty: Bool { subscriptions.isEmpty && oneTimePurchases.isEmpty && timeline.isEmpty }

    /// For people: no row of the story is wider than 120 characters.
    package var text: String { blocks.joined(separator: "\n\n") }

    private static func head(_ purchase: RecordedOneTimePurchase, at instant: Timestamp) -> String {
        let state = OneTime(purchase, at: instant)
        let name = "\(state.kind.replacing("_", with: " ")) \(state.originalTransactionId)"
        var rows = ["\(name) of \(state.bundleId), \(state.environment)"]
        let quantity = state.quantity > 1 ? "\(state.quantity) × " : ""
        let product = state.productId ?? "an unnamed product"
        let standing =
            switch state.state {
            case "refunded": "refunded \(purchase.value.revokedAt?.minute ?? "")"
            case "bought": "bought \(purchase.value.purchasedAt.minute)"
            default: "not bought yet"
            }
        rows.append("at \(instant.minute): \(standing), \(quantity)\(product)")
        rows.append("account \(state.appAccountToken ?? "unknown")")
        return rows.joined(separator: "\n")
    }
}

extension SubscriptionAnswer.OneTime {
    fileprivate init(_ purchase: RecordedOneTimePurchase, at instant: Timestamp) {
        environment = purchase.purchase.environment
        bundleId = purchase.purchase.bundleID
        originalTransactionId = purchase.purchase.originalTransactionID
        let value = purchase.value
        transactionId = value.transactionID
        kind = value.kind.rawValue
        productId = value.productID
        ownership = value.ownership
        appAccountToken = value.appAccountToken?.description
        state =
            value.purchasedAt > instant
            ? "not_bought" : value.revokedAt.map { $0 <= instant } == true ? "refunded" : "bought"
        purchasedAt = value.purchasedAt.description
        expiresAt = value.expiresAt?.description
        revokedAt = value.revokedAt?.description
        quantity = value.quantity
        revokedShare = value.revokedShare
    }
}

extension SubscriptionAnswer.Subscription {
    fileprivate init(_ status: PurchaseStatus) {
        environment = status.environment
        bundleId = status.bundleID
        originalTransactionId = status.originalTransactionID
        productId = status.productID
        subscriptionGroupId = status.subscriptionGroupID
        appAccountToken = status.appAccountToken?.uuidString.lowercased()
        self.status = status.status
        access = status.access
        expiresAt = status.expiresAt.description
        accessUntil = status.accessUntil?.description
        willRenew = status.willRenew
        renewalProductId = status.renewalProductID
        inTrial = status.inTrial
        priceIncreasePending = status.priceIncreasePending
        appleStatus = status.appleStatus
        periodEndsAt = status.periodEndsAt?.description
        graceEndsAt = status.graceEndsAt?.description
        expirationIntent = status.expirationIntent
        basis = status.basis
        basisExplained = SubscriptionHead.explanation(of: status.basis)
        since = status.since?.description
        transactionId = status.transactionID
        ownership = status.ownership
        offerType = status.offerType
        offerId = status.offerID
        price = status.price?.milliunits
        currency = status.price?.currency
        storefront = status.storefront
        appTransactionId = status.appTransactionID
        renewalPrice = status.renewalPrice?.milliunits
        renewalCurrency = status.renewalPrice?.currency
    }
}
