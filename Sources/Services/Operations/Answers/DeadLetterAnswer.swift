import AppStorePayloads
import Base
package import EvidenceStore
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// A dead letter as scripts see it.
package struct DeadLetterAnswer: Encodable {
    package var id: Int64
    package var outboxId: Int64
    package var kind: String
    package var source: String
    package var notificationUuid: String?
    package var type: String?
    package var subtype: String?
    package var category: String
    package var reason: String
    package var message: String
    package var attempts: Int
    package var receivedAt: String
    package var deadAt: String
    package var resolution: String
    package var resolvedAt: String?
    package var resolvedBy: String?
    package var resolvedWhy: String?

    /// A letter, as it is recorded.
    package init(_ letter: DeadLetter) {
        id = letter.id
        outboxId = letter.outboxID
        kind = letter.kind.rawValue
        source = letter.source.rawValue
        notificationUuid = letter.notificationUUID?.uuidString.lowercased()
        type = letter.type
        subtype = letter.subtype
        category = letter.category.rawValue
        reason = letter.reason
        message = letter.message
        attempts = letter.attempts
        receivedAt = Timestamp(letter.receivedAt).description
        deadAt = Timestamp(letter.deadAt).description
        resolution = letter.resolution.rawValue
        resolvedAt = letter.resolvedAt.map { Timestamp($0).description }
        resolvedBy = letter.resolvedBy
        resolvedWhy = letter.resolvedWhy
    }
}
