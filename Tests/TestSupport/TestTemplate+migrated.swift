import Logging
public import Postgres
import Synchronization

extension TestTemplate {
    /// A template that has been migrated, one of a process for the same migrations and script: each test's copy of it is ready in the time that
    /// copying takes.
    ///
    /// - Parameters:
    ///   - migrations: All of them, as the program applies them.
    ///   - script: Trusted SQL to run once after them, for instance to make partitions; part of what is copied.
    public static func migrated(by migrations: [Migration], then script: String = "") -> TestTemplate {
        let plain = script.isEmpty ? nil : migrated(by: migrations)
        return templates.withLock { templates in
            let recipe = Recipe(migrations: migrations, script: script)
            if let made = templates[recipe] { return made }
            let template = TestTemplate(from: plain) { database in
                var logger = Logger(label: "test-template")
                logger.logLevel = .error
                let connection = try await PostgresConnection.connect(to: database.configuration, logger: logger)
                do {
                    if script.isEmpty {
                        _ = try await Migrator(migrations: migrations).migrate(on: connection)
                    } else {
                        try await connection.query(PostgresQuery(unescaped: script, name: "template"))
                    }
                    // PostgreSQL refuses to copy a database that a session is connected to.
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
}

/// What a migrated template is made of.
private struct Recipe: Hashable {
    var migrations: [Migration]
    var script: String
}

private let templates = Mutex<[Recipe: TestTemplate]>([:])
