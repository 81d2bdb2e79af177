package import AppStorePayloads
import Foundation
package import Ledger

/// A subscription and its timeline, as people and scripts see them.
package struct SubscriptionAnswer: Encodable {
    /// One purchase as it stands.
    package struct Line: Encodable {
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
    }

    /// One line of the timeline.
    package struct Entry: Encodable {
        package var environment: String
        package var bundleId: String
        package var notificationUuid: String
        package var type: String
        package var subtype: String?
        package var transactionId: String?
        package var signedAt: String
        package var receivedAt: String
        package var appliedAt: String
        package var outcome: String
        package var statusBefore: String?
        package var statusAfter: String?
        /// Column to [before, after]; null for what is no subscription.
        package var changes: [String: [String?]]?
    }

    package var at: String
    package var lines: [Line]
    package var timeline: [Entry]

    /// What is known of a subscription, at an instant.
    package init(at instant: Timestamp, _ lines: [PurchaseStatus], _ timeline: [TimelineEntry]) {
        at = instant.description
        self.lines = lines.map { line in
            Line(
                environment: line.environment, bundleId: line.bundleID,
                originalTransactionId: line.originalTransactionID, productId: line.productID,
                subscriptionGroupId: line.subscriptionGroupID,
                appAccountToken: line.appAccountToken?.uuidString.lowercased(), status: line.status,
                access: line.access, expiresAt: line.expiresAt.description,
                accessUntil: line.accessUntil?.description, willRenew: line.willRenew,
                renewalProductId: line.renewalProductID, inTrial: line.inTrial,
                priceIncreasePending: line.priceIncreasePending, appleStatus: line.appleStatus)
        }
        self.timeline = timeline.map(Entry.init)
    }

    /// For people.
    package var text: String {
        let blocks = lines.map { line in
            """
            subscription \(line.originalTransactionId) of \(line.bundleId), \(line.environment)
            at \(at): \(line.status), \(line.access ? "access" : "no access") (Apple's status \(line.appleStatus))
            product \(line.productId ?? "unknown"), paid until \(line.expiresAt), \(renewal(line))
            account \(line.appAccountToken ?? "unknown")
            """
        }
        return (blocks + [timelineText]).joined(separator: "\n\n")
    }

    private func renewal(_ line: Line) -> String {
        switch line.willRenew {
        case true: "renews as \(line.renewalProductId ?? "the same product")"
        case false: "auto-renew is off"
        default: "Apple never said whether it renews"
        }
    }

    private var timelineText: String {
        var table = Table(["SIGNED", "STORED AFTER", "NOTIFICATION", "STATUS", "WHAT CHANGED"])
        for entry in timeline {
            let status =
                switch (entry.statusBefore, entry.statusAfter) {
                case (_, nil): "-"
                case (let before?, let after?) where before == after: after
                case (let before, let after?): "\(before ?? "new") → \(after)"
                }
            table.add([
                entry.signedAt, entry.delay, [entry.type, entry.subtype].compactMap(\.self).joined(separator: " "),
                status, entry.story,
            ])
        }
        return table.text
    }
}

extension SubscriptionAnswer.Entry {
    /// A line of the timeline.
    package init(_ entry: TimelineEntry) {
        environment = entry.environment
        bundleId = entry.bundleID
        notificationUuid = entry.notificationUUID.uuidString.lowercased()
        type = entry.type
        subtype = entry.subtype
        transactionId = entry.transactionID
        signedAt = entry.signedAt.description
        receivedAt = entry.receivedAt.description
        appliedAt = entry.appliedAt.description
        outcome = entry.outcome
        statusBefore = entry.statusBefore
        statusAfter = entry.statusAfter
        changes = entry.changesJSON.flatMap {
            try? JSONDecoder().decode([String: [String?]].self, from: Data($0.utf8))
        }
    }

    /// How long after its signing it was stored: Apple's part of the delay.
    fileprivate var delay: String {
        guard let signed = Timestamp(iso8601: signedAt), let received = Timestamp(iso8601: receivedAt) else {
            return "-"
        }
        return Duration.milliseconds(received.milliseconds(since: signed)).age
    }

    /// What changed, in the order in which one asks.
    fileprivate var story: String {
        guard let changes else { return outcome == "parked" ? "parked: a type this release does not know" : "-" }
        if changes.isEmpty { return "nothing: no news, or overtaken by something signed later" }
        let order = [
            "product_id", "expires_at", "paid_until", "expiration_intent", "in_trial", "will_renew",
            "renewal_product_id", "price_increase_pending",
            "app_account_token",
        ]
        let told = order.compactMap { column -> String? in
            guard let pair = changes[column], pair.count == 2 else { return nil }
            let name = column.replacingOccurrences(of: "_", with: " ")
            return pair[0].map { "\(name) \($0) → \(pair[1] ?? "none")" } ?? pair[1].map { "\(name) \($0)" }
        }
        return told.isEmpty ? "-" : told.joined(separator: "; ")
    }
}
