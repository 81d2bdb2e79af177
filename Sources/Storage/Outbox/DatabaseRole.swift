/// What one of the programs, or a person, must be allowed to do: the roles of `sql/roles.sql`.
package enum DatabaseRole: String, Sendable, CaseIterable {
    /// Stores what Apple posts.
    case receiver
    /// Applies it.
    case worker
    /// Decides about dead letters.
    case ops
    /// Counts.
    case monitor

    /// Rights without which it cannot do its part: a relation or function of schema storehook, and privileges.
    var needs: [(object: String, privileges: [String])] {
        switch self {
        case .receiver:
            [
                ("schema_migrations", ["select"]), ("outbox_id", ["usage"]), ("outbox", ["insert"]),
                ("outbox_queue", ["insert"]),
            ]
        case .worker:
            [
                ("schema_migrations", ["select"]), ("outbox", ["select"]), ("outbox_days", ["select"]),
                ("outbox_queue", ["select", "update", "delete"]), ("duplicates", ["insert"]),
                ("dead_letters", ["insert"]), ("subscription_changes", ["insert"]),
                ("notifications", ["select", "insert"]), ("purchase_lines", ["select", "insert", "update"]),
                ("transactions", ["select", "insert", "update"]), ("renewals", ["select", "insert", "update"]),
                ("subscriptions", ["select", "insert", "update", "delete"]),
                ("ensure_outbox_partitions", ["execute"]), ("drop_outbox_day", ["execute"]),
                ("outbox_bodies", ["execute"]), ("outbox_days_to_settle", ["select"]),
                ("outbox_day_changes", ["execute"]), ("settle_outbox_day", ["execute"]),
            ]
        case .ops:
            Self.worker.needs + [
                ("dead_letters", ["select"]), ("outbox_queue", ["insert"]), ("count_outbox_day", ["execute"]),
            ]
        case .monitor:
            ["schema_migrations", "queue_depth", "conservation", "dead_letters_open", "subscription_status"]
                .map { ($0, ["select"]) } + ["outbox_day_changes", "count_outbox_day"].map { ($0, ["execute"]) }
        }
    }
}
