import AppStorePayloads
import Base
import Crypto
import Simulation
import Stories
import Subscriptions
import Testing

/// What a simulated notification tells: its signed parts read the way a real one's are, reduced to facts once, so that a test
/// can merge them thousands of times.
struct HeardNotification: Sendable {
    let name: String
    let signedAt: Timestamp
    let purchase: PurchaseKey?
    let transaction: TransactionFact?
    let renewal: RenewalFact?
    let reportedStatus: ReportedStatus?

    init(
        name: String, signedAt: Timestamp, purchase: PurchaseKey?, transaction: TransactionFact?, renewal: RenewalFact?,
        reportedStatus: ReportedStatus?
    ) {
        self.name = name
        self.signedAt = signedAt
        self.purchase = purchase
        self.transaction = transaction
        self.renewal = renewal
        self.reportedStatus = reportedStatus
    }

    init(_ notification: UnsignedNotification) throws {
        name = "\(notification.type)/\(notification.subtype ?? "-")"
        signedAt = Timestamp(millisecondsSince1970: notification.signedDate)
        transaction = try notification.transaction.map {
            TransactionFact(
                try TransactionPayload.decode($0.json), digest: Self.digest($0.json),
                asOf: Timestamp(millisecondsSince1970: notification.signedDate))
        }
        renewal = try notification.renewal.map {
            RenewalFact(
                try RenewalInfoPayload.decode($0.json), digest: Self.digest($0.json),
                asOf: Timestamp(millisecondsSince1970: notification.signedDate),
                reportedStatus: notification.appleStatus)
        }
        reportedStatus = notification.appleStatus.map {
            ReportedStatus(
                status: $0, signedAt: Timestamp(millisecondsSince1970: notification.signedDate),
                asOf: Timestamp(
                    millisecondsSince1970: min(
                        notification.signedDate, notification.renewal?.signedDate ?? notification.signedDate)))
        }
        purchase = notification.transaction.map {
            PurchaseKey(
                environment: $0.environment, bundleID: $0.bundleId, originalTransactionID: $0.originalTransactionId)
        }
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}

/// Everything that has been heard so far, purchase by purchase.
struct KnownFacts: Sendable, Equatable {
    private(set) var purchases: [PurchaseKey: PurchaseFacts] = [:]

    init() {}

    init(_ heard: some Sequence<HeardNotification>) {
        for notification in heard { merge(notification) }
    }

    mutating func merge(_ heard: HeardNotification) {
        guard let purchase = heard.purchase else { return }
        if let transaction = heard.transaction { purchases[purchase, default: PurchaseFacts()].merge(transaction) }
        if let renewal = heard.renewal { purchases[purchase, default: PurchaseFacts()].merge(renewal) }
        if let reportedStatus = heard.reportedStatus {
            purchases[purchase, default: PurchaseFacts()].merge(reportedStatus)
        }
    }

    func state(of purchase: PurchaseKey) -> SubscriptionState? {
        purchases[purchase].flatMap { SubscriptionState($0, in: purchase.environment) }
    }
}

/// A story told once, its notifications read.
struct HeardStory: Sendable, CustomTestStringConvertible {
    let performance: StoryPerformance
    let heard: [HeardNotification]

    var name: String { performance.story.name }
    var testDescription: String { name }

    init(_ story: Story) throws {
        performance = story.performed()
        heard = try performance.notifications.map(HeardNotification.init)
    }

    /// What is known at an instant: the notifications signed by then, in order.
    func known(at instant: Timestamp) -> KnownFacts { KnownFacts(heard.lazy.filter { $0.signedAt <= instant }) }

    /// All of them.
    static func catalogue() throws -> [HeardStory] { try Story.catalogue.map(HeardStory.init) }
}
