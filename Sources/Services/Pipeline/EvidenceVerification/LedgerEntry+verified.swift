import AppStorePayloads
package import AppStoreVerification
import Base
package import Postgres
package import PurchaseStore
package import Subscriptions

extension LedgerEntry {
    /// The ledger entry of a verified notification.
    package convenience init(
        outboxID: Int64, receivedAt: PostgresTimestamp, source: EvidenceSource, _ verified: VerifiedNotification
    ) {
        self.init(
            outboxID: outboxID, receivedAt: receivedAt,
            environment: verified.environment.rawValue, bundleID: verified.bundleId,
            notification: verified.payload,
            transaction: Self.signed(verified.transaction, verified.digests.transaction),
            renewal: Self.signed(verified.renewal, verified.digests.renewal), source: source)
    }

    private static func signed<Payload>(_ payload: Payload?, _ digest: Fingerprint?) -> Signed<Payload>? {
        guard let payload, let digest else { return nil }
        return Signed(payload, digest: digest.bytes)
    }
}
