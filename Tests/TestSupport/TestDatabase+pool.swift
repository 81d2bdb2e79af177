public import Postgres

extension TestDatabase {
    /// Runs `body` with connections to it, which are closed then.
    public func withPool<T>(
        _ size: Int, isolation: isolated (any Actor)? = #isolation, _ body: (PostgresPool) async throws -> T
    ) async throws -> T {
        let pool = PostgresPool(configuration: configuration, size: size, logger: quiet)
        do {
            let value = try await body(pool)
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}
