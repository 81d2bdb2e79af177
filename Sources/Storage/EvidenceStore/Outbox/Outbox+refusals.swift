package import Foundation
import Postgres

extension Outbox {
    /// Two rows that meet the same refusal within this time are no coincidence.
    package static let sameRefusal = Duration.seconds(600)
    /// Rows that were applied within this time count as applied now, because all rows of a batch may be refused while others are applied.
    fileprivate static let lately = Duration.seconds(5)
    /// How many kinds of refusals are kept.
    private static let refusalsKept = 200
    /// How long a question about refusals may take.
    package static let noteDeadline = Duration.seconds(5)

    /// Notes that PostgreSQL refused these rows, each tried alone, and reads what is known about them.
    ///
    /// - Parameters:
    ///   - others: further rows to read about. Nothing is noted about them.
    ///   - elapsed: how long ago the first of these refusals was; a row that was refused before keeps its time.
    ///   - token: of the lease that holds the rows.
    ///   - deadline: for the answer.
    /// - Returns: a note for each row.
    package func note(
        _ refusals: [Refusal], readingAbout others: [Int64] = [], after elapsed: Duration, token: UUID,
        within deadline: Duration = Self.noteDeadline
    ) async throws -> [Int64: RefusalNote] {
        let deadline = deadline / 2
        let options = TransactionOptions(deadline: deadline, name: "refusals")
        var (notes, starts) = try await pool.withTransaction(options) { session in
            let met = try session.query(.refusals(refusals, within: Self.sameRefusal))
            var seconds: Set<Refusal.Kind> = []
            for row in met where try row.decode("has_second", as: Bool.self) {
                guard let reason = ReasonCode(rawValue: try row.decode("reason")) else { continue }
                seconds.insert(
                    .init(
                        reason: reason, table: try row.decode("table_name"),
                        constraint: try row.decode("constraint_name")))
            }
            try session.query(.forgettingRefusals(but: Self.refusalsKept))
            let kinds = Dictionary(refusals.map { ($0.id, $0.kind) }) { first, _ in first }
            var notes: [Int64: RefusalNote] = [:]
            var starts: [Int64: PostgresTimestamp] = [:]
            for row in try session.query(.marking(refusals.map(\.id), others, elapsed, token)) {
                let id: Int64 = try row.decode("id")
                starts[id] = try row.decode("since")
                notes[id] = RefusalNote(
                    age: .seconds(try row.decode("age", as: Double.self)),
                    hasSecond: kinds[id].map(seconds.contains) ?? false)
            }
            return (notes, starts)
        }
        // In a transaction of its own: it reads tables that may be what PostgreSQL refuses.
        for (id, found) in (try? await neighbours(since: starts, within: deadline)) ?? [:] {
            notes[id]?.areOthersApplied = found.applied
            notes[id]?.areOthersSettled = found.settled
        }
        return notes
    }

