/// Rights on columns that several roles have.
extension DatabaseRole {
    /// What writes into requests of the staff what Apple refunded.
    static let followingRefunds = Set(
        [
            "state", "decider", "decided_at", "share_before", "refunded_before", "refunded_before_at", "apple_share",
            "apple_amount", "apple_at", "reversed_at", "processed_at",
        ].map { DatabaseRight(.update, on: "staff_refund_requests", column: $0) })

    /// What replays and discards dead letters.
    static let settlingLetters = Set(
        ["resolution", "resolved_at", "resolved_by", "resolved_why"]
            .map { DatabaseRight(.update, on: "dead_letters", column: $0) })

    /// What stops jobs.
    static let stoppingJobs = Set(
        ["stopped_at", "stopped_by", "stopped_why"].map { DatabaseRight(.update, on: "jobs", column: $0) })

    /// What has attempts to buy looked at again.
    static let recheckingAttempts = Set(
        ["token", "product_id", "environment", "first_at", "last_at", "matched_order_id"]
            .map { DatabaseRight(.select, on: "booked_attempts", column: $0) }
    ).union([DatabaseRight(.update, on: "booked_attempts", column: "check_at")])

    /// What decides about them.
    static let decidingRefunds = Set(
        [
            "state", "decider", "decided_at", "approved", "is_whole", "reference", "elsewhere_amount", "elsewhere_at",
            "processed_at", "acted_by", "acted_role", "acted_at",
        ].map { DatabaseRight(.update, on: "staff_refund_requests", column: $0) }
            + ["reason", "note", "erased_at"].map { DatabaseRight(.update, on: "refund_request_texts", column: $0) })

    /// What sends deliveries again.
    static let resendingDeliveries: Set<DatabaseRight> = [
        DatabaseRight(.select, on: "endpoint_cursors", column: "endpoint_id"),
        DatabaseRight(.select, on: "endpoint_cursors", column: "position"),
        DatabaseRight(.update, on: "endpoint_cursors", column: "has_resends"),
        DatabaseRight(.update, on: "delivery_lanes", column: "last_sequence"),
        DatabaseRight(.update, on: "deliveries", column: "resent_at"),
    ]
}
