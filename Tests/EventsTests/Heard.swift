import AppStorePayloads
import Base
import Crypto
import Events
import StoreModel
import Subscriptions

/// What a notification tells, reduced to facts once, so that a test can merge them thousands of times.
struct Heard: Sendable {
    let type: String
    let subtype: String?
    let uuid: UniqueIdentifier
    let signedAt: Timestamp
    var transaction: TransactionFact?
    var renewal: RenewalFact?
    var reportedStatus: ReportedStatus?

    init(
        _ name: String, signedAt: Timestamp, transaction: TransactionFact? = nil, renewal: RenewalFact? = nil,
        status: Int? = nil
    ) {
        let parts = name.split(separator: "/").map { String($0) }
        type = parts.first ?? name
        subtype = parts.dropFirst().first
        uuid = UniqueIdentifier(high: 7, low: UInt64(bitPattern: signedAt.millisecondsSince1970))
        self.signedAt = signedAt
        self.transaction = transaction
        self.renewal = renewal
        reportedStatus = status.map { ReportedStatus(status: $0, signedAt: signedAt) }
    }

    init(_ notification: ModelNotification) throws {
        let signedAt = Timestamp(millisecondsSince1970: notification.signedDate)
        let recordsSignedAt = Timestamp(millisecondsSince1970: notification.recordsSignedDate)
        type = notification.type
        subtype = notification.subtype
        uuid = UniqueIdentifier(notification.uuid) ?? UniqueIdentifier(high: 0, low: 0)
        self.signedAt = signedAt
        transaction = try notification.transactionJSON.map {
            TransactionFact(try TransactionPayload.decode($0), digest: Self.digest($0), asOf: signedAt)
        }
        renewal = try notification.renewalJSON.map {
            RenewalFact(
                try RenewalInfoPayload.decode($0), digest: Self.digest($0), asOf: signedAt,
                reportedStatus: notification.status)
        }
        reportedStatus = notification.status.map {
            ReportedStatus(status: $0, signedAt: signedAt, asOf: min(signedAt, recordsSignedAt))
        }
    }

    var evidence: Evidence {
        let dates = [transaction?.asOf, renewal?.asOf, reportedStatus?.asOf, signedAt]
        return Evidence(
            .notification(type: type, subtype: subtype, uuid: uuid),
            asOf: dates.compactMap(\.self).min() ?? signedAt, transactionID: transaction?.transactionID)
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}
