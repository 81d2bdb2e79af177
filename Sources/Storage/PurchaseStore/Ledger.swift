import AppStorePayloads
import Base
public import Postgres
public import Subscriptions

/// Facts and the state derived from them, in PostgreSQL.
public struct Ledger: Sendable {
    /// What the operator decides about statuses.
    public var policy: StatusPolicy

    /// A ledger.
    public init(policy: StatusPolicy = StatusPolicy()) { self.policy = policy }

    /// Applies a batch inside the caller's transaction: records the evidence, merges its facts, and derives the
    /// state of the purchases they touch.
    ///
    /// Locks are taken in one order everywhere (notifications by UUID, records by digest, then purchases by key), so two
    /// workers that share any of them wait for each other and never deadlock.
    /// - Parameters:
    ///   - others: purchases to lock with them, even without new evidence. Each has been recorded, or is by these entries.
    /// - Returns: what became of each entry, in the entries' order, and how the batch changed each purchase: those with new
    ///   evidence, and those that share a transaction with them. They stay locked until the transaction ends.
    /// - Throws: `PostgresError`; the transaction must then be rolled back.
    package func apply(
        _ entries: [LedgerEntry], holding others: Set<PurchaseKey> = [], _ session: borrowing PostgresSession
    ) throws -> (outcomes: [LedgerOutcome], changes: [PurchaseDelta]) {
        let (outcomes, updates) = try applied(entries, holding: others, session)
        var evidence: [PurchaseKey: [EvidenceSummary]] = [:]
        for place in entries.indices where outcomes[place] != .duplicate {
            if let key = entries[place].purchase { evidence[key, default: []].append(entries[place].summary) }
        }
        let changes = updates.indices.map { place in
            updates[place].delta(evidence[updates[place].key] ?? [])
        }
        return (outcomes, changes)
    }

    /// Locks purchases until the transaction ends, in the one order of locking, and inserts the missing rows.
    /// - Parameter deadline: how long that may take; by default as long as any statement.
    public static func hold(
        _ purchases: some Sequence<PurchaseKey>, deadline: Duration? = nil, _ session: borrowing PostgresSession
    ) throws {
        let keys = Set(purchases).sorted()
        if !keys.isEmpty { try session.query(.lock(keys), deadline: deadline) }
    }

    private func applied(
        _ entries: [LedgerEntry], holding others: Set<PurchaseKey>, _ session: borrowing PostgresSession
    ) throws -> (outcomes: [LedgerOutcome], updates: [PurchaseUpdate]) {
        guard !entries.isEmpty || !others.isEmpty else { return ([], []) }
        let (outcomes, recorded) = try record(entries, session)
        let byPurchase = Dictionary(grouping: recorded.filter { $0.purchase != nil }) { $0.purchase }
        let keys = byPurchase.keys.compactMap(\.self).sorted()
        let locked = others.isEmpty ? keys : others.union(keys).sorted()
        guard !locked.isEmpty else { return (outcomes, []) }
        try session.query(.lock(locked))
        guard !keys.isEmpty else { return (outcomes, []) }
        let updates = try updates(of: keys, with: byPurchase, session)
        try session.query(
            LedgerTable.facts.insert(.rows(recorded.compactMap { PurchaseStatement($0) }, PurchaseStatement.columns)))
        try write(updates, session)
        return (outcomes, updates)
    }

    /// Which of these digests belong to records that came by themselves and are recorded already.
    package func known(_ digests: [[UInt8]], _ session: borrowing PostgresSession) throws -> Set<[UInt8]> {
        guard !digests.isEmpty else { return [] }
        return try Set(session.query(.knownRecords(digests)).map { try $0.decode(0, as: [UInt8].self) })
    }

    /// Derives what a batch does to each purchase. Where the end that was read does not reach back far enough for the
    /// new evidence, the whole purchase is read.
    private func updates(
        of keys: [PurchaseKey], with entries: [PurchaseKey?: [LedgerEntry]], _ session: borrowing PostgresSession
    ) throws -> [PurchaseUpdate] {
        var new: [PurchaseKey: [PurchaseStatement]] = [:]
        for key in keys { new[key] = (entries[key] ?? []).compactMap { PurchaseStatement($0) } }
        var updates: [PurchaseUpdate] = []
        var outOfReach: [PurchaseKey] = []
        var isShared = Self.sharesTransaction(keys.flatMap { entries[$0] ?? [] })
        for known in try known(keys, new: new, session) {
            isShared = isShared || known.isShared
            if let update = PurchaseUpdate(known, entries[known.key] ?? [], policy: policy) {
                updates.append(update)
            } else {
                outOfReach.append(known.key)
            }
        }
        // A batch with such a transaction is done over as a whole; they are rare enough.
        if isShared { return try sharedUpdates(of: keys, with: entries, session) }
        for known in try known(outOfReach, new: nil, session) {
            guard let update = PurchaseUpdate(known, entries[known.key] ?? [], policy: policy) else { continue }
            updates.append(update)
        }
        return updates
    }

