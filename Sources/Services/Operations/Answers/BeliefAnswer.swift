import AppStorePayloads
import Base
package import PurchaseStore
import Subscriptions

/// What was believed of a purchase after each piece of evidence, in the order in which it was learned, for audits.
package struct BeliefAnswer: Encodable {
    /// One piece of evidence, and what was believed after it.
    package struct Entry: Encodable {
        package var environment: String
        package var bundleId: String
        package var notificationUuid: String?
        package var type: String?
        package var subtype: String?
        package var signedAt: String
        package var kind: String?
        package var source: String?
        package var receivedAt: String?
        package var appliedAt: String?
        package var outcome: String?
        /// The latest instant at which Apple had said anything that was known by then.
        package var asOf: String
        /// What the status was believed to be then; null for what is no subscription.
        package var status: String?
        package var access: Bool?
        package var productId: String?
        package var expiresAt: String?
        package var basis: String?
    }

    package var originalTransactionId: String
    package var learned: [Entry]
    private let table: Table

    private enum CodingKeys: CodingKey { case originalTransactionId, learned }

    /// What was believed of the purchases of an original transaction.
    package init(of originalTransactionID: String, _ beliefs: [RecordedBelief]) {
        originalTransactionId = originalTransactionID
        learned = beliefs.map(Entry.init)
        var table = Table(["APPLIED (UTC)", "SIGNED (UTC)", "NOTIFICATION", "BELIEVED"])
        var before: [PurchaseKey: String] = [:]
        for belief in beliefs {
            let after = belief.believed?.status.rawValue
            table.add([
                belief.learned?.appliedAt.minute ?? "-", belief.signedAt.minute,
                belief.type == nil
                    ? belief.learned?.origin ?? "-"
                    : [belief.type?.rawValue, belief.subtype?.rawValue].compactMap(\.self).joined(separator: " "),
                StoryEntryAnswer.status(before[belief.purchase], after),
            ])
            before[belief.purchase] = after
        }
        self.table = table
    }

    /// For people.
    package var text: String { table.text }
}

extension BeliefAnswer.Entry {
    fileprivate init(_ belief: RecordedBelief) {
        environment = belief.purchase.environment
        bundleId = belief.purchase.bundleID
        notificationUuid = belief.notificationUUID?.description
        type = belief.type?.rawValue
        subtype = belief.subtype?.rawValue
        signedAt = belief.signedAt.description
        kind = belief.learned?.kind.rawValue
        source = belief.learned?.source.rawValue
        receivedAt = belief.learned?.receivedAt.description
        appliedAt = belief.learned?.appliedAt.description
        outcome = belief.learned?.outcome.rawValue
        asOf = belief.asOf.description
        status = belief.believed?.status.rawValue
        access = belief.believed?.status.access
        productId = belief.believed?.productID
        expiresAt = belief.believed?.expiresAt.description
        basis = belief.believed?.basis.rawValue
    }
}
