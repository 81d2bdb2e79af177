import CEmbedded
public import Postgres

/// storehook's schema in PostgreSQL: the migrations that make it, embedded into the binary.
public enum Schema {
    /// Every migration, in order. A test holds the list against the files in `sql/migrations`.
    public static let migrations: [Migration] = (0..<storehook_migration_count()).map { place in
        let migration = storehook_migration_at(place).pointee
        return Migration(
            version: Int(migration.version), name: String(cString: migration.name), sql: String(cString: migration.sql))
    }

    /// The oldest version of the schema that this program works with: what stands in the migrations after it, no statement
    /// of the program's may rely upon. Up to which newer version it goes on working, the newer migrations say.
    public static let oldestFitting = migrations.last?.version ?? 1
}
