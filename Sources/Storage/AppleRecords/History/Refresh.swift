package import Base
package import EvidenceStore
import Postgres

/// A claimed purchase that Apple is to be asked about.
package struct Refresh: ScopedRow, Hashable {
    /// The claim, with its app and environment.
    package var claim: ScopedClaim
    /// The purchase.
    package var originalTransactionID: String
}

extension History {
    /// Queues the purchases of `noted`, each after its delay; those that wait already, wait on.
    private static let queueNoted = """
        insert into storehook.refresh_queue (id, received_at, due_at)
        select id, now(), now() + delay from noted
            on conflict do nothing
        returning id
        """

    /// Queues the purchases that records contradict and that have not been asked for lately, some hundred at a time.
    /// - Returns: how many.
    @discardableResult
    package func planRefreshes(_ scopes: [AppEnvironment]) async throws -> Int {
        try await pool.query(
            PostgresQuery(
                "refresh.plan",
                """
                with noted as (
                    insert into storehook.refreshes as r (environment, bundle_id, original_transaction_id)
                    select distinct c.environment, c.bundle_id, c.original_transaction_id
                      from storehook.contradictions c
                      join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                           on s.bundle_id = c.bundle_id and s.environment = c.environment
                     where not exists (
                           select from storehook.refreshes known
                            where known.original_transaction_id = c.original_transaction_id
                              and known.bundle_id = c.bundle_id and known.environment = c.environment
                              and (known.again_at is null or known.again_at > now()))
                     limit 500
                        on conflict (original_transaction_id, bundle_id, environment) do update
                       set noted_at = now(), again_at = null
                    returning r.id, interval '0' as delay
                )
                \(unescaped: Self.queueNoted)
                """)
        ).count
    }

    /// Queues purchases whose period ended a moment ago with auto-renew on and no renewal received, 500 at a time: each
    /// once for each end. Apple charges within the day before an end, so it knows by then.
    ///
    /// Only purchases whose next event is due within the leeway are searched, which are few.
    /// - Parameter leeway: how long after an end a status waits for the renewal. Apple is asked after a fifth of that: a post that is
    ///   only slow comes by itself.
    /// - Returns: how many.
    @discardableResult
    package func planAwaited(_ scopes: [AppEnvironment], leeway: Duration) async throws -> Int {
        guard leeway > .zero else { return 0 }
        let seconds = leeway / .seconds(1)
        return try await pool.query(
            PostgresQuery(
                "refresh.plan_awaited",
                """
                with awaited as (
                    select s.environment, s.bundle_id, s.original_transaction_id, s.phase_expires[p.n] as ended_at
                      from storehook.purchase_tellings t
                      join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as scope (bundle_id, environment)
                           using (bundle_id, environment)
                      join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
                     cross join lateral (select width_bucket(now(), s.phase_starts) as n) p
                     where t.due_at > now() and t.due_at <= now() + make_interval(secs => \(seconds))
                       and p.n > 0 and s.phase_status[p.n] in ('trial', 'active')
                       and s.phase_will_renew[p.n] is not false
                       and s.phase_expires[p.n] <= now() - make_interval(secs => \(seconds / 5))
                ), noted as (
                    insert into storehook.refreshes as r (environment, bundle_id, original_transaction_id)
                    select a.environment, a.bundle_id, a.original_transaction_id
                      from awaited a
                     where not exists (
                           select from storehook.refreshes known
                            where known.original_transaction_id = a.original_transaction_id
                              and known.bundle_id = a.bundle_id and known.environment = a.environment
                              and (known.asked_at >= a.ended_at
                                   or exists (select from storehook.refresh_queue q where q.id = known.id)))
                     limit 500
                        on conflict (original_transaction_id, bundle_id, environment) do update
                       set noted_at = now(), again_at = null, rounds = 0
                    returning r.id, interval '0' as delay
                )
                \(unescaped: Self.queueNoted)
                """)
        ).count
    }

    /// Queues purchases to be asked about soon, whatever is known of them; those that wait already, wait on.
    /// - Parameter delay: how long to wait before asking, for what Apple is to learn first.
    package func queueRefreshes(
        of originalTransactionIDs: [String], in scope: AppEnvironment, after delay: Duration = .zero
    ) async throws {
        guard !originalTransactionIDs.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "refresh.queue",
                """
                with noted as (
                    insert into storehook.refreshes as r (environment, bundle_id, original_transaction_id)
                    select \(scope.environment), \(scope.bundleID), w.id
                      from unnest(\(Array(Set(originalTransactionIDs)).sorted())) as w (id)
                        on conflict (original_transaction_id, bundle_id, environment) do update
                       set again_at = null
                    returning r.id, make_interval(secs => \(delay / .seconds(1))) as delay
                )
                \(unescaped: Self.queueNoted)
                """))
    }

    /// Claims the purchase that has been due for longest; nil if none is.
    /// - Parameter scopes: the app environments that this process has API keys for.
    package func claimRefresh(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Refresh? {
        try await refreshQueue.claim(for: lease, among: scopes, joining: Self.purchases) { row, claim in
            Refresh(claim: claim, originalTransactionID: try row.decode("original_transaction_id"))
        }
    }

    private static let purchases = ClaimJoin(
        columns: "r.bundle_id, r.environment, r.original_transaction_id",
        clause: "left join storehook.refreshes r on r.id = c.id")

    /// A purchase was asked for: not again for a day, then for two, up to two weeks.
    /// - Parameters:
    ///   - stored: signed records that were stored.
    ///   - outcome: `refreshed`, `refused` where Apple's answers held what Apple did not sign, or a code.
    package func finish(_ refresh: Refresh, stored: Int, outcome: String) async throws {
        try await refreshQueue.settling(refresh.claim) { session in
            _ = try session.query(
                PostgresQuery(
                    "refresh.finish",
                    """
                    update storehook.refreshes
                       set asked_at = now(), again_at = now() + make_interval(days => least(14, 1 << least(rounds, 4))),
                           rounds = least(rounds + 1, 1000)::smallint, stored = stored + \(stored),
                           outcome = \(String(outcome.prefix(100)))
                     where id = \(refresh.id)
                    """))
        }
    }
}
