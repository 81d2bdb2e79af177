import Base
import Postgres

extension RenewalExtension {
    /// What is read of one, from the table as `r`; its number comes beside.
    static let columns: StaticString = """
        r.environment, r.bundle_id, r.request_identifier, r.original_transaction_id, r.product_id, r.storefronts, r.days,
        r.reason_code, r.requested_at, r.requested_by, r.why, r.state, r.period_before, r.renews_before, r.signed_before,
        r.asked_at, r.asked_again, r.accepted_at, r.effective_at, r.confirmed_at, r.notification_uuid, r.completed_at,
        r.succeeded, r.failed, r.code, r.message, r.settled_at, r.closed_by, r.closed_why,
        (select count(*) from storehook.extension_failures f where f.extension_id = r.id) as failures_heard,
        extract(epoch from clock_timestamp() - r.asked_at)::double precision as since_asked,
        extract(epoch from clock_timestamp() - r.accepted_at)::double precision as since_accepted,
        extract(epoch from clock_timestamp() - r.completed_at)::double precision as since_completed
        """

    /// Reads ``columns``, `id` and `last_reason`.
    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        scope = try AppEnvironment(row)
        if let product = try row.decode("product_id", as: String?.self) {
            subject = .all(productID: product, storefronts: try row.decode("storefronts"))
        } else {
            subject = .one(originalTransactionID: try row.decode("original_transaction_id"))
        }
        requestIdentifier = try row.decode("request_identifier")
        days = Int64(try row.decode("days", as: Int16.self))
        reasonCode = Int64(try row.decode("reason_code", as: Int16.self))
        requestedAt = try row.decode("requested_at")
        requestedBy = try row.decode("requested_by")
        why = try row.decode("why")
        state = try row.decode("state", among: State.self)
        if let period = try row.decode("period_before", as: String?.self) {
            before = SubscriptionStanding(
                period: period, renewsAt: try row.decode("renews_before"), signedAt: try row.decode("signed_before"))
        }
        askedAt = try row.decode("asked_at")
        askedAgain = Int64(try row.decode("asked_again", as: Int16.self))
        acceptedAt = try row.decode("accepted_at")
        effectiveAt = try row.decode("effective_at")
        confirmedAt = try row.decode("confirmed_at")
        notificationUUID = try row.decode("notification_uuid")
        completedAt = try row.decode("completed_at")
        succeeded = try row.decode("succeeded")
        failed = try row.decode("failed")
        failuresHeard = try row.decode("failures_heard")
        if let code = try row.decode("code", as: String?.self) {
            refusal = Refusal(code: code, message: try row.decode("message", as: String?.self) ?? "")
        }
        settledAt = try row.decode("settled_at")
        if let why = try row.decode("closed_why", as: String?.self) {
            closed = Closure(by: try row.decode("closed_by"), why: why)
        }
        waitingFor = try row.decode("last_reason")
    }
}