    /// Whether another row was applied, or settled in any way, since each was refused first.
    private func neighbours(
        since starts: [Int64: PostgresTimestamp], within deadline: Duration
    ) async throws -> [Int64: (applied: Bool, settled: Bool)] {
        let starts = starts.sorted { $0.key < $1.key }
        // The table of notifications may hold years. The rows that are looked for are at its end.
        let options = TransactionOptions(
            isReadOnly: true, deadline: deadline, goesByIndexes: true, name: "refusals.neighbours")
        return try await pool.withTransaction(options) { session in
            let rows = try session.query(.neighbours(starts.map(\.key), starts.map(\.value)))
            return try Dictionary(
                rows.map {
                    (try $0.decode("id", as: Int64.self), (try $0.decode("applied"), try $0.decode("settled")))
                },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// Whether rows are settled, or none is left to be: some row was applied within the given time, or no row waits that
    /// was put off.
    package func isSettling(since elapsed: Duration) async throws -> Bool {
        try await pool.withTransaction(
            TransactionOptions(isReadOnly: true, deadline: Self.noteDeadline, goesByIndexes: true, name: "settling")
        ) { session in
            try session.query(
                PostgresQuery(
                    "outbox.is_settling",
                    """
                    select not exists (select from storehook.outbox_queue where last_reason is not null)
                        or exists (select from storehook.notifications
                                    where applied_at > statement_timestamp() - make_interval(secs => \(elapsed / .seconds(1))))
                        or exists (select from storehook.records
                                    where applied_at > statement_timestamp() - make_interval(secs => \(elapsed / .seconds(1))))
                    """)
            ).one().decode(0)
        }
    }
}

extension PostgresQuery {
    /// Writes a row for each kind of refusal. All workers lock these rows in the order of the key.
    fileprivate static func refusals(_ refusals: [Refusal], within time: Duration) -> PostgresQuery {
        let kinds = Dictionary(grouping: refusals, by: \.kind).sorted { $0.key < $1.key }
        let latest = kinds.map { $0.value.map(\.id).max() ?? 0 }
        let others = kinds.map { kind in
            let ids = Set(kind.value.map(\.id)).sorted()
            return ids.count > 1 ? ids[ids.count - 2] : nil
        }
        return PostgresQuery(
            "outbox.refusals",
            """
            insert into storehook.refusals as r
                   (reason, table_name, constraint_name, message, last_id, other_id, other_at)
            select u.*, case when u.other_id is not null then clock_timestamp() end
              from unnest(
                   \(kinds.map(\.key.reason.rawValue)), \(kinds.map(\.key.table)), \(kinds.map(\.key.constraint)),
                   \(kinds.map { $0.value.first?.message ?? "" }), \(latest), \(others))
                   as u (reason, table_name, constraint_name, message, last_id, other_id)
                on conflict (reason, table_name, constraint_name) do update
               set other_id = case when excluded.other_id is not null then excluded.other_id
                                   when r.last_id <> excluded.last_id then r.last_id else r.other_id end,
                   other_at = case when excluded.other_id is not null then excluded.other_at
                                   when r.last_id <> excluded.last_id then r.last_at else r.other_at end,
                   message = excluded.message, last_at = excluded.last_at, last_id = excluded.last_id
            returning reason, table_name, constraint_name,
                      coalesce(other_at > clock_timestamp() - make_interval(secs => \(time / .seconds(1))), false) as has_second
            """)
    }

    /// Bounds the table. Rows that another worker has locked are left to that worker.
    fileprivate static func forgettingRefusals(but kept: Int) -> PostgresQuery {
        PostgresQuery(
            "outbox.forget_refusals",
            """
            delete from storehook.refusals r
             using (select reason, table_name, constraint_name from storehook.refusals
                     where last_at < clock_timestamp() - interval '7 days'
                        or (reason, table_name, constraint_name) in (
                               select reason, table_name, constraint_name from storehook.refusals
                                order by last_at desc, reason, table_name, constraint_name
                               offset \(Int64(kept)))
                       for update skip locked) old
             where (r.reason, r.table_name, r.constraint_name) = (old.reason, old.table_name, old.constraint_name)
            """)
    }

    /// Marks rows that were not refused before, and reads since when each is refused.
    fileprivate static func marking(
        _ ids: [Int64], _ others: [Int64], _ elapsed: Duration, _ token: UUID
    ) -> PostgresQuery {
        PostgresQuery(
            "outbox.mark_refused",
            """
            with refused as materialized (
                select u.id, u.is_noted,
                       coalesce(q.refused_at, statement_timestamp() - make_interval(secs => \(elapsed / .seconds(1)))) as since
                  from unnest(\(ids + others), \(ids.map { _ in true } + others.map { _ in false })) as u (id, is_noted)
                  left join storehook.outbox_queue q on q.id = u.id
            ), marked as (
                update storehook.outbox_queue q set refused_at = r.since
                  from refused r
                 where q.id = r.id and r.is_noted and q.lease_token = \(token) and q.refused_at is null
            )
            select id, since, extract(epoch from statement_timestamp() - since)::double precision as age from refused
            """)
    }

    /// - Parameter starts: when each was refused first.
    fileprivate static func neighbours(_ ids: [Int64], _ starts: [PostgresTimestamp]) -> PostgresQuery {
        PostgresQuery(
            "outbox.neighbours",
            """
            with refused as materialized (
                select id, since from unnest(\(ids), \(starts)) as u (id, since)
            ), starts as (
                select since, least(since, statement_timestamp() - make_interval(secs => \(Outbox.lately / .seconds(1)))) as lately
                  from (select distinct since from refused) d
            ), neighbours as materialized (
                select s.since,
                       exists (select from storehook.notifications n where n.applied_at > s.lately)
                       or exists (select from storehook.records n where n.applied_at > s.lately) as applied,
                       exists (select from storehook.notifications n where n.applied_at > s.since)
                       or exists (select from storehook.records n where n.applied_at > s.since) as applied_since,
                       coalesce((select l.dead_at from storehook.dead_letters l order by l.id desc limit 1) > s.since, false)
                       as buried
                  from starts s
            )
            select r.id, n.applied, n.applied_since or n.buried as settled from refused r join neighbours n using (since)
            """)
    }
}
