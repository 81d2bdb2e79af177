import AppStorePayloads
import Foundation
import Outbox
import Postgres

/// A dead letter as scripts see it.
struct DeadLetterAnswer: Encodable {
    var id: Int64
    var outboxId: Int64
    var notificationUuid: String?
    var type: String?
    var subtype: String?
    var category: String
    var reason: String
    var message: String
    var attempts: Int
    var receivedAt: String
    var deadAt: String
    var resolution: String
    var resolvedAt: String?
    var resolvedBy: String?
    var resolvedWhy: String?

    init(_ letter: DeadLetter) {
        id = letter.id
        outboxId = letter.outboxID
        notificationUuid = letter.notificationUUID?.uuidString.lowercased()
        type = letter.type
        subtype = letter.subtype
        category = letter.category
        reason = letter.reason
        message = letter.message
        attempts = letter.attempts
        receivedAt = Timestamp(letter.receivedAt).description
        deadAt = Timestamp(letter.deadAt).description
        resolution = letter.resolution
        resolvedAt = letter.resolvedAt.map { Timestamp($0).description }
        resolvedBy = letter.resolvedBy
        resolvedWhy = letter.resolvedWhy
    }
}

extension Timestamp {
    /// The database's microseconds, to the millisecond.
    init(_ timestamp: PostgresTimestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }
}

extension PostgresTimestamp {
    init(_ timestamp: Timestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }
}
