import AppStorePayloads
import Base
import Crypto
import Postgres
import PurchaseStore
import Simulation
import Stories
import Subscriptions
import Synchronization
import Testing

/// A simulated notification, its parts read the way a verified one's are: what the ledger can be handed any number of times.
struct Arrival: Sendable {
    let name: String
    let environment: String
    let bundleID: String
    let notification: NotificationPayload
    var transaction: LedgerEntry.Signed<TransactionPayload>?
    var renewal: LedgerEntry.Signed<RenewalInfoPayload>?

    init(_ unsigned: UnsignedNotification, in app: SimulatedApp) throws {
        name = "\(unsigned.type)/\(unsigned.subtype ?? "-")"
        environment = unsigned.data?.environment ?? app.environment.rawValue
        bundleID = unsigned.data?.bundleId ?? app.bundleId
        notification = try NotificationPayload.decode(unsigned.json { _ in "not.signed.here" })
        transaction = try unsigned.transaction.map {
            .init(try TransactionPayload.decode($0.json), digest: Self.digest($0.json))
        }
        renewal = try unsigned.renewal.map {
            .init(try RenewalInfoPayload.decode($0.json), digest: Self.digest($0.json))
        }
    }

    static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }

    /// The arrival as an entry of its own outbox row.
    ///
    /// - Parameter run: the same story can be told in one database many times: in the run's own apps (`run/bundle`), and under
    ///   UUIDs that differ in their second half only, so that they stay in the same order.
    func entry(run: Int? = nil) -> LedgerEntry {
        var notification = notification
        var bundleID = bundleID
        if let run {
            let uuid = notification.uuid
            notification.uuid = UniqueIdentifier(high: uuid.high, low: uuid.low ^ UInt64(run + 1))
            bundleID = "\(run)/\(bundleID)"
        }
        let outboxID = Self.lastOutboxID.add(1, ordering: .relaxed).newValue
        return LedgerEntry(
            outboxID: outboxID, receivedAt: Self.stored(self.notification.uuid.low),
            environment: environment, bundleID: bundleID, notification: notification, transaction: transaction,
            renewal: renewal)
    }

    /// Each record in it as if it had come by itself, as entries of outbox rows of their own.
    func records(run: Int, from source: EvidenceSource = .api) -> [LedgerEntry] {
        let records: [LedgerEntry.Record?] = [
            transaction.map { .transaction($0) }, renewal.map { .renewal($0) },
        ]
        return records.compactMap(\.self).map { record in
            LedgerEntry(
                outboxID: Self.lastOutboxID.add(1, ordering: .relaxed).newValue,
                receivedAt: Self.stored(UInt64(record.digest[0])), source: source,
                environment: environment, bundleID: "\(run)/\(bundleID)", record)
        }
    }

    /// What verifyReceipt might have answered of it some days later, or before, as entries of outbox rows of their own.
    func unsigned(run: Int, days: Int64) -> [LedgerEntry] {
        let records: [LedgerEntry.Record?] = [
            transaction.map { record in
                var payload = record.payload
                payload.signedDate = payload.signedDate.adding(days: days)
                return .receiptTransaction(.init(payload, digest: Self.digest(payload.json + Array("\(days)".utf8))))
            },
            renewal.map { record in
                var payload = record.payload
                payload.signedDate = payload.signedDate.adding(days: days)
                return .receiptRenewal(.init(payload, digest: Self.digest(payload.json + Array("\(days)".utf8))))
            },
        ]
        return records.compactMap(\.self).map { record in
            LedgerEntry(
                outboxID: Self.lastOutboxID.add(1, ordering: .relaxed).newValue,
                receivedAt: PostgresTimestamp(millisecondsSince1970: 1_767_225_600_000), source: .api,
                environment: environment, bundleID: "\(run)/\(bundleID)", record)
        }
    }

    /// When a piece of evidence was stored, the same each time that it is told: an instant of its own out of some hundreds.
    private static func stored(_ number: UInt64) -> PostgresTimestamp {
        PostgresTimestamp(millisecondsSince1970: 1_767_225_600_000 + Int64(number % 509) * 1_000)
    }

    private static let lastOutboxID = Atomic<Int64>(0)

    /// Everything that a story tells.
    static func all(of performance: StoryPerformance) throws -> [Arrival] {
        let app = performance.apps.first ?? .example
        return try performance.notifications.map { try Arrival($0, in: app) }
    }

    /// Everything that the story of that name tells.
    static func all(of name: String) throws -> [Arrival] {
        try all(of: #require(Story.named(name)).performed())
    }
}

extension LedgerEntry.Record {
    /// The digest that it is known by.
    fileprivate var digest: [UInt8] {
        switch self {
        case .transaction(let signed), .receiptTransaction(let signed): signed.digest
        case .renewal(let signed), .receiptRenewal(let signed): signed.digest
        case .appTransaction(_, let digest), .receipt(let digest): digest
        }
    }
}
