package import Accounts
import AppStorePayloads
import AppStoreServerAPI
package import Base
import Foundation
import Postgres
import Subscriptions

extension ConsumptionRequests {
    /// The result of ``begin(_:_:rule:sentBy:)``.
    package enum Beginning: Sendable, Hashable {
        /// The answer is recorded, and the customer consented right after this instant: send it, at once and once.
        case begun(lookedAt: ContinuousClock.Instant)
        /// Another process has taken the request over.
        case lost
        /// It must not be sent, for this reason.
        case withheld(ConsumptionReason)
    }

    /// Durable: answers to Apple and Apple's responses cannot be restored from anywhere else.
    private static let durably = TransactionOptions(isDurable: true)

    /// Records the answer that is about to be sent, where the customer consents at this very moment, the deadline is
    /// not over, and no other answer about this transaction was sent.
    /// - Parameters:
    ///   - rule: the rule of the policy that says so, for people.
    ///   - person: the person who sends it by hand and answers for the consent where none is recorded; nil: it has to
    ///     be recorded. A consent that was withdrawn always prevents sending.
    package func begin(
        _ request: ConsumptionRequest, _ answer: ConsumptionAnswer, rule: String?, sentBy person: String? = nil
    ) async throws -> Beginning {
        do {
            return try await pool.withTransaction(Self.durably) { session in
                try ConsumptionToken.hold(of: request, session)
                guard try queue.renew(request.claim, session) else { return .lost }
                // A decision about a refund that is made at this moment waits, and then finds that Apple was answered.
                if person == nil, try refund(of: request, session) != request.refund {
                    return .withheld(.refundDecided)
                }
                // A statement of its own, after the token is held: it sees each consent that was recorded before, and each
                // that is recorded now waits for the end of this transaction.
                let lookedAt = ContinuousClock.now
                let now = try session.query(
                    PostgresQuery(
                        "consumption.look",
                        """
                        select a.deadline > clock_timestamp() as is_in_time, \(unescaped: ConsumptionToken.account) is not null as has_account,
                               k.id as consent_id, k.granted,
                               exists (select from storehook.accounts e
                                        where e.token = t.app_account_token and e.erased_at is not null) as is_erased,
                               (select o.outcome is not null
                                  from storehook.consumption_answers o
                                 where o.transaction_id = a.transaction_id and o.bundle_id = a.bundle_id
                                   and o.environment = a.environment and o.id <> a.id
                                   and o.began_at is not null and o.outcome is distinct from 'refused') as is_other_settled
                          from storehook.consumption_answers a
                          left join storehook.transactions t
                               on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                              and t.environment = a.environment
                          left join lateral (
                                select c.id, c.granted from storehook.consumption_consents c
                                 where c.app_account_token = \(unescaped: ConsumptionToken.account)
                                 order by c.id desc
                                 limit 1
                               ) k on true
                         where a.id = \(request.id)
                        """)
                ).one()
                if let isSettled = try now.decode("is_other_settled", as: Bool?.self) {
                    return .withheld(isSettled ? .answeredBefore : .anotherUnderWay)
                }
                guard try now.decode("is_in_time", as: Bool.self) else { return .withheld(.deadlineOver) }
                // No answer is sent for a customer who was erased and has agreed to nothing since.
                let granted =
                    try now.decode("granted", as: Bool?.self) ?? (now.decode("is_erased", as: Bool.self) ? false : nil)
                if granted == false { return .withheld(.consentWithdrawn) }
                if granted == nil, person == nil {
                    return .withheld(try now.decode("has_account", as: Bool.self) ? .noConsent : .noAccount)
                }
                try session.query(
                    PostgresQuery(
                        "consumption.begin",
                        """
                        update storehook.consumption_answers
                           set began_at = clock_timestamp(), why = null, answer = jsonb_strip_nulls(jsonb_build_object(
                                   'delivery_status', \(answer.deliveryStatus.rawValue)::text,
                                   'sample_content_provided', \(answer.sampleContentProvided)::boolean,
                                   'consumption_percentage', \(answer.consumptionPercentage)::bigint,
                                   'refund_preference', \(answer.refundPreference?.rawValue)::text)),
                               rule = \(rule.map { String($0.prefix(200)) }), sent_by = \(person.map { String($0.prefix(200)) }),
                               consent_id = \(granted == true ? try now.decode("consent_id", as: Int64?.self) : nil)
                         where id = \(request.id)
                        """))
                return .begun(lookedAt: lookedAt)
            }
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // Another request about the same transaction was begun at the same moment.
            return .withheld(.anotherUnderWay)
        }
    }

