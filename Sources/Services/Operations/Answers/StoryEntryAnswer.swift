import AppStorePayloads
import Base
import PurchaseStore
import Subscriptions

/// What one piece of evidence tells of a purchase, as scripts see it.
package struct StoryEntryAnswer: Encodable {
    /// One thing that it changed.
    package struct Change: Encodable {
        package var kind: String
        package var productId: String?
        package var formerProductId: String?
        package var from: String?
        package var until: String?
        /// Thousandths of the currency's unit.
        package var amount: Int64?
        package var currency: String?
        /// Thousandths of a percent of the price.
        package var share: Int64?
        package var quantity: Int64?
        package var intent: Int?
        package var reason: String?
    }

    package var environment: String
    package var bundleId: String
    package var notificationUuid: String?
    package var type: String?
    package var subtype: String?
    package var transactionId: String?
    package var signedAt: String
    /// What told it: `notification`, or a record that came by itself.
    package var kind: String?
    /// Which way that came: `webhook`, `history`, `api`, `client` or `operator`.
    package var source: String?
    package var receivedAt: String?
    package var appliedAt: String?
    package var outcome: String?
    package var statusBefore: String?
    package var statusAfter: String?
    package var words: String
    package var changes: [Change]
    private let origin: String?

    private enum CodingKeys: CodingKey {
        case environment, bundleId, notificationUuid, type, subtype, transactionId, signedAt, kind, source, receivedAt
        case appliedAt, outcome, statusBefore, statusAfter, words, changes
    }

    /// An entry of a purchase's story.
    init(_ entry: RecordedStory.Entry, of purchase: PurchaseKey) {
        let told = entry.told
        environment = purchase.environment
        bundleId = purchase.bundleID
        notificationUuid = told.notificationUUID?.description
        type = told.type?.rawValue
        subtype = told.subtype?.rawValue
        transactionId = told.transactionID
        signedAt = told.signedAt.description
        kind = entry.learned?.kind.rawValue
        source = entry.learned?.source.rawValue
        receivedAt = entry.learned?.receivedAt.description
        appliedAt = entry.learned?.appliedAt.description
        outcome = entry.learned?.outcome.rawValue
        statusBefore = told.before?.rawValue
        statusAfter = told.after?.status.rawValue
        words = told.words
        origin = entry.learned?.origin
        changes = told.changes.map(Change.init)
    }

    /// What happened for people: of what Apple did not post, where it was learned from as well. A second line where there
    /// is no room for that beside it.
    var lines: [String] {
        guard let origin else { return [words] }
        let both = "\(words) (\(origin))"
        return both.count <= PurchaseStory.wordsWidth ? [both] : [words, "  (\(origin))"]
    }

    /// The status for people: where it came from only where it moved.
    var status: String { Self.status(statusBefore, statusAfter) }

    static func status(_ before: String?, _ after: String?) -> String {
        switch (before, after) {
        case (_, nil): "-"
        case (let before?, let after?) where before != after: "\(before) → \(after)"
        case (_, let after?): after
        }
    }
}

extension StoryEntryAnswer.Change {
    init(_ change: PurchaseChange) {
        kind = change.kind.rawValue
        productId = change.productID
        formerProductId = change.formerProductID
        from = change.from?.description
        until = change.until?.description
        amount = change.amount?.milliunits
        currency = change.amount?.currency
        share = change.share
        quantity = change.quantity
        intent = change.intent
        reason = change.reason
    }
}

extension RecordedStory.Learned {
    /// For people; nil for what is usual, a notification that Apple posted.
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
