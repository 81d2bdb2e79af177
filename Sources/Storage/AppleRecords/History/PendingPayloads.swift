import EvidenceStore
import Postgres
import Subscriptions
import Synchronization

/// That more is waiting to be done than can be looked through for what is missing.
package struct TooMuchPending: Error, Sendable, CustomStringConvertible {
    /// What to do.
    package var description: String {
        "more than \(PendingPayloads.most) notifications are waiting, and what is among them is not missing: "
            + "let workers catch up (storehook work)"
    }
}

/// What waits in the outbox's queue, by what was signed. Its UUIDs stand in its bytes alone, so each is read once and
/// remembered while it waits.
final class PendingPayloads: Sendable {
    /// How many are remembered: some megabytes.
    static let most = 50_000
    private static let batch = 200
    /// Between two looks at the whole queue; in between only new rows are looked at. Older rows may appear, too: those
    /// stored by a transaction that committed late, which ``slack`` covers, and replayed dead letters, which are known
    /// by their UUID.
    private static let interval = Duration.seconds(10)
    private static let slack: Int64 = 2000

    private struct State {
        /// nil: no notification, and nothing of what is looked for.
        var known: [Int64: PayloadDigest?] = [:]
        var top: Int64 = 0
        var lookedAt: ContinuousClock.Instant?
    }
    private let state = Mutex(State())

    /// How many rows are remembered, and not read again while they wait.
    var remembered: Int { state.withLock(\.known.count) }

    /// Which of these wait. What was fetched from Apple is not looked at: that is known by its UUID.
    /// - Throws: ``TooMuchPending``, or `PostgresError`.
    func digests(
        among wanted: Set<PayloadDigest>, _ outbox: Outbox, _ pool: PostgresPool
    ) async throws -> Set<PayloadDigest> {
        let (isWhole, floor) = state.withLock { state in
            guard let lookedAt = state.lookedAt, ContinuousClock.now - lookedAt < Self.interval else {
                return (true, Int64.min)
            }
            return (false, state.top - Self.slack)
        }
        let begin = ContinuousClock.now
        let found = try await pool.query(
            PostgresQuery(
                "history.pending",
                """
                select (select max(id) from storehook.outbox_queue) as top, q.id, q.received_at
                  from (select) as one
                  left join (select q.id, q.received_at
                               from storehook.outbox_queue q
                              where q.id > \(floor)
                                and not exists (select from storehook.history_letters l where l.outbox_id = q.id)
                              limit \(Self.most + 1)) q on true
                """))
        let rows = try found.compactMap { row in
            try row.decode("id", as: Int64?.self).map {
                (id: $0, receivedAt: try row.decode("received_at", as: PostgresTimestamp.self))
            }
        }
        let top = try found.first?.decode("top", as: Int64?.self)
        let new = try state.withLock { state in
            if isWhole {
                let waiting = Set(rows.map(\.id))
                state.known = state.known.filter { waiting.contains($0.key) }
            }
            let new = rows.filter { !state.known.keys.contains($0.id) }
            guard state.known.count + new.count <= Self.most else { throw TooMuchPending() }
            return new
        }
        for start in stride(from: 0, to: new.count, by: Self.batch) {
            let part = Array(new[start..<min(start + Self.batch, new.count)])
            let opened = try await pool.withTransaction { session in
                try outbox.evidence(of: part.map { ($0.id, $0.receivedAt) }, session)
            }
            state.withLock { state in
                for (row, evidence) in zip(part, opened) {
                    // Settled meanwhile, and its day dropped.
                    guard let evidence else { continue }
                    let bytes = evidence.kind == .notification ? try? evidence.body.get() : nil
                    state.known.updateValue(bytes.map { PayloadDigest(of: $0) }, forKey: row.id)
                }
            }
        }
        return state.withLock { state in
            // Only now: had reading failed, these rows would have to be looked at again.
            if isWhole { state.lookedAt = begin }
            state.top = max(state.top, top ?? 0)
            return wanted.intersection(state.known.values.compactMap(\.self))
        }
    }
}
