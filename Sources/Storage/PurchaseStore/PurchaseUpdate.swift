import AppStorePayloads
import Base
import Postgres
import Subscriptions

/// What a batch does to one purchase: the stored facts merged with the batch's, and the state derived from them, once.
///
/// A class, because it is large and passed on often.
final class PurchaseUpdate: Sendable {
    /// A whole signed record and the notification that brought it.
    struct Sourced<Payload: Sendable>: Sendable {
        var key: PurchaseKey
        var record: LedgerEntry.Signed<Payload>
        var notificationUUID: UniqueIdentifier?
        /// Whether it carries no signature.
        var isUnsigned = false
    }

    /// Whole records of one purchase whose evidence retention has dropped.
    struct KeptRecords: Sendable {
        var transactions: [Sourced<TransactionPayload>] = []
        var renewals: [Sourced<RenewalInfoPayload>] = []
    }

    let known: KnownPurchase
    let policy: StatusPolicy
    let state: PurchaseState
    /// Whether dates separate the end of its facts from the beginning. Only then are they ever read in part.
    let isRegular: Bool
    /// The earliest instant that the batch may affect: what has dates as Apple dates it changes nothing before them.
    let since: Timestamp
    /// The earliest instant from which on what the batch brought beside its records may change access.
    let sinceReported: Timestamp
    /// The batch's transaction records, as far as they count for this purchase.
    let records: [TransactionFact]
    private let sharedAnomalies: [Anomaly]
    /// What the facts do not explain, and the shared transactions.
    var anomalies: [Anomaly] { state.anomalies + sharedAnomalies }
    /// The latest-signed record of each transaction in the batch. A stored later one is not overwritten.
    let transactions: [Sourced<TransactionPayload>]
    /// The latest-signed renewal info that the batch brought.
    let renewal: Sourced<RenewalInfoPayload>?
    /// When its evidence was stored, the batch's included.
    let stored: StoredDates?

    var key: PurchaseKey { known.key }

    /// Derives the purchase; nil where the facts that were read do not reach back far enough for the new ones.
    /// - Parameters:
    ///   - entries: the batch's entries about it.
    ///   - kept: whole records whose evidence is gone, for a rebuild.
    ///   - shared: the known transactions that turned up under more than one original transaction.
    init?(
        _ known: KnownPurchase, _ entries: [LedgerEntry], kept: KeptRecords = KeptRecords(),
        shared: SharedTransactions = SharedTransactions(), policy: StatusPolicy
    ) {
        (self.known, self.policy) = (known, policy)
        var facts = known.facts
        var records: [TransactionFact] = []
        var (since, sinceReported) = (Timestamp.distantFuture, Timestamp.distantFuture)
        for entry in entries {
            guard let statement = PurchaseStatement(entry), !shared.isForeign(statement) else { continue }
            guard known.isWhole || statement.isRegular else { return nil }
            _ = statement.merge(into: &facts)
            since = min(since, statement.since)
            sinceReported =
                [sinceReported, statement.renewal?.asOf, statement.reportedStatus?.asOf]
                .compactMap(\.self).min() ?? sinceReported
            if let record = statement.transaction { records.append(record) }
        }
        self.records = records
        stored = entries.reduce(known.stored) { StoredDates($0, and: $1.receivedAt) }
        switch known.extent {
        case .whole:
            state = PurchaseState(facts, in: known.key.environment, policy: policy)
            isRegular = PurchaseState.isRegular(facts)
            if !isRegular || known.isShared || entries.isEmpty { (since, sinceReported) = (.distantPast, .distantPast) }
        case .tail(let cut, let horizon, let carry):
            guard
                let tail = PurchaseState(
                    facts, in: known.key.environment, policy: policy, cutAt: cut, from: horizon, carry: carry)
            else { return nil }
            guard tail.reachesBeginnings(since: since) else { return nil }
            isRegular = true
            state = tail
        }
        self.since = since
        self.sinceReported = sinceReported
        transactions = Self.latest(
            kept.transactions
                + entries.compactMap { entry in
                    entry.transaction.map {
                        Sourced(
                            key: known.key, record: $0, notificationUUID: entry.notificationUUID,
                            isUnsigned: entry.kind.isUnsigned)
                    }
                })
        renewal = Self.latest(
            kept.renewals
                + entries.compactMap { entry in
                    entry.renewal.map {
                        Sourced(
                            key: known.key, record: $0, notificationUUID: entry.notificationUUID,
                            isUnsigned: entry.kind.isUnsigned)
                    }
                })
        sharedAnomalies = shared.anomalies(of: known.key)
        guard subscriptionRow != .outOfReach else { return nil }
    }

