import Postgres

extension BenchDatabase {
    /// Has a setting of the whole server another value while `body` lasts. Only for a server that is the run's own.
    func whileServer(_ setting: String, is value: String, _ body: () async throws -> Void) async throws {
        try await pool.query("alter system set \(unescaped: setting) = '\(unescaped: value)'")
        do {
            try await reload()
            try await body()
        } catch {
            try? await reset(setting)
            throw error
        }
        try await reset(setting)
    }

    private func reset(_ setting: String) async throws {
        try await pool.query("alter system reset \(unescaped: setting)")
        try await reload()
    }

    private func reload() async throws { try await pool.query("select pg_reload_conf()") }
}
