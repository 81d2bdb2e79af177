import Logging
public import Postgres
import Synchronization

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
    try await withTestDatabase(from: migratedTemplate(Recipe(migrations: migrations, script: script)), body)
}

/// What a migrated template is made of.
private struct Recipe: Hashable {
    var migrations: [Migration]
    var script: String
}

private let templates = Mutex<[Recipe: TestTemplate]>([:])

private func migratedTemplate(_ recipe: Recipe) -> TestTemplate {
    templates.withLock { templates in
        if let made = templates[recipe] { return made }
        let template = TestTemplate { database in
            var logger = Logger(label: "test-template")
            logger.logLevel = .error
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: logger)
            do {
                _ = try await Migrator(migrations: recipe.migrations).migrate(on: connection)
                if !recipe.script.isEmpty {
                    try await connection.query(PostgresQuery(unescaped: recipe.script, name: "template"))
                }
                await connection.close()
            } catch {
                await connection.close()
                throw error
            }
        }
        templates[recipe] = template
        return template
    }
}
