import AppStorePayloads
import Base
import Crypto
import StoreModel
import Subscriptions

extension HeardNotification {
    /// What a notification of the model store tells.
    init(_ notification: ModelNotification) throws {
        let signedAt = Timestamp(millisecondsSince1970: notification.signedDate)
        let recordsSignedAt = Timestamp(millisecondsSince1970: notification.recordsSignedDate)
        self.init(
            name: notification.name,
            signedAt: signedAt,
            purchase: PurchaseKey(notification.originalTransactionId),
            transaction: try notification.transactionJSON.map {
                TransactionFact(try TransactionPayload.decode($0), digest: Self.digest($0), asOf: signedAt)
            },
            renewal: try notification.renewalJSON.map {
                RenewalFact(
                    try RenewalInfoPayload.decode($0), digest: Self.digest($0), asOf: signedAt,
                    reportedStatus: notification.status)
            },
            reportedStatus: notification.status.map {
                ReportedStatus(status: $0, signedAt: signedAt, asOf: min(signedAt, recordsSignedAt))
            })
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}

extension HeardNotification {
    /// The same records as Apple's servers answer them some seconds later: signed anew, and without a signed status.
    func signedAgain(after seconds: Int64, digest number: UInt8) -> HeardNotification {
        func later(_ instant: Timestamp) -> Timestamp { instant.adding(seconds: seconds) }
        var (transaction, renewal) = (transaction, renewal)
        if let record = transaction {
            transaction?.signedAt = later(record.signedAt)
            transaction?.asOf = later(record.signedAt)
            transaction?.digest = [1, number] + record.digest.dropFirst(2)
        }
        if let record = renewal {
            renewal?.signedAt = later(record.signedAt)
            renewal?.asOf = later(record.signedAt)
            renewal?.digest = [2, number] + record.digest.dropFirst(2)
            renewal?.reportedStatus = nil
        }
        return HeardNotification(
            name: "again", signedAt: later(signedAt), purchase: purchase, transaction: transaction, renewal: renewal,
            reportedStatus: nil)
    }
}

extension PurchaseKey {
    /// A purchase of the model store's one app.
    init(_ originalTransactionID: String) {
        self.init(
            environment: ModelNotification.environment, bundleID: ModelNotification.bundleId,
            originalTransactionID: originalTransactionID)
    }
}

/// Whatever is derived from the facts of one purchase, to be compared with what another order of arrival gave.
struct DerivedState: Equatable {
    let subscription: SubscriptionState?
    let oneTime: OneTimePurchase?
    let anomalies: [Anomaly]

    init(_ facts: PurchaseFacts) {
        let state = PurchaseState(facts)
        subscription = state.subscription
        oneTime = state.oneTime
        anomalies = state.anomalies
    }
}

extension KnownFacts {
    /// Everything that is derived, purchase by purchase.
    var derived: [PurchaseKey: DerivedState] { purchases.mapValues(DerivedState.init) }
}

/// One random life of the model store, its notifications read.
struct ModelLife: Sendable {
    let seed: UInt64
    let store: ModelStore
    let heard: [HeardNotification]

    init(seed: UInt64) throws {
        self.seed = seed
        store = ModelStore(seed: seed)
        heard = try store.notifications.map(HeardNotification.init)
    }

    /// The store's own number for a purchase's status at an instant; nil before it was made.
    func truth(of purchase: PurchaseKey, at instant: Timestamp) -> ModelTruth? {
        store.truth(of: purchase.originalTransactionID, at: instant.millisecondsSince1970)
    }
}
