import Accounts
package import Base
package import EvidenceStore
package import Foundation
package import Postgres

/// Apple's requests for consumption data: a row for each, and what became of it.
///
///     noted ──claim──▶ looked at ──begin──▶ sent to Apple ──settle──▶ answered │ late │ refused │ unknown
///       ▲                  │  │                  │
///       └────── put off ───┘  │                  └─ take back (Apple certainly has not taken it) ──▶ put off
///                             └─ settle ──▶ not_answered
///
///     expire, at the deadline ──▶ not_answered │ late │ unknown
///
/// A transaction is answered about once. The answer is recorded before it is sent (``begin(_:_:rule:sentBy:)``), in the
/// transaction that reads the consent once more. Apple cannot be asked what answer it has, and does not say what a
/// second answer does to the first. So where the sending worker is gone or no response arrives, the request ends as
/// `unknown`; no second answer is sent, also where Apple asks again.
package struct ConsumptionRequests: Sendable {
    let pool: PostgresPool
    /// Which of them are to be looked at; of those that are due the one with the earliest deadline goes first.
    package let queue: ScopedQueue
    /// Called when Apple was answered, in the transaction that records it.
    let observer: (any ConsumptionObserver)?

    /// The requests behind a pool of connections. One is enough.
    /// - Parameter observer: called with each answer to Apple; nil for none.
    package init(_ pool: PostgresPool, observer: (any ConsumptionObserver)? = nil) {
        self.pool = pool
        self.observer = observer
        queue = ScopedQueue(
            Self.table, pool, of: "storehook.consumption_answers", where: "r.deadline > now()")
    }

    static let table = QueueTable(
        name: "storehook.consumption_queue", statements: "consumption", channel: "storehook_consumption",
        order: .oldestFirst)

    /// How many requests a round notes at most.
    package static let portion = 1000

    /// Makes the rows of requests that have none yet. Safe to run from many machines at once. A request first seen
    /// after its deadline is settled at once:
    /// - late, where Apple posted it within the week for which it repeats posts, and the customer consents;
    /// - not answered otherwise, as when a new database is filled from Apple's history.
    /// - Parameters:
    ///   - everything: looks at all requests ever heard, rather than at those signed within the last thirteen hours.
    ///   - policy: whether this process has a policy.
    ///   - scopes: the app environments that this process has API keys for.
    /// - Returns: how many it made, and what of those was settled.
    package func note(
        everything: Bool, hasPolicy policy: Bool, keysFor scopes: [AppEnvironment]
    ) async throws -> (noted: Int, settled: [ConsumptionSettlement]) {
        let rows = try await pool.query(
            PostgresQuery(
                "consumption.note",
                """
                with noted as (
                    insert into storehook.consumption_answers
                           (notification_uuid, environment, bundle_id, transaction_id, reason, signed_at, deadline, why,
                            outcome, settled_at)
                    select r.notification_uuid, r.environment, r.bundle_id, r.transaction_id, r.reason, r.signed_at, r.deadline,
                           case when r.deadline <= now() then \(ConsumptionReason.heardLate.rawValue)
                                when not \(policy)::boolean then \(ConsumptionReason.noPolicy.rawValue)
                                when s.bundle_id is null then \(ConsumptionReason.noKey.rawValue) end,
                           case when r.deadline > now() then null
                                when r.source = 'webhook' and r.signed_at > now() - interval '7 days'
                                     and \(policy)::boolean and coalesce(k.granted, false)
                                then \(ConsumptionOutcome.late.rawValue)
                                else \(ConsumptionOutcome.notAnswered.rawValue) end,
                           case when r.deadline <= now() then now() end
                      from (select n.notification_uuid, n.environment, n.bundle_id, n.transaction_id,
                                   n.consumption_request_reason as reason, n.signed_at, n.source,
                                   n.signed_at + interval '12 hours' as deadline
                              from storehook.notifications n
                             where n.type = 'CONSUMPTION_REQUEST'
                               and n.signed_at > case when \(everything) then '-infinity'::timestamptz
                                                      else now() - interval '13 hours' end
                               and not exists (
                                   select from storehook.consumption_answers a
                                    where a.notification_uuid = n.notification_uuid)
                             order by n.signed_at desc
                             limit \(Self.portion)) r
                      left join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                           on s.bundle_id = r.bundle_id and s.environment = r.environment
                      left join lateral (
                            select c.granted
                              from storehook.transactions t
                              join storehook.consumption_consents c on c.app_account_token = \(unescaped: ConsumptionToken.account)
                             where t.transaction_id = r.transaction_id and t.bundle_id = r.bundle_id
                               and t.environment = r.environment
                             order by c.id desc
                             limit 1
                           ) k on true
                        on conflict (notification_uuid) do nothing
                    returning id, environment, signed_at, outcome, why
                ), queued as (
                    insert into storehook.consumption_queue (id, received_at, due_at, last_reason)
                    select id, signed_at, now(), why from noted where outcome is null
                )
                select environment, outcome, why from noted
                """))
        return (
            rows.count,
            try rows.filter { try $0.decode("outcome", as: String?.self) != nil }.map { try ConsumptionSettlement($0) }
        )
    }

    /// Makes everything due now that is not held and waits for what a new process may bring: a new or changed policy or
    /// key.
    package func requeueNow(_ scopes: [AppEnvironment]) async throws {
        try await pool.query(
            PostgresQuery(
                "consumption.hasten",
                """
                with waiting as (
                    select q.id
                      from storehook.consumption_queue q
                      join storehook.consumption_answers a using (id)
                      join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                           on s.bundle_id = a.bundle_id and s.environment = a.environment
                     where q.lease_token is null and q.due_at > now()
                       and q.last_reason is distinct from 'rate_limit_exceeded'
                       for update of q skip locked
                )
                update storehook.consumption_queue q set due_at = now() from waiting where q.id = waiting.id
                """))
    }

    /// Clears the reason "no policy" that a process without one has recorded, so that the request counts as to be
    /// answered until it is looked at. It is due already, unless all of its app is put off.
    /// - Parameter scopes: the app environments that this process has API keys and a policy for.
    package func forgetMissingPolicy(_ scopes: [AppEnvironment]) async throws {
        try await pool.query(
            PostgresQuery(
                "consumption.forget_missing_policy",
                """
                with noted as (
                    select a.id
                      from storehook.consumption_answers a
                      join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                           on s.bundle_id = a.bundle_id and s.environment = a.environment
                     where a.outcome is null and a.began_at is null
                       and a.why = \(ConsumptionReason.noPolicy.rawValue)
                       for update of a skip locked
                )
                update storehook.consumption_answers a set why = null from noted where a.id = noted.id
                """))
    }

    /// Open requests of other app environments than these: this process has no key for them, and no other process has
    /// looked at them. Read and not claimed, so that a process with the key can claim them at any time.
    package func lackingKeys(but scopes: [AppEnvironment]) async throws -> [ConsumptionRequest] {
        try await pool.query(
            PostgresQuery(
                "consumption.lacking_keys",
                """
                select r.id, 0::smallint as attempts, \(unescaped: "\(Self.columns)")
                  from storehook.consumption_answers c
                  \(unescaped: "\(Self.joins)")
                 where r.outcome is null and r.began_at is null and r.why in ('no_policy', 'no_key')
                   and not exists (
                       select from unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment)))
                              as s (bundle_id, environment)
                        where s.bundle_id = r.bundle_id and s.environment = r.environment)
                 order by r.deadline
                 limit \(Self.portion)
                """)
        ).map { try ConsumptionRequest($0, ScopedClaim($0, Lease(owner: "", duration: .zero))) }
    }

    /// Records why the requests of ``lackingKeys(but:)`` are not answered.
    package func explain(_ reasons: [(id: Int64, reason: ConsumptionReason)]) async throws {
        guard !reasons.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "consumption.explain",
                """
                with lacking as (
                    select a.id, w.why
                      from storehook.consumption_answers a
                      join unnest(\(reasons.map(\.id)), \(reasons.map(\.reason.rawValue))) as w (id, why) using (id)
                     where a.outcome is null and a.began_at is null and a.why in ('no_policy', 'no_key')
                       and a.why <> w.why
                       for update of a skip locked
                )
                update storehook.consumption_answers a set why = lacking.why from lacking where a.id = lacking.id
                """))
    }

    /// Claims the request with the earliest deadline of those that are due; nil if none is.
    /// - Parameter scopes: the app environments that this process has API keys for.
    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> ConsumptionRequest? {
        try await queue.claim(for: lease, among: scopes, joining: Self.requests) { try ConsumptionRequest($0, $1) }
    }

    /// Claims as ``claim(for:among:)``, but only requests with a decision of staff: these are answered without a policy.
    package func claimDecided(for lease: Lease, among scopes: [AppEnvironment]) async throws -> ConsumptionRequest? {
        try await queue.claim(
            for: lease,
            of: """
                select a.id
                  from storehook.consumption_queue waiting
                  join storehook.consumption_answers a using (id)
                  join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                       on s.bundle_id = a.bundle_id and s.environment = a.environment
                 where a.deadline > now() and exists (
                       select from storehook.staff_refund_requests d
                        where d.transaction_id = a.transaction_id and d.bundle_id = a.bundle_id
                          and d.environment = a.environment and d.state in ('approved', 'rejected', 'processed')
                          and d.reference is null and d.decided_at > a.signed_at - interval '90 days')
                """, joining: Self.requests
        ) { try ConsumptionRequest($0, $1) }
    }

    /// What staff decide about a refund of what a request is about, as of now. It stands until the transaction ends.
    func refund(of request: ConsumptionRequest, _ session: borrowing PostgresSession) throws -> RefundDecision? {
        try session.query(
            PostgresQuery(
                "consumption.hold_refund",
                """
                select from storehook.consumption_answers a
                  join storehook.staff_refund_requests s
                       on s.transaction_id = a.transaction_id and s.bundle_id = a.bundle_id and s.environment = a.environment
                 where a.id = \(request.id)
                 order by s.id
                   for share of s
                """))
        return try session.query(
            PostgresQuery(
                "consumption.refund",
                """
                select \(unescaped: "\(Self.columns)") from storehook.consumption_answers c
                  \(unescaped: "\(Self.joins)")
                 where c.id = \(request.id)
                """)
        ).first.flatMap { try RefundDecision($0) }
    }

    /// Claims the request of a notification, whatever it waits for, to be answered by hand; nil while another process
    /// holds it, or where it is settled.
    package func claim(_ notificationUUID: UUID, for lease: Lease) async throws -> ConsumptionRequest? {
        try await pool.query(
            PostgresQuery(
                "consumption.fetch",
                """
                update storehook.consumption_queue q
                   set due_at = now()
                  from storehook.consumption_answers a
                 where a.id = q.id and a.notification_uuid = \(notificationUUID) and q.lease_token is null
                """))
        return try await queue.claim(
            for: lease,
            of: "select a.id from storehook.consumption_answers a where a.notification_uuid = \(notificationUUID)",
            joining: Self.requests
        ) { try ConsumptionRequest($0, $1) }
    }

    private static let requests = ClaimJoin(columns: columns, clause: joins)
    /// What a request is about, and what staff decided about a refund of it: the latest that was not taken back, and not decided 90 days
    /// before Apple asked (`RefundDecision.days`). It decides about its own transaction alone.
    private static let joins: StaticString = """
        left join storehook.consumption_answers r on r.id = c.id
        left join storehook.transactions t
             on t.transaction_id = r.transaction_id and t.bundle_id = r.bundle_id and t.environment = r.environment
        left join lateral (
              select s.* from storehook.staff_refund_requests s
               where s.transaction_id = r.transaction_id and s.bundle_id = r.bundle_id
                 and s.environment = r.environment and s.state <> 'cancelled'
                 and (s.decided_at is null or s.decided_at > r.signed_at - interval '90 days')
               order by s.id desc limit 1) f on true
        """
    private static let columns: StaticString = """
        f.id as refund_id, f.kind as refund_kind, f.state as refund_state, f.is_whole as refund_is_whole,
        f.approved as refund_approved, f.price as refund_price, f.refunded_before,
        f.reference is not null as is_refunded_elsewhere,
        r.bundle_id, r.environment, r.transaction_id, r.reason, r.deadline, r.began_at is not null as is_begun,
        extract(epoch from r.deadline - clock_timestamp())::double precision as seconds_left,
        t.transaction_id is not null as is_known, t.product_id, t.kind, t.ownership,
        nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000') is not null as has_account,
        (select k.granted from storehook.consumption_consents k
          where k.app_account_token = nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000') order by k.id desc limit 1) as granted
        """
}