    /// Whether one transaction occurs under two original transactions within a batch.
    private static func sharesTransaction(_ entries: [LedgerEntry]) -> Bool {
        var originals: [String: String] = [:]
        for entry in entries {
            guard let payload = entry.transaction?.payload else { continue }
            let known = originals.updateValue(payload.originalTransactionId, forKey: payload.transactionId)
            if let known, known != payload.originalTransactionId { return true }
        }
        return false
    }

    /// The updates where a transaction has turned up under more than one original transaction: the others are derived
    /// anew with it, since it may no longer be theirs.
    private func sharedUpdates(
        of keys: [PurchaseKey], with entries: [PurchaseKey?: [LedgerEntry]], _ session: borrowing PostgresSession
    ) throws -> [PurchaseUpdate] {
        let new = keys.flatMap { entries[$0] ?? [] }
        try session.query(.noteShared(keys, new))
        let others = try session.query(.sharing(keys)).map { try PurchaseKey($0) }.filter { !keys.contains($0) }
        if !others.isEmpty { try session.query(.lock(others.sorted())) }
        let all = keys + others.sorted()
        var shared = SharedTransactions()
        for row in try session.query(.shared(all)) { try shared.add(row) }
        for entry in new { shared.add(entry) }
        return try known(all, new: nil, shared: shared, session).compactMap {
            PurchaseUpdate($0, entries[$0.key] ?? [], shared: shared, policy: policy)
        }
    }

    /// Writes what was derived.
    private func write(_ updates: [PurchaseUpdate], _ session: borrowing PostgresSession) throws {
        let transactions = PurchaseUpdate.latest(updates.flatMap(\.transactions))
        if !transactions.isEmpty {
            try session.query(LedgerTable.transactions.upsert(.rows(transactions, LedgerColumns.transaction)))
        }
        let renewals = updates.compactMap(\.renewal)
        if !renewals.isEmpty { try session.query(LedgerTable.renewals.upsert(.rows(renewals, LedgerColumns.renewal))) }
        try writeSubscriptions(updates, session)
        try writeOneTimePurchases(updates, session)
        try writeReplaced(updates, session)
        try writeAnomalies(updates, session)
    }

    private func writeOneTimePurchases(_ updates: [PurchaseUpdate], _ session: borrowing PostgresSession) throws {
        let gone = updates.filter { $0.state.oneTime == nil && $0.known.mayBeBoughtOnce }.map(\.key)
        if !gone.isEmpty { try session.query(LedgerTable.oneTimePurchases.delete(gone)) }
        let oneTime = updates.compactMap { LedgerColumns.BoughtOnce($0) }
        if !oneTime.isEmpty {
            try session.query(LedgerTable.oneTimePurchases.upsert(.rows(oneTime, LedgerColumns.oneTimePurchase)))
        }
    }

    /// The renewals that were charged ahead and never begin, so that money is counted without them. There are few, and
    /// mostly there is nothing to write.
    private func writeReplaced(_ updates: [PurchaseUpdate], _ session: borrowing PostgresSession) throws {
        let before = updates.flatMap { update in
            PaidPeriod.neverBegun(by: update.known.facts, cutAt: update.known.cut)
                .map { (key: update.key, value: $0) }
        }
        let now = updates.flatMap { update in update.state.neverBegun.map { (key: update.key, value: $0) } }
        guard !before.isEmpty || !now.isEmpty else { return }
        try session.query(.forgetReplaced((before + now).map { ($0.key, $0.value.transactionID) }))
        if !now.isEmpty {
            try session.query(LedgerTable.replacedRenewals.insert(.rows(now, LedgerColumns.neverBegun)))
        }
    }

    private func writeSubscriptions(_ updates: [PurchaseUpdate], _ session: borrowing PostgresSession) throws {
        // A subscription that was derived as a whole replaces the stored rows, which may be more.
        let replaced = updates.filter { $0.known.isWhole && $0.known.earlierPhases ?? 0 > 0 }.map(\.key)
        if !replaced.isEmpty { try session.query(LedgerTable.history.delete(replaced)) }
        let gone = updates.filter { $0.known.earlierPhases != nil && $0.state.subscription == nil }.map(\.key)
        if !gone.isEmpty { try session.query(LedgerTable.subscriptions.delete(gone)) }

        let rows = updates.compactMap { LedgerColumns.Subscription($0) }
        guard !rows.isEmpty else { return }
        try session.query(LedgerTable.subscriptions.upsert(.subscriptions(rows)))
        let history = StoredPhases.historyRows(rows)
        if !history.isEmpty { try session.query(LedgerTable.history.insert(.history(history))) }
    }