    /// Apple certainly has not taken it: as if it had not been begun, and due again after a while.
    package func takeBack(_ request: ConsumptionRequest, for delay: Duration, reason: String) async throws {
        let reason = String(reason.prefix(100))
        _ = try await queue.update(
            request.claim,
            PostgresQuery(
                "consumption.take_back",
                """
                update storehook.consumption_answers
                   set why = \(reason), began_at = null, answer = null, rule = null, consent_id = null, sent_by = null
                 where id = \(request.id)
                """))
        try await queue.putOff(request.claim, by: delay, reason: reason, isItsOwn: true)
    }

    /// Puts off a request that was not begun: it is looked at again after a while. The attempt does not count: a
    /// consent may come in hours. A request that lacks a consent is due at once where the customer has consented since
    /// it was claimed: the transaction that records a consent cannot make a held request due.
    package func putOff(_ request: ConsumptionRequest, for delay: Duration, reason: String) async throws {
        let isConsentAwaited = Self.consentReasons.contains(reason)
        let reason = String(reason.prefix(100))
        try await pool.withTransaction { session in
            if isConsentAwaited { try ConsumptionToken.hold(of: request, session) }
            guard try queue.renew(request.claim, session) else { return }
            try session.query(
                PostgresQuery(
                    "consumption.put_off",
                    """
                    update storehook.consumption_answers set why = \(reason)
                     where id = \(request.id) and began_at is null
                    """))
            // In the transaction that holds the token, and a statement of its own: it sees each consent that was
            // recorded before. A transaction that records one now waits, and then finds a row without a lease.
            try session.query(
                PostgresQuery(
                    "consumption.postpone",
                    """
                    update storehook.consumption_queue q
                       set due_at = case when \(isConsentAwaited)::boolean and coalesce((
                                              select c.granted
                                                from storehook.consumption_answers a
                                                join storehook.transactions t
                                                     on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                                                    and t.environment = a.environment
                                                join storehook.consumption_consents c
                                                     on c.app_account_token = \(unescaped: ConsumptionToken.account)
                                               where a.id = q.id
                                               order by c.id desc
                                               limit 1), false)
                                         then now()
                                         else clock_timestamp() + make_interval(secs => \(delay / .seconds(1))) end,
                           attempts = attempts - 1, lease_owner = null, lease_token = null, last_reason = \(reason)
                     where q.id = \(request.id)
                    """))
        }
    }

    /// What a consent changes.
    private static let consentReasons = [
        ConsumptionReason.noTransaction, .noAccount, .noConsent, .consentWithdrawn,
    ].map(\.rawValue)

    /// Puts off all requests of an app in an environment that are not held: what prevents one prevents all. It skips
    /// locked rows instead of waiting, as all statements on many rows do, so there is no deadlock. None is put off
    /// beyond its deadline while there is time, unless Apple itself has said when.
    package func putOff(requestsOf scope: AppEnvironment, by delay: Duration, reason: String) async throws {
        let reason = String(reason.prefix(100))
        let isApplesWord = reason == ServerErrorCode.rateLimitExceeded.name
        try await pool.query(
            PostgresQuery(
                "consumption.put_off_all",
                """
                with waiting as (
                    select q.id, until.due_at
                      from storehook.consumption_queue q
                      join storehook.consumption_answers a using (id)
                     cross join lateral (
                            select now() + case when \(isApplesWord)::boolean
                                                then make_interval(secs => \(delay / .seconds(1)))
                                                else least(make_interval(secs => \(delay / .seconds(1))),
                                                           greatest((a.deadline - now()) / 2, interval '5 seconds'))
                                                end as due_at
                           ) as until
                     where a.bundle_id = \(scope.bundleID) and a.environment = \(scope.environment)
                       and q.lease_token is null and q.due_at < until.due_at
                       for update of q skip locked
                ), put_off as (
                    update storehook.consumption_queue q
                       set due_at = waiting.due_at, last_reason = \(reason)
                      from waiting where q.id = waiting.id
                    returning q.id
                )
                update storehook.consumption_answers a set why = \(reason)
                  from put_off where a.id = put_off.id and a.why is null
                """))
    }

