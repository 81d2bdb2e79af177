public import Postgres

/// storehook's schema in PostgreSQL: the migrations that make it, embedded into the binary.
public enum Schema {
    /// Every migration, in order. A test holds the list against the files in `sql/migrations`.
    public static let migrations: [Migration] = [
        Migration(version: 1, name: "outbox", sql: text(PackageResources._001_outbox_sql)),
        Migration(version: 2, name: "facts", sql: text(PackageResources._002_facts_sql)),
        Migration(version: 3, name: "state", sql: text(PackageResources._003_state_sql)),
        Migration(version: 4, name: "views", sql: text(PackageResources._004_views_sql)),
        Migration(version: 5, name: "packing", sql: text(PackageResources._005_packing_sql)),
        Migration(version: 6, name: "retention", sql: text(PackageResources._006_retention_sql)),
        Migration(version: 7, name: "bodies", sql: text(PackageResources._007_bodies_sql)),
        Migration(version: 8, name: "purchase_facts", sql: text(PackageResources._008_purchase_facts_sql)),
        Migration(version: 9, name: "reads", sql: text(PackageResources._009_reads_sql)),
        Migration(version: 10, name: "conservation", sql: text(PackageResources._010_conservation_sql)),
        Migration(version: 11, name: "waiting", sql: text(PackageResources._011_waiting_sql)),
        Migration(version: 12, name: "accounted", sql: text(PackageResources._012_accounted_sql)),
        Migration(version: 13, name: "senders", sql: text(PackageResources._013_senders_sql)),
        Migration(version: 14, name: "upkeep_locks", sql: text(PackageResources._014_upkeep_locks_sql)),
        Migration(version: 15, name: "evidence", sql: text(PackageResources._015_evidence_sql)),
        Migration(version: 16, name: "served", sql: text(PackageResources._016_served_sql)),
        Migration(version: 17, name: "history", sql: text(PackageResources._017_history_sql)),
        Migration(version: 18, name: "canary", sql: text(PackageResources._018_canary_sql)),
        Migration(version: 19, name: "storing", sql: text(PackageResources._019_storing_sql)),
        Migration(version: 20, name: "extensions", sql: text(PackageResources._020_extensions_sql)),
        Migration(version: 21, name: "consumption", sql: text(PackageResources._021_consumption_sql)),
        Migration(version: 22, name: "accounts", sql: text(PackageResources._022_accounts_sql)),
        Migration(version: 23, name: "usage", sql: text(PackageResources._023_usage_sql)),
        Migration(version: 24, name: "server_keys", sql: text(PackageResources._024_server_keys_sql)),
        Migration(version: 25, name: "unsigned", sql: text(PackageResources._025_unsigned_sql)),
        Migration(version: 26, name: "expiring_soon", sql: text(PackageResources._026_expiring_soon_sql)),
        Migration(version: 27, name: "removed_purchases", sql: text(PackageResources._027_removed_purchases_sql)),
        Migration(version: 28, name: "receipts", sql: text(PackageResources._028_receipts_sql)),
        Migration(version: 29, name: "events", sql: text(PackageResources._029_events_sql)),
        Migration(version: 30, name: "telling", sql: text(PackageResources._030_telling_sql)),
        Migration(version: 31, name: "endpoints", sql: text(PackageResources._031_endpoints_sql)),
        Migration(version: 32, name: "events_at_size", sql: text(PackageResources._032_events_at_size_sql)),
        Migration(version: 33, name: "refusals", sql: text(PackageResources._033_refusals_sql)),
        Migration(version: 34, name: "event_places", sql: text(PackageResources._034_event_places_sql)),
    ]

    /// The oldest version of the schema that this program works with: what stands in the migrations after it, no statement
    /// of the program's may rely upon. Up to which newer version it goes on working, the newer migrations say.
    public static let oldestFitting = migrations.last?.version ?? 1

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