    private func writeAnomalies(_ updates: [PurchaseUpdate], _ session: borrowing PostgresSession) throws {
        let concerned = updates.filter { $0.known.anomalies > 0 || !$0.anomalies.isEmpty }
        guard !concerned.isEmpty else { return }
        try session.query(.deleteAnomalies(concerned.map { ($0.key, $0.known.horizon) }))
        let anomalies = concerned.flatMap { update in update.anomalies.map { (key: update.key, value: $0) } }
        if !anomalies.isEmpty {
            try session.query(LedgerTable.anomalies.insert(.rows(anomalies, LedgerColumns.anomaly)))
        }
        try session.query(.countAnomalies(concerned.map(\.key)))
    }

    /// Records the evidence that is not recorded yet; the rest are duplicates, of earlier batches or of this one.
    private func record(
        _ entries: [LedgerEntry], _ session: borrowing PostgresSession
    ) throws -> (outcomes: [LedgerOutcome], recorded: [LedgerEntry]) {
        var seen = Set<LedgerEntry.Identity>()
        var notifications: [(entry: LedgerEntry, notification: NotificationPayload)] = []
        var records: [(entry: LedgerEntry, kind: EvidenceKind, digest: [UInt8])] = []
        for entry in entries where seen.insert(entry.identity).inserted {
            if let notification = entry.notification { notifications.append((entry, notification)) }
            if case .record(let kind, let digest) = entry.identity { records.append((entry, kind, digest)) }
        }
        notifications.sort { $0.notification.uuid < $1.notification.uuid }
        records.sort { $0.digest.lexicographicallyPrecedes($1.digest) }

        var recordedIDs = Set<Int64>()
        if !notifications.isEmpty {
            for row in try session.query(.insertNotifications(notifications)) { recordedIDs.insert(try row.decode(0)) }
        }
        if !records.isEmpty {
            for row in try session.query(.insertRecords(records)) { recordedIDs.insert(try row.decode(0)) }
        }
        let outcomes = entries.map { entry -> LedgerOutcome in
            recordedIDs.contains(entry.outboxID) ? entry.outcome : .duplicate
        }
        return (outcomes, entries.filter { recordedIDs.contains($0.outboxID) })
    }
}

extension LedgerEntry {
    /// A notification of an unknown type is parked: recorded whole, counted, its facts taken; a later release can give
    /// it meaning. A receipt is parked, too.
    var outcome: LedgerOutcome {
        if let notification { return notification.notificationType.isKnown ? .applied : .parked }
        return kind == .receipt ? .parked : .applied
    }

    /// The purchase it is about; nil where there is none.
    package var purchase: PurchaseKey? {
        guard let environment, let bundleID,
            let id = transaction?.payload.originalTransactionId ?? renewal?.payload.originalTransactionId
        else { return nil }
        return PurchaseKey(environment: environment, bundleID: bundleID, originalTransactionID: id)
    }

    /// The notification's name; nil for a record that came by itself.
    var notificationUUID: UniqueIdentifier? { notification?.uuid }

    /// The status that Apple reported for the purchase, 1 to 5, if it did.
    var reportedStatus: Int? {
        guard case .data(let data) = notification?.part else { return nil }
        return data.status.map { Int(clamping: $0.rawValue) }
    }
}

extension KnownPurchase {
    var isWhole: Bool { if case .whole = extent { true } else { false } }

    /// Whether a row in `one_time_purchases` may stand. The facts of a shared transaction that is another purchase's are left
    /// out: they do not say what was written before it was.
    fileprivate var mayBeBoughtOnce: Bool { isShared || OneTimePurchase(counting: facts) != nil }

    /// From where on periods are kept; nil where all are.
    fileprivate var cut: Timestamp? { if case .tail(let cut, _, _) = extent { cut } else { nil } }

    /// From where on the state is derived.
    var horizon: Timestamp { if case .tail(_, let horizon, _) = extent { horizon } else { .distantPast } }
}

extension PurchaseUpdate {
    /// The state by the facts before the batch, derived as the one now was.
    var stateBefore: PurchaseState {
        switch known.extent {
        case .whole: return PurchaseState(known.facts, in: key.environment, policy: policy)
        case .tail(let cut, let horizon, let carry):
            var facts = known.facts
            facts.cut(at: cut)
            return PurchaseState(facts, in: key.environment, policy: policy, from: horizon, carry: carry)
        }
    }
}
