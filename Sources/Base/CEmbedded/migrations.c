#include "embedded.h"

// The compiler copies the files: as literals of Swift they took it longer than all of the rest of the schema's code.
static const struct storehook_migration migrations[] = {
    {1, "outbox", (const unsigned char[]){
#embed "../../../sql/migrations/0001_outbox.sql" suffix(, 0)
    }},
    {2, "facts", (const unsigned char[]){
#embed "../../../sql/migrations/0002_facts.sql" suffix(, 0)
    }},
    {3, "state", (const unsigned char[]){
#embed "../../../sql/migrations/0003_state.sql" suffix(, 0)
    }},
    {4, "views", (const unsigned char[]){
#embed "../../../sql/migrations/0004_views.sql" suffix(, 0)
    }},
    {5, "packing", (const unsigned char[]){
#embed "../../../sql/migrations/0005_packing.sql" suffix(, 0)
    }},
    {6, "retention", (const unsigned char[]){
#embed "../../../sql/migrations/0006_retention.sql" suffix(, 0)
    }},
    {7, "bodies", (const unsigned char[]){
#embed "../../../sql/migrations/0007_bodies.sql" suffix(, 0)
    }},
    {8, "purchase_facts", (const unsigned char[]){
#embed "../../../sql/migrations/0008_purchase_facts.sql" suffix(, 0)
    }},
    {9, "reads", (const unsigned char[]){
#embed "../../../sql/migrations/0009_reads.sql" suffix(, 0)
    }},
    {10, "conservation", (const unsigned char[]){
#embed "../../../sql/migrations/0010_conservation.sql" suffix(, 0)
    }},
    {11, "waiting", (const unsigned char[]){
#embed "../../../sql/migrations/0011_waiting.sql" suffix(, 0)
    }},
    {12, "accounted", (const unsigned char[]){
#embed "../../../sql/migrations/0012_accounted.sql" suffix(, 0)
    }},
    {13, "senders", (const unsigned char[]){
#embed "../../../sql/migrations/0013_senders.sql" suffix(, 0)
    }},
    {14, "upkeep_locks", (const unsigned char[]){
#embed "../../../sql/migrations/0014_upkeep_locks.sql" suffix(, 0)
    }},
    {15, "evidence", (const unsigned char[]){
#embed "../../../sql/migrations/0015_evidence.sql" suffix(, 0)
    }},
    {16, "served", (const unsigned char[]){
#embed "../../../sql/migrations/0016_served.sql" suffix(, 0)
    }},
    {17, "history", (const unsigned char[]){
#embed "../../../sql/migrations/0017_history.sql" suffix(, 0)
    }},
    {18, "canary", (const unsigned char[]){
#embed "../../../sql/migrations/0018_canary.sql" suffix(, 0)
    }},
    {19, "storing", (const unsigned char[]){
#embed "../../../sql/migrations/0019_storing.sql" suffix(, 0)
    }},
    {20, "extensions", (const unsigned char[]){
#embed "../../../sql/migrations/0020_extensions.sql" suffix(, 0)
    }},
    {21, "consumption", (const unsigned char[]){
#embed "../../../sql/migrations/0021_consumption.sql" suffix(, 0)
    }},
    {22, "accounts", (const unsigned char[]){
#embed "../../../sql/migrations/0022_accounts.sql" suffix(, 0)
    }},
    {23, "usage", (const unsigned char[]){
#embed "../../../sql/migrations/0023_usage.sql" suffix(, 0)
    }},
    {24, "server_keys", (const unsigned char[]){
#embed "../../../sql/migrations/0024_server_keys.sql" suffix(, 0)
    }},
    {25, "unsigned", (const unsigned char[]){
#embed "../../../sql/migrations/0025_unsigned.sql" suffix(, 0)
    }},
    {26, "expiring_soon", (const unsigned char[]){
#embed "../../../sql/migrations/0026_expiring_soon.sql" suffix(, 0)
    }},
    {27, "removed_purchases", (const unsigned char[]){
#embed "../../../sql/migrations/0027_removed_purchases.sql" suffix(, 0)
    }},
    {28, "receipts", (const unsigned char[]){
#embed "../../../sql/migrations/0028_receipts.sql" suffix(, 0)
    }},
    {29, "events", (const unsigned char[]){
#embed "../../../sql/migrations/0029_events.sql" suffix(, 0)
    }},
    {30, "telling", (const unsigned char[]){
#embed "../../../sql/migrations/0030_telling.sql" suffix(, 0)
    }},
    {31, "endpoints", (const unsigned char[]){
#embed "../../../sql/migrations/0031_endpoints.sql" suffix(, 0)
    }},
    {32, "events_at_size", (const unsigned char[]){
#embed "../../../sql/migrations/0032_events_at_size.sql" suffix(, 0)
    }},
    {33, "refusals", (const unsigned char[]){
#embed "../../../sql/migrations/0033_refusals.sql" suffix(, 0)
    }},
    {34, "event_places", (const unsigned char[]){
#embed "../../../sql/migrations/0034_event_places.sql" suffix(, 0)
    }},
    {35, "periods", (const unsigned char[]){
#embed "../../../sql/migrations/0035_periods.sql" suffix(, 0)
    }},
    {36, "retry_flag", (const unsigned char[]){
#embed "../../../sql/migrations/0036_retry_flag.sql" suffix(, 0)
    }},
    {37, "origins", (const unsigned char[]){
#embed "../../../sql/migrations/0037_origins.sql" suffix(, 0)
    }},
    {38, "one_answer", (const unsigned char[]){
#embed "../../../sql/migrations/0038_one_answer.sql" suffix(, 0)
    }},
    {39, "tokens_and_old_posts", (const unsigned char[]){
#embed "../../../sql/migrations/0039_tokens_and_old_posts.sql" suffix(, 0)
    }},
    {40, "erasure", (const unsigned char[]){
#embed "../../../sql/migrations/0040_erasure.sql" suffix(, 0)
    }},
    {41, "sales", (const unsigned char[]){
#embed "../../../sql/migrations/0041_sales.sql" suffix(, 0)
    }},
    {42, "balances", (const unsigned char[]){
#embed "../../../sql/migrations/0042_balances.sql" suffix(, 0)
    }},
    {43, "staff_texts", (const unsigned char[]){
#embed "../../../sql/migrations/0043_staff_texts.sql" suffix(, 0)
    }},
    {44, "fills", (const unsigned char[]){
#embed "../../../sql/migrations/0044_fills.sql" suffix(, 0)
    }},
    {45, "earlier_accounts", (const unsigned char[]){
#embed "../../../sql/migrations/0045_earlier_accounts.sql" suffix(, 0)
    }},
    {46, "answered_by", (const unsigned char[]){
#embed "../../../sql/migrations/0046_answered_by.sql" suffix(, 0)
    }},
    {47, "account_ids", (const unsigned char[]){
#embed "../../../sql/migrations/0047_account_ids.sql" suffix(, 0)
    }},
    {48, "usage_bound", (const unsigned char[]){
#embed "../../../sql/migrations/0048_usage_bound.sql" suffix(, 0)
    }},
    {49, "write_budgets", (const unsigned char[]){
#embed "../../../sql/migrations/0049_write_budgets.sql" suffix(, 0)
    }},
    {50, "superseded_consents", (const unsigned char[]){
#embed "../../../sql/migrations/0050_superseded_consents.sql" suffix(, 0)
    }},
    {51, "guarded_casts", (const unsigned char[]){
#embed "../../../sql/migrations/0051_guarded_casts.sql" suffix(, 0)
    }},
    {52, "earlier_secrets", (const unsigned char[]){
#embed "../../../sql/migrations/0052_earlier_secrets.sql" suffix(, 0)
    }},
    {53, "replica_identity", (const unsigned char[]){
#embed "../../../sql/migrations/0053_replica_identity.sql" suffix(, 0)
    }},
    {54, "refusals", (const unsigned char[]){
#embed "../../../sql/migrations/0054_refusals.sql" suffix(, 0)
    }},
    {55, "refund_reason", (const unsigned char[]){
#embed "../../../sql/migrations/0055_refund_reason.sql" suffix(, 0)
    }},
    {56, "stored_dates", (const unsigned char[]){
#embed "../../../sql/migrations/0056_stored_dates.sql" suffix(, 0)
    }},
    {57, "reported_restores", (const unsigned char[]){
#embed "../../../sql/migrations/0057_reported_restores.sql" suffix(, 0)
    }},
    {58, "answer_proof", (const unsigned char[]){
#embed "../../../sql/migrations/0058_answer_proof.sql" suffix(, 0)
    }},
    {59, "account_names", (const unsigned char[]){
#embed "../../../sql/migrations/0059_account_names.sql" suffix(, 0)
    }},
    {60, "purchased_products", (const unsigned char[]){
#embed "../../../sql/migrations/0060_purchased_products.sql" suffix(, 0)
    }},
    {61, "moved_purchases", (const unsigned char[]){
#embed "../../../sql/migrations/0061_moved_purchases.sql" suffix(, 0)
    }},
    {62, "audit", (const unsigned char[]){
#embed "../../../sql/migrations/0062_audit.sql" suffix(, 0)
    }},
    {63, "audited_acts", (const unsigned char[]){
#embed "../../../sql/migrations/0063_audited_acts.sql" suffix(, 0)
    }},
    {64, "staff", (const unsigned char[]){
#embed "../../../sql/migrations/0064_staff.sql" suffix(, 0)
    }},
    {65, "orders", (const unsigned char[]){
#embed "../../../sql/migrations/0065_orders.sql" suffix(, 0)
    }},
    {66, "refund_requests", (const unsigned char[]){
#embed "../../../sql/migrations/0066_refund_requests.sql" suffix(, 0)
    }},
    {67, "console", (const unsigned char[]){
#embed "../../../sql/migrations/0067_console.sql" suffix(, 0)
    }},
    {68, "attempts", (const unsigned char[]){
#embed "../../../sql/migrations/0068_attempts.sql" suffix(, 0)
    }},
    {69, "profiles", (const unsigned char[]){
#embed "../../../sql/migrations/0069_profiles.sql" suffix(, 0)
    }},
    {70, "figures", (const unsigned char[]){
#embed "../../../sql/migrations/0070_figures.sql" suffix(, 0)
    }},
    {71, "changed_attempts", (const unsigned char[]){
#embed "../../../sql/migrations/0071_changed_attempts.sql" suffix(, 0)
    }},
    {72, "closed_months", (const unsigned char[]){
#embed "../../../sql/migrations/0072_closed_months.sql" suffix(, 0)
    }},
    {73, "rates", (const unsigned char[]){
#embed "../../../sql/migrations/0073_rates.sql" suffix(, 0)
    }},
    {74, "recurring", (const unsigned char[]){
#embed "../../../sql/migrations/0074_recurring.sql" suffix(, 0)
    }},
    {75, "trials", (const unsigned char[]){
#embed "../../../sql/migrations/0075_trials.sql" suffix(, 0)
    }},
    {76, "account_counts", (const unsigned char[]){
#embed "../../../sql/migrations/0076_account_counts.sql" suffix(, 0)
    }},
    {77, "attempt_figures", (const unsigned char[]){
#embed "../../../sql/migrations/0077_attempt_figures.sql" suffix(, 0)
    }},
    {78, "commission", (const unsigned char[]){
#embed "../../../sql/migrations/0078_commission.sql" suffix(, 0)
    }},
    {79, "retention", (const unsigned char[]){
#embed "../../../sql/migrations/0079_retention.sql" suffix(, 0)
    }},
    {80, "single_rows", (const unsigned char[]){
#embed "../../../sql/migrations/0080_single_rows.sql" suffix(, 0)
    }},
    {81, "fiscal", (const unsigned char[]){
#embed "../../../sql/migrations/0081_fiscal.sql" suffix(, 0)
    }},
    {82, "closed_figures", (const unsigned char[]){
#embed "../../../sql/migrations/0082_closed_figures.sql" suffix(, 0)
    }},
    {83, "account_days", (const unsigned char[]){
#embed "../../../sql/migrations/0083_account_days.sql" suffix(, 0)
    }},
    {84, "lifetime_value", (const unsigned char[]){
#embed "../../../sql/migrations/0084_lifetime_value.sql" suffix(, 0)
    }},
    {85, "first_payments", (const unsigned char[]){
#embed "../../../sql/migrations/0085_first_payments.sql" suffix(, 0)
    }},
    {86, "figure_marks", (const unsigned char[]){
#embed "../../../sql/migrations/0086_figure_marks.sql" suffix(, 0)
    }},
    {87, "answered_sums", (const unsigned char[]){
#embed "../../../sql/migrations/0087_answered_sums.sql" suffix(, 0)
    }},
    {88, "figure_locks", (const unsigned char[]){
#embed "../../../sql/migrations/0088_figure_locks.sql" suffix(, 0)
    }},
    {89, "due", (const unsigned char[]){
#embed "../../../sql/migrations/0089_due.sql" suffix(, 0)
    }},
    {90, "notes", (const unsigned char[]){
#embed "../../../sql/migrations/0090_notes.sql" suffix(, 0)
    }},
    {91, "expiring", (const unsigned char[]){
#embed "../../../sql/migrations/0091_expiring.sql" suffix(, 0)
    }},
    {92, "overview", (const unsigned char[]){
#embed "../../../sql/migrations/0092_overview.sql" suffix(, 0)
    }},
    {93, "jobs", (const unsigned char[]){
#embed "../../../sql/migrations/0093_jobs.sql" suffix(, 0)
    }},
    {94, "searches", (const unsigned char[]){
#embed "../../../sql/migrations/0094_searches.sql" suffix(, 0)
    }},
    {95, "console_sessions", (const unsigned char[]){
#embed "../../../sql/migrations/0095_console_sessions.sql" suffix(, 0)
    }},
    {96, "endpoint_acts", (const unsigned char[]){
#embed "../../../sql/migrations/0096_endpoint_acts.sql" suffix(, 0)
    }},
    {97, "evidence_reading", (const unsigned char[]){
#embed "../../../sql/migrations/0097_evidence_reading.sql" suffix(, 0)
    }},
    {98, "delivery_attempts", (const unsigned char[]){
#embed "../../../sql/migrations/0098_delivery_attempts.sql" suffix(, 0)
    }},
    {99, "bounded_pages", (const unsigned char[]){
#embed "../../../sql/migrations/0099_bounded_pages.sql" suffix(, 0)
    }},
    {100, "recorded_figures", (const unsigned char[]){
#embed "../../../sql/migrations/0100_recorded_figures.sql" suffix(, 0)
    }},
    {101, "daily_values", (const unsigned char[]){
#embed "../../../sql/migrations/0101_daily_values.sql" suffix(, 0)
    }},
};

int storehook_migration_count(void) { return sizeof migrations / sizeof migrations[0]; }

const struct storehook_migration *_Nonnull storehook_migration_at(int place) { return &migrations[place]; }