    /// The purchase's rows in `subscriptions` and `subscription_history`.
    enum SubscriptionRow: Equatable {
        case none
        /// Earlier phases were not derived, and by the number of phases now some of those in `subscription_history`
        /// belong in `subscriptions`.
        case outOfReach
        case phases(SubscriptionPhases)
    }

    /// A subscription's phases, divided between the two tables.
    struct SubscriptionPhases: Equatable {
        /// All phases that were derived.
        let phases: [Phase]
        /// How many of them go to `subscription_history`.
        let moved: Int
        /// How many of its phases were there before.
        let before: Int

        var history: ArraySlice<Phase> { phases[..<moved] }
        var current: ArraySlice<Phase> { phases[moved...] }
        var earlier: Int { before + moved }
    }

    var subscriptionRow: SubscriptionRow {
        guard let subscription = state.subscription else {
            if case .tail = known.extent { return .outOfReach }
            return .none
        }
        let before: Int
        if case .tail = known.extent { before = known.earlierPhases ?? 0 } else { before = 0 }
        let earlier = StoredPhases.earlier(of: before + subscription.phases.count)
        guard earlier >= before else { return .outOfReach }
        return .phases(SubscriptionPhases(phases: subscription.phases, moved: earlier - before, before: before))
    }

    /// The latest-signed record of each transaction, in one order everywhere, so that workers never wait for each
    /// other's rows in a cycle. One transaction may occur under two purchases.
    static func latest(_ records: [Sourced<TransactionPayload>]) -> [Sourced<TransactionPayload>] {
        // Most batches bring one record per purchase.
        guard records.count > 1 else { return records }
        var latest: [String: Sourced<TransactionPayload>] = [:]
        for record in records {
            let id = "\(record.record.payload.transactionId) \(record.key.bundleID) \(record.key.environment)"
            if let known = latest[id], !record.replaces(known) { continue }
            latest[id] = record
        }
        return latest.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func latest(_ records: [Sourced<RenewalInfoPayload>]) -> Sourced<RenewalInfoPayload>? {
        records.reduce(nil) { latest, record in latest.map { record.replaces($0) ? record : $0 } ?? record }
    }
}

/// What orders whole records of one thing.
protocol DatedPayload {
    var signedDate: Timestamp { get }
}

extension TransactionPayload: DatedPayload {}
extension RenewalInfoPayload: DatedPayload {}

extension PurchaseUpdate.Sourced where Payload: DatedPayload {
    /// The rule of ``SignedFact/supersedes(_:)``. Of one record out of two notifications the smaller UUID is kept, so
    /// that the order of arrival never matters.
    func replaces(_ known: Self) -> Bool {
        if isUnsigned != known.isUnsigned { return known.isUnsigned }
        let (signedAt, knownSignedAt) = (record.payload.signedDate, known.record.payload.signedDate)
        if signedAt != knownSignedAt { return signedAt > knownSignedAt }
        if record.digest != known.record.digest { return known.record.digest.lexicographicallyPrecedes(record.digest) }
        guard let uuid = notificationUUID else { return false }
        return known.notificationUUID.map { uuid < $0 } ?? true
    }
}
