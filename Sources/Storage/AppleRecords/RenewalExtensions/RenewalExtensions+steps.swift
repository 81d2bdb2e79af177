package import Foundation
package import Postgres

extension RenewalExtensions {
    /// Records that Apple is about to be asked: what Apple did is unknown from now on, until its answer is recorded.
    /// - Parameter before: what Apple says of the subscription; nil for all of a product, and where it says nothing.
    /// - Returns: whether the extension is still held.
    package func begin(_ held: HeldExtension, _ before: SubscriptionStanding?) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.begin",
                """
                update storehook.extensions
                   set state = 'unknown', asked_at = clock_timestamp(), period_before = \(before?.period),
                       renews_before = \(before?.renewsAt), signed_before = \(before?.signedAt)
                 where id = \(held.record.id)
                """))
    }

    /// Apple has certainly not heard: it is to be asked another time.
    /// - Returns: whether the extension is still held.
    @discardableResult
    package func takeBack(_ held: HeldExtension) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.take_back",
                "update storehook.extensions set state = 'requested', asked_at = null where id = \(held.record.id)"))
    }

    /// It was found out that Apple has done nothing: it is to be asked again.
    /// - Returns: whether the extension is still held.
    package func askAgain(_ held: HeldExtension) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.ask_again",
                """
                update storehook.extensions set state = 'requested', asked_at = null, asked_again = asked_again + 1
                 where id = \(held.record.id)
                """))
    }

    /// Apple has taken it on.
    /// - Parameter effective: the new renewal date; nil for all of a product.
    /// - Returns: whether the extension is still held.
    @discardableResult
    package func accepted(_ held: HeldExtension, effective: PostgresTimestamp?) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.accepted",
                """
                update storehook.extensions
                   set state = 'accepted', accepted_at = clock_timestamp(), effective_at = \(effective)
                 where id = \(held.record.id)
                """))
    }

    /// Apple's status shows the new renewal date.
    /// - Returns: whether the extension is still held.
    @discardableResult
    package func confirmed(_ held: HeldExtension) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.confirmed",
                """
                update storehook.extensions set confirmed_at = coalesce(confirmed_at, clock_timestamp())
                 where id = \(held.record.id)
                """))
    }

    /// How far Apple is with all of a product.
    /// - Parameter completedAt: when it was done, by its clock; nil while it is not.
    /// - Returns: whether the extension is still held.
    @discardableResult
    package func progressed(
        _ held: HeldExtension, succeeded: Int64?, failed: Int64?, completedAt: PostgresTimestamp?
    ) async throws -> Bool {
        try await queue.update(
            held.claim,
            PostgresQuery(
                "extension.progressed",
                """
                update storehook.extensions
                   set state = case when \(completedAt)::timestamptz is null then state else 'completed' end,
                       succeeded = coalesce(\(succeeded), succeeded), failed = coalesce(\(failed), failed),
                       completed_at = coalesce(completed_at, \(completedAt))
                 where id = \(held.record.id)
                """))
    }

    /// Nothing more will come of it.
    /// - Parameters:
    ///   - state: an end.
    ///   - refusal: why, where Apple refuses.
    ///   - notification: the notification that reported it, where one did.
    /// - Returns: whether it was still held; if not, another worker looks after it.
    package func settle(
        _ held: HeldExtension, _ state: RenewalExtension.State, refusal: RenewalExtension.Refusal? = nil,
        notification: UUID? = nil
    ) async throws -> Bool {
        precondition(state.isEnd, "\(state) is no end")
        return try await queue.settling(held.claim) { session in
            _ = try session.query(
                PostgresQuery(
                    "extension.settle",
                    """
                    update storehook.extensions
                       set state = \(state.rawValue), settled_at = now(),
                           code = \(refusal.map { String($0.code.prefix(100)) }),
                           message = \(refusal.map { String($0.message.prefix(1000)) }),
                           notification_uuid = coalesce(\(notification), notification_uuid)
                     where id = \(held.record.id)
                    """))
        } != nil
    }

    /// Gives up an extension that is not finished: no worker looks after it any more. A worker that holds it settles
    /// nothing.
    /// - Returns: whether it was not finished.
    package func close(_ id: Int64, by person: String, why: String) async throws -> Bool {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "extension.close")) { session in
            // The row of the queue first, as in all other transactions.
            try session.query(
                PostgresQuery("extension.unqueue", "delete from storehook.extension_queue where id = \(id)"))
            return try session.query(
                PostgresQuery(
                    "extension.close",
                    """
                    update storehook.extensions
                       set state = 'closed', settled_at = now(), closed_by = \(String(person.prefix(200))),
                           closed_why = \(why)
                     where id = \(id) and settled_at is null
                    """)
            ).affectedRows > 0
        }
    }
}
