/// How a state strikes the eye. Never by colour alone: its word stands there.
enum Tone: String, Sendable, Hashable {
    /// As it should be.
    case good
    /// Something is to be done, or will end.
    case warning
    /// Something was lost or refused.
    case bad
    /// Nothing special.
    case calm

    /// That of a state; calm for one that this release does not know.
    static func of(_ kind: String, _ value: String) -> Tone { known["\(kind).\(value)"] ?? .calm }

    private static let known: [String: Tone] = [
        "order_status.completed": .good, "order_status.refunded": .bad, "order_status.partially_refunded": .warning,
        "order_status.failed": .bad,
        "refund_state.pending": .warning, "refund_state.processed": .good, "refund_state.rejected": .bad,
        "account_status.active": .good, "account_status.trial": .good, "account_status.cancelled": .warning,
        "account_status.grace_period": .warning, "account_status.revoked": .bad,
        "purchase_status.active": .good, "purchase_status.trial": .good, "purchase_status.cancelled": .warning,
        "purchase_status.grace_period": .warning, "purchase_status.billing_retry": .warning,
        "purchase_status.revoked": .bad, "purchase_status.owned": .good,
        "endpoint_state.enabled": .good, "endpoint_state.disabled": .bad,
        "endpoint_state.paused": .warning, "delivery_outcome.delivered": .good,
        "delivery_outcome.dead": .bad, "consumption_state.open": .warning, "consumption_state.answered": .good,
        "consumption_state.late": .bad, "consumption_state.refused": .bad, "extension_state.extended": .good,
        "extension_state.refused": .bad, "extension_state.not_extended": .bad, "health_status.ok": .good,
        "health_status.failed": .bad,
        "letter_resolution.open": .warning, "letter_resolution.replayed": .good,
        "letter_category.unverified": .warning, "job_state.done": .good, "job_state.failed": .bad,
        "job_state.stopped": .warning,
        "line_type.refund": .bad, "line_type.revoke": .bad, "line_type.refund_reversed": .warning,
    ]
}
