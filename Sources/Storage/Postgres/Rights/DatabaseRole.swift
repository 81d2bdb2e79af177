/// The rights that a program, or a person, needs: the roles of `sql/roles.sql`.
package enum DatabaseRole: String, Sendable, CaseIterable {
    /// Stores what Apple posts.
    case receiver
    /// Applies it, and fetches what Apple could not post.
    case worker
    /// Decides about dead letters, and stores evidence by hand.
    case ops
    /// Counts.
    case monitor
    /// Answers apps and their backends.
    case api
    /// Reads orders for reports.
    case bi
    /// Answers staff.
    case console

    /// All that its role has in schema storehook, beside the use of the schema: what `sql/roles.sql` grants, no more and no
    /// less. A test compares them.
    public var needs: Set<DatabaseRight> {
        switch self {
        case .receiver:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select],
                "outbox_id": [.usage], "outbox_queue": [.insert],
                "outbox_stored": [.insert], "signature_headers": [.select],
                "refused_senders": [.execute], "store_posted": [.execute], "note_old_post": [.execute],
            ])
            .union(["id", "received_at", "packing", "body"].map { DatabaseRight(.insert, on: "outbox", column: $0) })
        case .worker:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select],
                "outbox": [.select, .insert], "outbox_id": [.usage], "outbox_days": [.select],
                "outbox_queue": [.select, .insert, .update, .delete], "signature_headers": [.select, .insert],
                "served_apps": [.select, .insert, .update], "served_roots": [.select, .insert],
                "duplicates": [.insert], "dead_letters": [.select, .insert],
                "jobs": [.select, .delete], "job_items": [.select], "job_queue": [.select, .update, .delete],
                "work_job": [.execute],
                "outbox_attempts": [.select, .insert, .delete], "searches": [.select, .delete],
                "notifications": [.select, .insert], "records": [.select, .insert],
                "purchase_facts": [.select, .insert],
                "shared_transactions": [.select, .insert],
                "purchase_lines": [.select, .insert, .update],
                "transactions": [.select, .insert, .update], "renewals": [.select, .insert, .update],
                "subscriptions": [.select, .insert, .update, .delete],
                "one_time_purchases": [.select, .insert, .update, .delete],
                "subscription_history": [.select, .insert, .delete], "anomalies": [.select, .insert, .delete],
                "replaced_renewals": [.select, .insert, .delete],
                "queue_depth": [.select], "queue_refused": [.select], "refusals": [.select, .insert, .update, .delete],
                "senders": [.select, .insert, .update], "expire_junk": [.execute],
                "ensure_outbox_partitions": [.execute], "drop_outbox_day": [.execute], "outbox_bodies": [.execute],
                "outbox_days_to_settle": [.select], "outbox_day_changes": [.execute], "settle_outbox_day": [.execute],
                "sum_outbox_stored": [.execute], "outbox_stored": [.insert], "old_posts": [.select],
                "history_windows": [.select, .insert, .update, .delete],
                "history_queue": [.select, .insert, .update, .delete],
                "history_letters": [.select, .insert, .update, .delete],
                "refreshes": [.select, .insert, .update],
                "refresh_queue": [.select, .insert, .update, .delete],
                "canaries": [.select, .insert, .update, .delete],
                "canary_queue": [.select, .insert, .update, .delete],
                "extensions": [.select, .insert, .update], "extension_failures": [.select, .insert],
                "extension_queue": [.select, .insert, .update, .delete],
                "proven_until": [.select], "canary_status": [.select], "extensions_open": [.select],
                "consumption_answers": [.select, .insert, .update],
                "consumption_queue": [.select, .insert, .update, .delete], "consumption_consents": [.select],
                "consumption_tokens": [.select, .insert, .update],
                "contradictions": [.select],
                "consumption_status": [.select],
                "plan_history": [.execute], "history_reach": [.execute],
                "catalogs": [.select], "catalog_state": [.select], "purchase_bindings": [.select],
                "staff_acts": [.select], "trials": [.select],
                "accounts": [.select, .insert, .update], "account_lines": [.select, .insert, .delete],
                "account_names": [.select], "account_ids": [.select], "name_account_ids": [.execute],
                "account_status": [.select, .insert, .update, .delete],
                "account_history": [.select, .insert, .update, .delete],
                "usage_counters": [.select, .delete], "usage_keys": [.select, .delete],
                "purchase_attempts": [.select, .delete], "write_budgets": [.select, .delete],
                "drop_superseded_consents": [.execute],
                "unsigned_words": [.select, .insert, .update], "kept_receipts": [.select, .insert],
                "events": [.select, .insert], "event_id": [.usage], "events_unplaced": [.insert],
                "event_places": [.select], "event_positions": [.select],
                "purchase_tellings": [.select, .insert, .update],
                "access_tellings": [.select, .insert, .update],
                "place_events": [.execute], "ensure_event_partitions": [.execute],
                "is_filling": [.execute], "history_fills": [.execute], "event_days": [.execute],
                "history_filled_at": [.execute], "owed_at": [.execute], "filled_apps": [.execute],
                "telling_differences": [.execute],
                "purchased_products": [.select, .insert, .update], "unsold_products": [.select],
                "order_classes": [.select, .insert], "booked_orders": [.select, .insert, .update],
                "booked_transactions": [.select, .insert, .update, .delete],
                "booked_stretches": [.select, .insert, .update, .delete],
                "booked_refunds": [.select, .insert, .update, .delete], "order_days": [.select, .insert, .update],
                "figure_cells": [.select, .insert, .delete], "figure_marks": [.select, .insert, .delete],
                "figure_plans": [.select, .insert, .delete], "figure_terms": [.select, .insert, .delete],
                "commissions": [.select], "fiscal_calendars": [.select],
                "cohort_cells": [.select, .insert, .update, .delete],
                "value_cells": [.select, .insert, .delete],
                "value_sums": [.select, .insert, .update, .delete],
                "figure_sums": [.select, .insert, .update, .delete], "figure_state": [.select, .update],
                "exchange_rates": [.select], "conversion_marks": [.select, .delete],
                "converted_sums": [.select, .insert, .update, .delete],
                "corrected_conversions": [.select, .insert, .delete],
                "figure_currencies": [.select, .insert, .update, .delete],
                "currency_sums": [.select, .insert, .update, .delete],
                "currency_values": [.select, .insert, .update, .delete],
                "currency_value_days": [.select, .insert, .update, .delete],
                "asked_currencies": [.select, .insert, .update],
                "account_counts": [.select, .insert, .delete], "account_count_state": [.select, .update],
                "due_counts": [.select, .insert, .delete], "due_days": [.select, .insert, .delete],
                "due_unheard": [.select, .insert, .update, .delete], "due_count_state": [.select, .update],
                "account_days": [.select, .insert, .update], "account_day_counts": [.select, .insert],
                "usage_days": [.select, .insert, .delete], "account_status_at": [.execute],
                "overview_now": [.select], "overview_state": [.select, .update],
                "overview_ring": [.select, .insert, .update],
                "order_clock": [.select, .update], "booked_attempts": [.select, .insert, .update],
                "reported_restores": [.select, .insert], "staff_refund_requests": [.select],
                "delete_event_positions": [.execute],
                "drop_event_day": [.execute], "telling_walks": [.select, .update], "telling_status": [.select],
                "endpoints": [.select, .update, .delete], "endpoint_cursors": [.select, .update, .delete],
                "endpoint_health": [.select, .update, .delete],
                "delivery_lanes": [.select, .insert, .update, .delete],
                "delivery_queue": [.select, .insert, .update, .delete],
                "deliveries_pending": [.select, .insert, .update, .delete],
                "deliveries": [.select, .insert, .delete], "delivery_status": [.select],
                "delivery_glance": [.select],
                "delivery_attempts": [.select, .insert, .delete],
                "endpoint_trials": [.select, .update, .delete],
            ])
            .union(
                ["state", "error", "report", "begun_at", "ended_at"]
                    .map { DatabaseRight(.update, on: "jobs", column: $0) }
            )
            .union([DatabaseRight(.update, on: "catalogs", column: "product_keys")])
            .union(["is_booked", "is_surplus"].map { DatabaseRight(.update, on: "purchase_attempts", column: $0) })
            .union(
                ["billing_plan", "up_front_period"].map { DatabaseRight(.update, on: "purchase_facts", column: $0) }
            )
            .union(Self.followingRefunds)
        case .ops:
            // Tables that a worker reads in part, operators may read whole.
            Self.worker.needs.filter { $0.privilege != .select || $0.column == nil }
                .union(
                    Self.rights([
                        DatabaseRight.everyRelation: [.select], "consumption_consents": [.insert],
                        "server_keys": [.insert], "staff_members": [.insert], "staff_tokens": [.insert],
                        "staff_passwords": [.insert],
                        "account_names": [.delete], "account_profiles": [.delete],
                        "endpoints": [.insert], "endpoint_cursors": [.insert], "endpoint_health": [.insert],
                        "endpoint_id": [.usage],
                        "catalogs": [.insert], "catalog_state": [.update], "purchase_bindings": [.insert],
                        "staff_acts": [.insert], "status_at": [.execute],
                        "has_access": [.execute], "has_access_of": [.execute], "account_token": [.execute],
                        "count_outbox_day": [.execute], "refused_senders": [.execute],
                        "list_purchased_products": [.execute], "order_number": [.execute],
                        "expiring_soon": [.execute], "erase_consents": [.execute],
                        "note_opened_texts": [.execute], "staff_refund_requests": [.insert],
                        "refund_request_texts": [.insert], "staff_notes": [.insert],
                        "closed_months": [.insert], "closed_rows": [.insert], "closed_cells": [.insert],
                        "exchange_rates": [.insert, .update], "earlier_rates": [.insert],
                        "rate_imports": [.insert], "conversion_marks": [.insert], "commissions": [.insert],
                        "fiscal_calendars": [.insert], "dead_letter_body": [.execute],
                        "rotate_endpoint": [.execute], "note_resent": [.execute],
                    ])
                )
                .union(Self.settlingLetters)
                .union(Self.stoppingJobs)
                .union(
                    ["reopened_at", "reopened_by", "reopened_why"]
                        .map { DatabaseRight(.update, on: "closed_months", column: $0) }
                )
                .union(
                    ["server_keys", "staff_tokens"].flatMap { table in
                        ["revoked_at", "revoked_by"].map { DatabaseRight(.update, on: table, column: $0) }
                    }
                )
                .union(
                    ["role", "apps", "changed_at", "changed_by", "removed_at", "removed_by"]
                        .map { DatabaseRight(.update, on: "staff_members", column: $0) }
                )
                .union(
                    ["hash", "set_at", "set_by"].map { DatabaseRight(.update, on: "staff_passwords", column: $0) }
                )
                .union([DatabaseRight(.update, on: "trials", column: "token")])
                .union([DatabaseRight(.update, on: "consumption_consents", column: "account")])
                .union(
                    ["only_row", "rule", "named_at", "named_by"]
                        .map { DatabaseRight(.update, on: "account_ids", column: $0) }
                )
                .union(
                    ["recorded_by", "why", "erased_at"].map { DatabaseRight(.update, on: "staff_texts", column: $0) }
                )
                .union([DatabaseRight(.update, on: "catalogs", column: "current_from")])
                .union([DatabaseRight(.update, on: "deliveries", column: "resent_at")])
                .union(Self.decidingRefunds)
        case .api:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select],
                "server_keys": [.select], "answer_proof": [.select], "consumption_consents": [.select, .insert],
                "consumption_tokens": [.select, .insert, .update], "consumption_answers": [.select],
                "consumption_queue": [.select, .update],
                "outbox": [.insert], "outbox_queue": [.insert], "outbox_stored": [.insert], "outbox_id": [.usage],
                "signature_headers": [.select, .insert], "duplicates": [.insert],
                "notifications": [.select, .insert], "records": [.select, .insert],
                "purchase_facts": [.select, .insert], "shared_transactions": [.select, .insert],
                "purchase_lines": [.select, .insert, .update],
                "transactions": [.select, .insert, .update], "renewals": [.select, .insert, .update],
                "subscriptions": [.select, .insert, .update, .delete],
                "one_time_purchases": [.select, .insert, .update, .delete],
                "subscription_history": [.select, .insert, .delete], "anomalies": [.select, .insert, .delete],
                "replaced_renewals": [.select, .insert, .delete],
                "contradictions": [.select], "purchased_products": [.select, .insert, .update],
                "order_classes": [.select, .insert], "booked_orders": [.select, .insert, .update],
                "booked_transactions": [.select, .insert, .update, .delete],
                "booked_refunds": [.select, .insert, .update, .delete],
                "booked_stretches": [.select, .insert, .update, .delete],
                "catalogs": [.select], "catalog_state": [.select], "staff_acts": [.select],
                "purchase_bindings": [.select, .insert], "trials": [.select, .insert],
                "accounts": [.select, .insert, .update], "account_lines": [.select, .insert, .delete],
                "account_status": [.select, .insert, .update, .delete], "purchase_attempts": [.insert],
                "account_names": [.select, .insert], "account_ids": [.select], "name_account_ids": [.execute],
                "account_profiles": [.select, .insert, .update, .delete],
                "account_history": [.select, .insert, .update, .delete],
                "usage_counters": [.select, .insert, .update],
                "usage_keys": [.select, .insert, .update, .delete], "count_usage": [.execute],
                "write_budgets": [.select, .insert, .update], "spend_write_budget": [.execute],
                "consent_texts": [.select],
                "refreshes": [.select, .insert, .update], "refresh_queue": [.select, .insert, .update],
                "unsigned_words": [.select, .insert, .update], "kept_receipts": [.select, .insert],
                "events": [.select, .insert], "event_id": [.usage], "events_unplaced": [.insert],
                "event_places": [.select], "event_positions": [.select], "event_feed": [.select],
                "purchase_tellings": [.select, .insert, .update], "access_tellings": [.select, .insert, .update],
                "is_filling": [.execute], "history_filled_at": [.execute], "owed_at": [.execute],
                "staff_refund_requests": [.select],
            ])
            .union(Self.followingRefunds)
            .union(
                ["id", "notification_uuid", "received_at", "reason"]
                    .map { DatabaseRight(.select, on: "dead_letters", column: $0) }
            )
            .union([DatabaseRight(.update, on: "server_keys", column: "last_used_at")])
            .union([DatabaseRight(.update, on: "account_ids", column: "only_row")])
            .union(Self.recheckingAttempts)
        case .bi:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select], "orders": [.select],
                "order_totals": [.select], "order_transactions": [.select], "order_number": [.execute],
                "refund_requests": [.select], "figures_daily": [.select],
                "account_days": [.select], "account_day_counts": [.select], "usage_days": [.select],
            ])
        case .console:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select],
                "catalogs": [.select, .insert], "catalog_state": [.select, .update], "purchased_products": [.select],
                "account_ids": [.select], "name_account_ids": [.execute],
                "accounts": [.select, .insert, .update], "account_lines": [.select, .insert, .delete],
                "account_names": [.select], "account_status": [.select, .insert, .update, .delete],
                "account_history": [.select, .insert, .update, .delete], "expiring_soon": [.execute],
                "staff_acts": [.select, .insert], "staff_texts": [.select], "staff_notes": [.select, .insert],
                "trials": [.select],
                "purchase_bindings": [.select, .insert], "purchase_lines": [.select, .insert, .update],
                "subscriptions": [.select], "subscription_history": [.select], "one_time_purchases": [.select],
                "transactions": [.select], "renewals": [.select], "usage_counters": [.select, .insert, .update],
                "events": [.select, .insert], "event_id": [.usage], "events_unplaced": [.insert],
                "purchase_tellings": [.select, .insert, .update], "access_tellings": [.select, .insert, .update],
                "is_filling": [.execute], "history_filled_at": [.execute], "owed_at": [.execute],
                "extensions": [.select, .insert, .update], "extension_queue": [.select, .insert, .delete],
                "extension_failures": [.select],
                "audit": [.select], "audit_texts": [.select], "note_opened_texts": [.execute],
                "note_forbidden_try": [.execute], "record_forbidden_tries": [.execute],
                "staff_members": [.select, .insert], "staff_tokens": [.select, .insert],
                "staff_passwords": [.select], "staff_logins": [.select],
                "console_sessions": [.select, .insert, .delete],
                "note_proxied_staff": [.execute], "note_proxied_try": [.execute],
                "booked_orders": [.select], "booked_transactions": [.select], "booked_refunds": [.select],
                "order_classes": [.select], "order_days": [.select], "order_transactions": [.select],
                "shared_transactions": [.select], "order_number": [.execute],
                "figure_cells": [.select], "figure_marks": [.select], "figure_sums": [.select],
                "figure_state": [.select], "figure_plans": [.select], "figure_terms": [.select],
                "cohort_cells": [.select], "value_cells": [.select], "value_sums": [.select],
                "fiscal_calendars": [.select], "closed_months": [.select], "closed_cells": [.select],
                "booked_stretches": [.select],
                "reported_restores": [.select], "proven_until": [.select], "exchange_rates": [.select],
                "conversion_marks": [.select], "converted_sums": [.select], "corrected_conversions": [.select],
                "figure_currencies": [.select], "currency_sums": [.select], "currency_values": [.select],
                "asked_currencies": [.select, .insert, .update],
                "account_counts": [.select], "account_count_state": [.select],
                "due_counts": [.select], "due_days": [.select], "due_unheard": [.select],
                "due_count_state": [.select], "consumption_requests": [.select],
                "endpoint_health": [.select], "delivery_glance": [.select], "deliveries": [.select],
                "delivery_attempts": [.select], "deliveries_pending": [.select, .insert],
                "delivery_lanes": [.select, .insert],
                "endpoint_trials": [.select, .insert], "rotate_endpoint": [.execute], "note_resent": [.execute],
                "notifications": [.select], "records": [.select], "purchase_facts": [.select],
                "notification_body": [.execute], "consumption_consents": [.select], "consent_texts": [.select],
                "queue_depth": [.select], "queue_refused": [.select], "outbox_days": [.select],
                "old_posts": [.select], "dead_letters_open": [.select], "anomalies": [.select],
                "canary_status": [.select], "consumption_status": [.select], "extensions_open": [.select],
                "telling_status": [.select], "unsold_products": [.select], "audit_tail": [.select],
                "telling_differences": [.execute],
                "account_days": [.select], "account_day_counts": [.select], "usage_days": [.select],
                "overview_state": [.select], "overview_ring": [.select],
                "dead_letters": [.select], "outbox_attempts": [.select], "signature_headers": [.select],
                "outbox_queue": [.insert], "dead_letter_body": [.execute],
                "jobs": [.select, .insert], "job_items": [.select, .insert], "job_queue": [.insert],
                "account_profiles": [.select], "searches": [.select, .insert, .delete],
                "saved_filters": [.select, .insert, .delete],
                "event_feed": [.select], "event_places": [.select], "event_positions": [.select],
                "staff_refund_requests": [.select, .insert], "refund_request_texts": [.select, .insert],
            ])
            .union(Self.decidingRefunds)
            .union(Self.recheckingAttempts)
            .union(Self.settlingLetters)
            .union(Self.stoppingJobs)
            .union(
                ["id", "due_at", "attempts", "lapses", "lease_owner", "last_reason"]
                    .map { DatabaseRight(.select, on: "outbox_queue", column: $0) }
            )
            .union(
                ["id", "order_id", "bundle_id", "matched_item"]
                    .map { DatabaseRight(.select, on: "booked_attempts", column: $0) }
            )
            .union([DatabaseRight(.update, on: "booked_transactions", column: "follows")])
            .union(["current_from", "product_keys"].map { DatabaseRight(.update, on: "catalogs", column: $0) })
            .union(
                ["id", "transaction_id", "bundle_id", "environment", "outcome", "began_at"]
                    .map { DatabaseRight(.select, on: "consumption_answers", column: $0) }
            )
            .union(
                [
                    "id", "url", "bundle_id", "environment", "kinds", "rate", "in_flight", "state", "reason",
                    "created_at", "created_by", "former_ends_at", "earlier_ends_at",
                ].map { DatabaseRight(.select, on: "endpoints", column: $0) }
            )
            .union(
                ["id", "attempts", "last_reason", "due_at"]
                    .map { DatabaseRight(.select, on: "delivery_queue", column: $0) }
            )
            .union(Self.resendingDeliveries)
            .union(["id", "lease_token"].map { DatabaseRight(.select, on: "consumption_queue", column: $0) })
            .union([DatabaseRight(.update, on: "consumption_queue", column: "due_at")])
            .union([DatabaseRight(.update, on: "account_ids", column: "only_row")])
            .union(
                ["role", "apps", "changed_at", "changed_by", "removed_at", "removed_by"]
                    .map { DatabaseRight(.update, on: "staff_members", column: $0) }
            )
            .union(["revoked_at", "revoked_by"].map { DatabaseRight(.update, on: "staff_tokens", column: $0) })
            .union([DatabaseRight(.update, on: "console_sessions", column: "seen_at")])
        case .monitor:
            Self.rights([
                "schema_migrations": [.select], "schema_expansions": [.select],
                "queue_depth": [.select], "queue_waiting": [.select], "queue_refused": [.select],
                "conservation": [.select],
                "dead_letters_open": [.select], "subscription_status": [.select], "entitlements": [.select],
                "contradictions": [.select], "consumption_requests": [.select], "proven_until": [.select],
                "canary_status": [.select], "consumption_status": [.select], "extensions_open": [.select],
                "telling_status": [.select], "delivery_status": [.select], "delivery_glance": [.select],
                "old_posts": [.select],
                "subscriptions": [.select],
                "subscription_history": [.select], "status_at": [.execute], "has_access": [.execute],
                "outbox_day_changes": [.execute], "count_outbox_day": [.execute],
                "account_status_now": [.select], "account_status": [.select], "catalog_state": [.select],
                "accounts": [.select], "account_names": [.select], "account_ids": [.select],
                "account_status_at": [.execute], "expiring_soon": [.execute],
                "telling_differences": [.execute],
                "account_history": [.select], "held_purchases": [.select], "has_access_of": [.execute],
                "account_token": [.execute], "unsold_products": [.select],
                "due_counts": [.select], "due_days": [.select], "due_count_state": [.select],
            ]).union([
                DatabaseRight(.select, on: "outbox", column: "received_at"),
                DatabaseRight(.select, on: "notifications", column: "applied_at"),
                DatabaseRight(.select, on: "records", column: "applied_at"),
            ])
            .union(
                [
                    "transaction_id", "bundle_id", "environment", "ownership", "offer_type", "offer_id", "price",
                    "currency", "storefront", "app_transaction_id",
                ].map { DatabaseRight(.select, on: "transactions", column: $0) }
            )
            .union(
                [
                    "original_transaction_id", "bundle_id", "environment", "renewal_price", "currency",
                    "app_transaction_id",
                ].map { DatabaseRight(.select, on: "renewals", column: $0) })
        }
    }

    private static func rights(_ privileges: [String: [DatabaseRight.Privilege]]) -> Set<DatabaseRight> {
        Set(privileges.flatMap { object, privileges in privileges.map { DatabaseRight($0, on: object) } })
    }
}
