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

/// Runs `body` with a database of its own, which is dropped soon afterwards, whatever becomes of `body` and whichever sessions are connected.
///
/// The server comes from `STOREHOOK_TEST_DATABASE_URL`, with a user who may create databases.
///
/// - Parameter template: What the database is a copy of; without one it is empty.
public func withTestDatabase<T>(
    from template: TestTemplate? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDatabase) async throws -> T
) async throws -> T {
    let supply = try await TestServer.supply()
    let database = try await supply.take(template)
    do {
        let value = try await body(database)
        await supply.leave(database)
        return value
    } catch {
        await supply.leave(database)
        throw error
    }
}