    /// Nothing more is done about a request. What Apple took after the deadline is late.
    /// - Parameter reason: why it was not answered, or Apple's code; nil where it was answered.
    /// - Returns: what it came to; nil if another process has taken it over.
    @discardableResult
    package func settle(
        _ request: ConsumptionRequest, _ outcome: ConsumptionOutcome, reason: String? = nil
    ) async throws -> ConsumptionSettlement? {
        let settled: ConsumptionSettlement?? = try await queue.settling(request.claim, Self.durably) { session in
            let answered = ConsumptionOutcome.answered.rawValue
            let settled = try session.query(
                PostgresQuery(
                    "consumption.settle",
                    """
                    update storehook.consumption_answers a
                       set settled_at = clock_timestamp(),
                           outcome = case when \(outcome.rawValue) = \(answered) and clock_timestamp() > a.deadline
                                          then 'late' else \(outcome.rawValue) end,
                           why = case when \(outcome.rawValue) = \(answered) and clock_timestamp() > a.deadline
                                      then \(ConsumptionReason.acceptedLate.rawValue) else \(reason.map { String($0.prefix(100)) }) end
                     where id = \(request.id)
                    returning environment, outcome, why
                    """)
            ).first.map { try ConsumptionSettlement($0) }
            if let settled, outcome == .answered { try tell(settled, request, session) }
            return settled
        }
        return settled ?? nil
    }

    private func tell(
        _ settled: ConsumptionSettlement, _ request: ConsumptionRequest, _ session: borrowing PostgresSession
    ) throws {
        guard let observer else { return }
        let row = try session.query(
            PostgresQuery(
                "consumption.told",
                """
                select n.environment, n.bundle_id, n.original_transaction_id, a.transaction_id
                  from storehook.consumption_answers a
                  join storehook.notifications n using (notification_uuid)
                 where a.id = \(request.id) and n.original_transaction_id is not null
                """)
        ).first
        guard let row, let transaction = try row.decode(3, as: String?.self) else { return }
        let purchase = PurchaseKey(
            environment: try row.decode(0), bundleID: try row.decode(1), originalTransactionID: try row.decode(2))
        try observer.answered(about: purchase, transaction, outcome: settled.outcome, session)
    }

    /// Why a request is not to be answered, whatever the consent.
    private static let choices = [
        ConsumptionReason.noPolicy, .noRule, .noTransaction, .leftToApple, .notPurchased,
    ].map(\.rawValue)

    /// Settles the requests that were not answered in time and are not held.
    /// - Returns: what each came to.
    package func expire() async throws -> [ConsumptionSettlement] {
        try await pool.query(
            PostgresQuery(
                "consumption.expire",
                """
                with over as (
                    select q.id
                      from storehook.consumption_queue q
                      join storehook.consumption_answers a using (id)
                     where a.deadline <= now() and (q.lease_token is null or q.due_at <= now())
                     order by q.id
                     limit \(Self.portion)
                       for update of q skip locked
                ), gone as (
                    delete from storehook.consumption_queue q using over where q.id = over.id returning q.id
                )
                update storehook.consumption_answers a
                   set settled_at = now(), outcome = became.outcome, why = became.why
                  from gone
                  join storehook.consumption_answers s using (id)
                  left join storehook.transactions t
                       on t.transaction_id = s.transaction_id and t.bundle_id = s.bundle_id and t.environment = s.environment
                 cross join lateral (
                        select (select c.granted from storehook.consumption_consents c
                                 where c.app_account_token = \(unescaped: ConsumptionToken.account)
                                 order by c.id desc limit 1) as granted
                       ) k
                 cross join lateral (
                        select case when s.began_at is not null then 'unknown'
                                    when k.granted is distinct from true
                                         or s.why = any(\(Self.choices)) then 'not_answered'
                                    else 'late' end as outcome,
                               case when s.began_at is not null then \(ConsumptionReason.workerGone.rawValue)
                                    when s.why = any(\(Self.choices)) then s.why
                                    when \(unescaped: ConsumptionToken.account) is null then \(ConsumptionReason.noAccount.rawValue)
                                    when k.granted is null then \(ConsumptionReason.noConsent.rawValue)
                                    when not k.granted then \(ConsumptionReason.consentWithdrawn.rawValue)
                                    else coalesce(s.why, \(ConsumptionReason.notLookedAt.rawValue)) end as why
                       ) became
                 where a.id = gone.id
                returning a.environment, a.outcome, a.why
                """)
        ).map { try ConsumptionSettlement($0) }
    }
}
