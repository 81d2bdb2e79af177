package import Accounts
import AppStorePayloads
import AppStoreServerAPI
package import Base
package import Foundation
import Postgres

/// What is known of a transaction and of one request of Apple's about it, for a person who answers by hand.
package struct ConsumptionTrace: Sendable, Hashable {
    /// The app and environment.
    package var scope: AppEnvironment
    /// What kind of product it is of, in Apple's words; nil where the transaction itself is not known.
    package var productType: String?
    /// Whether the customer consents now; nil where nothing was ever recorded.
    package var consent: Bool?
    /// The request; nil: none is known.
    package var notificationUUID: UUID?
    /// Whether a worker has made its row.
    package var isNoted: Bool
    /// Whether an answer to it was begun, and not taken back.
    package var isBegun: Bool
    /// What it came to; nil while it is open.
    package var outcome: ConsumptionOutcome?

    /// A trace of these parts.
    package init(
        scope: AppEnvironment, productType: String? = nil, consent: Bool? = nil, notificationUUID: UUID? = nil,
        isNoted: Bool = false, isBegun: Bool = false, outcome: ConsumptionOutcome? = nil
    ) {
        self.scope = scope
        self.productType = productType
        self.consent = consent
        self.notificationUUID = notificationUUID
        self.isNoted = isNoted
        self.isBegun = isBegun
        self.outcome = outcome
    }
}

extension ConsumptionRequests {
    /// All requests about a transaction, the latest first; one without a request where the transaction alone is known; none where
    /// nothing is known of it.
    /// - Parameters:
    ///   - app: only this app's; nil: any.
    ///   - environment: only in this one; nil: in any.
    package func traces(
        of transactionID: String, app: String?, environment: String?
    ) async throws -> [ConsumptionTrace] {
        try await pool.query(
            PostgresQuery(
                "consumption.traces",
                """
                select k.bundle_id, k.environment, t.kind, c.granted, n.notification_uuid,
                       a.id is not null as is_noted, a.began_at is not null as is_begun, a.outcome
                  from (select bundle_id, environment from storehook.transactions
                         where transaction_id = \(transactionID)
                         union
                        select bundle_id, environment from storehook.notifications
                         where type = 'CONSUMPTION_REQUEST' and transaction_id = \(transactionID)) k
                  left join storehook.transactions t
                       on t.transaction_id = \(transactionID) and t.bundle_id = k.bundle_id
                      and t.environment = k.environment
                  left join storehook.notifications n
                       on n.type = 'CONSUMPTION_REQUEST' and n.transaction_id = \(transactionID)
                      and n.bundle_id = k.bundle_id and n.environment = k.environment
                  left join storehook.consumption_answers a on a.notification_uuid = n.notification_uuid
                  left join lateral (
                        select c.granted from storehook.consumption_consents c
                         where c.app_account_token = \(unescaped: ConsumptionToken.account)
                         order by c.id desc
                         limit 1
                       ) c on true
                 where (\(app)::text is null or k.bundle_id = \(app))
                   and (\(environment)::text is null or k.environment = \(environment))
                 order by n.signed_at desc nulls last, n.notification_uuid
                """)
        ).map { row in
            ConsumptionTrace(
                scope: try AppEnvironment(row),
                productType: try row.decode("kind"), consent: try row.decode("granted"),
                notificationUUID: try row.decode("notification_uuid"), isNoted: try row.decode("is_noted"),
                isBegun: try row.decode("is_begun"),
                outcome: try row.decode("outcome", as: String?.self).flatMap(ConsumptionOutcome.init(rawValue:)))
        }
    }

    /// Records that the answer to a request that ended as `unknown` is about to be sent once more, where the customer
    /// has not withdrawn the consent. It stays `unknown` until Apple is known to have it: see
    /// ``settleAgain(_:isTaken:reason:)``. The first answer is kept beside.
    /// - Parameter person: the person who sends it by hand and answers for the consent where none is recorded.
    /// - Returns: whether it may be sent.
    package func beginAgain(
        _ notificationUUID: UUID, _ answer: ConsumptionAnswer, sentBy person: String
    ) async throws -> Bool {
        try await pool.withTransaction(TransactionOptions(isDurable: true)) { session in
            try ConsumptionToken.hold(
                """
                select \(unescaped: ConsumptionToken.account) as app_account_token
                  from storehook.consumption_answers a
                  join storehook.transactions t
                       on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                      and t.environment = a.environment
                 where a.notification_uuid = \(notificationUUID)
                """, session)
            return try session.query(
                PostgresQuery(
                    "consumption.begin_again",
                    """
                    update storehook.consumption_answers a
                       set began_at = clock_timestamp(), rule = null, sent_by = \(String(person.prefix(200))),
                           consent_id = k.consent_id,
                           answer = jsonb_build_object('before', s.answer) || jsonb_strip_nulls(jsonb_build_object(
                               'delivery_status', \(answer.deliveryStatus.rawValue)::text,
                               'sample_content_provided', \(answer.sampleContentProvided)::boolean,
                               'consumption_percentage', \(answer.consumptionPercentage)::bigint,
                               'refund_preference', \(answer.refundPreference?.rawValue)::text))
                      from storehook.consumption_answers s
                      left join storehook.transactions t
                           on t.transaction_id = s.transaction_id and t.bundle_id = s.bundle_id
                          and t.environment = s.environment
                      left join lateral (
                            select c.id as consent_id, c.granted from storehook.consumption_consents c
                             where c.app_account_token = \(unescaped: ConsumptionToken.account)
                             order by c.id desc
                             limit 1
                           ) k on true
                     where a.id = s.id and s.notification_uuid = \(notificationUUID)
                       and a.outcome = 'unknown' and k.granted is distinct from false
                       and (k.granted or not exists (
                           select from storehook.accounts e
                            where e.token = t.app_account_token and e.erased_at is not null))
                    """)
            ).affectedRows > 0
        }
    }

    /// Writes down what came of an answer that was sent again: answered, late where the deadline is over, or still unknown.
    /// - Parameters:
    ///   - isTaken: whether Apple has it.
    ///   - reason: a code, where it is still not known.
    package func settleAgain(
        _ notificationUUID: UUID, isTaken: Bool, reason: String? = nil
    ) async throws -> ConsumptionSettlement? {
        try await pool.withTransaction(TransactionOptions(isDurable: true)) { session in
            try session.query(
                PostgresQuery(
                    "consumption.settle_again",
                    """
                    update storehook.consumption_answers
                       set settled_at = clock_timestamp(),
                           outcome = case when not \(isTaken)::boolean then outcome
                                          when clock_timestamp() > deadline then 'late' else 'answered' end,
                           why = case when not \(isTaken)::boolean then \(reason.map { String($0.prefix(100)) })::text
                                      when clock_timestamp() > deadline then \(ConsumptionReason.acceptedLate.rawValue) end
                     where notification_uuid = \(notificationUUID) and outcome = 'unknown'
                    returning environment, outcome, why
                    """)
            ).first.map { try ConsumptionSettlement($0) }
        }
    }
}
