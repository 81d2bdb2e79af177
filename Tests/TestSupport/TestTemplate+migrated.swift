import Logging
public import Postgres

extension TestTemplate {
    /// A template that has been migrated: each test's copy of it is ready in the time that copying takes.
    public static func migrated(by migrations: [Migration]) -> TestTemplate {
        TestTemplate { database in
            var logger = Logger(label: "test-template")
            logger.logLevel = .error
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: logger)
            _ = try await Migrator(migrations: migrations).migrate(on: connection)
            // PostgreSQL refuses to copy a database that somebody is connected to.
            await connection.close()
        }
    }
}
