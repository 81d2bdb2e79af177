import AppStorePayloads
import Foundation
import Ledger

/// A subscription and its timeline, as people and scripts see them.
struct SubscriptionAnswer: Encodable {
    struct Line: Encodable {
        var environment: String
        var bundleId: String
        var originalTransactionId: String
        var productId: String?
        var subscriptionGroupId: String?
        var appAccountToken: String?
        var status: String
        var access: Bool
        var expiresAt: String
        var accessUntil: String?
        var willRenew: Bool?
        var renewalProductId: String?
        var inTrial: Bool
        var priceIncreasePending: Bool
        var appleStatus: Int
    }

    struct Entry: Encodable {
        var environment: String
        var bundleId: String
        var notificationUuid: String
        var type: String
        var subtype: String?
        var transactionId: String?
        var signedAt: String
        var receivedAt: String
        var appliedAt: String
        var outcome: String
        var statusBefore: String?
        var statusAfter: String?
        /// Column to [before, after]; null for what is no subscription.
        var changes: [String: [String?]]?
    }

    var at: String
    var lines: [Line]
    var timeline: [Entry]

    init(at instant: Timestamp, _ lines: [PurchaseStatus], _ timeline: [TimelineEntry]) {
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

    var text: String {
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
    init(_ entry: TimelineEntry) {
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
        return QueueCommand.age(Double(received.milliseconds(since: signed)) / 1000)
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
