public import Postgres

/// A database of a test's own, empty or a copy of a template.
public struct TestDatabase: Sendable {
    /// Its name.
    public let name: String
    /// A connection string for it, in the form of `STOREHOOK_TEST_DATABASE_URL`.
    public let url: String
    /// The same for this process.
    public let configuration: PostgresConfiguration
}

/// Creates a database, runs `body` with it, and drops it again, whatever becomes of `body` and whoever is still connected.
///
/// The server comes from `STOREHOOK_TEST_DATABASE_URL`, with a user who may create databases.
///
/// - Parameter template: What the database is a copy of; without one it is empty.
public func withTestDatabase<T>(
    from template: TestTemplate? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDatabase) async throws -> T
) async throws -> T {
    let server = try await TestServer.shared()
    let database = try await server.create(from: template)
    do {
        let value = try await body(database)
        try await server.drop(database)
        return value
    } catch {
        // The test's own failure is the one to tell.
        try? await server.drop(database)
        throw error
    }
}
