import AppStorePayloads
public import Postgres
public import Subscriptions

/// Facts and the state derived from them, in PostgreSQL.
public struct Ledger: Sendable {
    /// What the operator decides about statuses.
    public var policy: StatusPolicy

    /// A ledger.
    public init(policy: StatusPolicy = StatusPolicy()) { self.policy = policy }

    /// Applies a batch inside the caller's transaction: records the notifications, merges their facts, derives the state
    /// of the lines they touch, and writes the timeline.
    ///
    /// Locks are taken in one order everywhere (notifications by UUID, then lines by key), so two workers that share
    /// notifications or lines wait for each other and never deadlock.
    /// - Returns: what became of each entry, in the entries' order, and where it took the lines whose state is another.
    /// - Throws: `PostgresError`; the transaction must then be rolled back.
    public func apply(
        _ entries: [LedgerEntry], _ session: borrowing PostgresSession
    ) throws -> (outcomes: [LedgerOutcome], transitions: [StateTransition]) {
        guard !entries.isEmpty else { return ([], []) }
        let (outcomes, recorded) = try record(entries, session)
        let byLine = Dictionary(grouping: recorded.filter { $0.line != nil }) { $0.line }
        let lines = byLine.keys.compactMap(\.self).sorted()
        let histories = try histories(of: lines, session) { line, history in
            for entry in byLine[line] ?? [] { history.apply(entry) }
        }
        try write(histories, session)
        let changes = histories.flatMap(\.changes)
        if !changes.isEmpty { try session.query(.insertChanges(changes, recorded)) }
        return (outcomes, histories.compactMap(\.transition))
    }

    /// Locks the lines, reads what is known of each, and lets `change` work on it.
    private func histories(
        of lines: [PurchaseKey], _ session: borrowing PostgresSession,
        _ change: (PurchaseKey, inout PurchaseHistory) -> Void
    ) throws -> [PurchaseHistory] {
        guard !lines.isEmpty else { return [] }
        try session.query(.lock(lines))
        let known = try facts(of: lines, session)
        return lines.map { line in
            var history = PurchaseHistory(line, known[line] ?? PurchaseFacts(), policy)
            change(line, &history)
            return history
        }
    }

    /// Writes what is news.
    private func write(_ histories: [PurchaseHistory], _ session: borrowing PostgresSession) throws {
        let judged = histories.filter(\.reportedStatusChanged)
        if !judged.isEmpty { try session.query(LedgerTable.reportedStatuses.upsert(.reportedStatuses(judged))) }
        if histories.contains(where: { !$0.transactions.isEmpty }) {
            try session.query(LedgerTable.transactions.upsert(.transactions(histories)))
        }
        if histories.contains(where: { $0.renewal != nil }) {
            try session.query(LedgerTable.renewals.upsert(.renewals(histories)))
        }
        let moved = histories.compactMap(\.transition).map { (line: $0.line, state: $0.after) }
        if !moved.isEmpty { try session.query(LedgerTable.subscriptions.upsert(.subscriptions(moved))) }
        let gone = histories.filter(\.endsWithoutState).map(\.line)
        if !gone.isEmpty { try session.query(LedgerTable.subscriptions.delete(gone)) }
    }

    /// Records the notifications that are not recorded yet; the rest are duplicates, of earlier batches or of this one.
    private func record(
        _ entries: [LedgerEntry], _ session: borrowing PostgresSession
    ) throws -> (outcomes: [LedgerOutcome], recorded: [LedgerEntry]) {
        var first: [LedgerEntry] = []
        var seen = Set<UniqueIdentifier>()
        for entry in entries where seen.insert(entry.notification.uuid).inserted { first.append(entry) }
        first.sort { $0.notification.uuid < $1.notification.uuid }

        let rows = try session.query(.insertNotifications(first))
        let recordedIDs = try Set(rows.map { try $0.decode(0, as: Int64.self) })
        let outcomes = entries.map { entry -> LedgerOutcome in
            recordedIDs.contains(entry.outboxID) ? entry.outcome : .duplicate
        }
        return (outcomes, entries.filter { recordedIDs.contains($0.outboxID) })
    }
}

extension LedgerEntry {
    /// A type nobody knows yet is parked: recorded whole, counted, its facts taken; a later release can give it meaning.
    var outcome: LedgerOutcome { notification.notificationType.isKnown ? .applied : .parked }
}
