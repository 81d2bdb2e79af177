public import Postgres

/// Like ``withTestDatabase(from:isolation:_:)``, with a database that migrations have been applied to: once in a process
/// for the same migrations, and copied for each test from then on.
///
/// - Parameters:
///   - migrations: All of them, as the program applies them.
///   - script: Trusted SQL to run once after them, for instance to make partitions; part of what is copied.
public func withMigratedDatabase<T>(
    _ migrations: [Migration],
    then script: String = "",
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDatabase) async throws -> T
) async throws -> T {
    try await withTestDatabase(from: TestTemplate.migrated(by: migrations, then: script), body)
}
