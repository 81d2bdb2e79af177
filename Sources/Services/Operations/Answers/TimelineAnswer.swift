import AppStorePayloads
import Base
import PurchaseStore
import Subscriptions

extension RecordedStory {
    /// What happened to a purchase, as scripts see it: an object for each piece of evidence.
    var timeline: [JSONValue] { entries.map { Entry.shape.value(of: ($0, purchase)) } }
}

extension RecordedStory.Entry {
    /// One piece of evidence about a purchase. `kind` is `notification`, or that of a record that arrived on its own;
    /// `source` is how it arrived.
    fileprivate static let shape = CommandShape<(entry: RecordedStory.Entry, purchase: PurchaseKey)>([
        .init("environment", \.purchase.environment), .init("bundle_id", \.purchase.bundleID),
        .init("notification_uuid", \.entry.recorded.notificationUUID), .init("type", \.entry.recorded.type?.rawValue),
        .init("subtype", \.entry.recorded.subtype?.rawValue), .init("transaction_id", \.entry.recorded.transactionID),
        .init("signed_at", \.entry.recorded.signedAt), .init("kind", \.entry.learned?.kind.rawValue),
        .init("source", \.entry.learned?.source.rawValue), .init("received_at", \.entry.learned?.receivedAt),
        .init("applied_at", \.entry.learned?.appliedAt), .init("outcome", \.entry.learned?.outcome.rawValue),
        .init("status_before", \.entry.recorded.before?.rawValue),
        .init("status_after", \.entry.recorded.after?.status.rawValue),
        .init("words", \.entry.recorded.words), .list("changes", change, \.entry.recorded.changes),
    ])

    /// One thing that changed. Amounts are thousandths of the currency's unit, shares thousandths of a percent of the price.
    private static let change = CommandShape<PurchaseChange>([
        .init("kind", \.kind.rawValue), .init("product_id", \.productID),
        .init("former_product_id", \.formerProductID), .init("from", \.from), .init("until", \.until),
        .init("amount", \.amount?.milliunits), .init("currency", \.amount?.currency), .init("share", \.share),
        .init("quantity", \.quantity), .init("intent", \.intent),
        .init("reason") { $0.refundReason?.word ?? $0.reason },
    ])

    /// The event for people, with its origin unless Apple posted it; on a second line where there is no room beside it.
    var lines: [String] {
        guard let origin = learned?.origin else { return [recorded.words] }
        let both = "\(recorded.words) (\(origin))"
        return both.count <= PurchaseStory.wordsWidth ? [both] : [recorded.words, "  (\(origin))"]
    }

    /// The status for people: where it came from only where it moved.
    var status: String { Self.status(recorded.before, recorded.after?.status) }

    static func status(_ before: SubscriptionStatus?, _ after: SubscriptionStatus?) -> String {
        guard let after else { return "-" }
        guard let before, before != after else { return after.rawValue }
        return "\(before.rawValue) → \(after.rawValue)"
    }
}

extension RecordedStory.Learned {
    /// For people; nil for the usual origin, a notification that Apple posted.
    var origin: String? {
        guard kind != .notification || source != .webhook else { return nil }
        // There is one way in which it comes.
        if kind.isUnsigned { return kind.words }
        return "\(kind.words) \(source.words)"
    }
}

extension EvidenceKind {
    /// For people.
    var words: String {
        switch self {
        case .notification: "notification"
        case .transaction: "transaction"
        case .renewal: "renewal info"
        case .appTransaction: "app transaction"
        case .receipt: "receipt"
        case .receiptTransaction, .receiptRenewal: "verifyReceipt's answer, unsigned"
        }
    }
}

extension EvidenceSource {
    /// For people, after what came.
    var words: String {
        switch self {
        case .webhook: "that Apple posted"
        case .history: "from Apple's history"
        case .api: "from Apple's API"
        case .client: "from the app"
        case .operator: "stored by hand"
        }
    }
}

extension Timestamp {
    /// For people, to the minute: `2026-07-12 02:28`.
    var minute: String {
        let text = description
        guard let seconds = text.lastIndex(of: ":") else { return text }
        return String(text[..<seconds].replacing("T", with: " "))
    }
}
