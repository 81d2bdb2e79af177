import AppStorePayloads
import Crypto
import Simulator
import Subscriptions
import Testing

/// What a simulated notification tells: its signed parts read the way a real one's are, reduced to facts once, so that a test
/// can merge them thousands of times.
struct HeardNotification: Sendable {
    let name: String
    let signedAt: Timestamp
    let line: PurchaseKey?
    let transaction: TransactionFact?
    let renewal: RenewalFact?
    let reportedStatus: ReportedStatus?

    init(_ notification: UnsignedNotification) throws {
        name = "\(notification.type)/\(notification.subtype ?? "-")"
        signedAt = Timestamp(millisecondsSince1970: notification.signedDate)
        transaction = try notification.transaction.map {
            TransactionFact(try TransactionPayload.decode($0.json), digest: Self.digest($0.json))
        }
        renewal = try notification.renewal.map {
            RenewalFact(try RenewalInfoPayload.decode($0.json), digest: Self.digest($0.json))
        }
        reportedStatus = notification.appleStatus.map {
            ReportedStatus(status: $0, signedAt: Timestamp(millisecondsSince1970: notification.signedDate))
        }
        line = notification.transaction.map {
            PurchaseKey(
                environment: $0.environment, bundleID: $0.bundleId, originalTransactionID: $0.originalTransactionId)
        }
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}

/// Everything that has been heard so far, line by line.
struct KnownFacts: Sendable, Equatable {
    private(set) var lines: [PurchaseKey: PurchaseFacts] = [:]

    init() {}

    init(_ heard: some Sequence<HeardNotification>) {
        for notification in heard { merge(notification) }
    }

    mutating func merge(_ heard: HeardNotification) {
        guard let line = heard.line else { return }
        if let transaction = heard.transaction { lines[line, default: PurchaseFacts()].merge(transaction) }
        if let renewal = heard.renewal { lines[line, default: PurchaseFacts()].merge(renewal) }
        if let reportedStatus = heard.reportedStatus { lines[line, default: PurchaseFacts()].merge(reportedStatus) }
    }

    func state(of line: PurchaseKey) -> SubscriptionState? { lines[line].flatMap { SubscriptionState($0) } }
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
