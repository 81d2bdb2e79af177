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
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
