import Postgres

extension BenchDatabase {
    /// Copies the database as it is, and drops the copy after `body` if it is still there.
    /// - Parameter body: is given the copy's name.
    func copied<T>(_ body: (String) async throws -> T) async throws -> T {
        let copy = "\(name)_backup"
        // A database that is copied may have no visitors.
        try await patiently("a copy of the database", within: .seconds(30)) {
            try await disconnect()
            try await administer("create database \(copy) template \(name)")
            return true
        }
        do {
            let result = try await body(copy)
            try await administer("drop database if exists \(copy) with (force)")
            return result
        } catch {
            try? await administer("drop database if exists \(copy) with (force)")
            throw error
        }
    }

    /// Replaces the database by a copy while programs use it.
    func restore(_ copy: String) async throws {
        try await administer("drop database \(name) with (force)")
        try await administer("alter database \(copy) rename to \(name)")
    }

    private func disconnect() async throws {
        try await administer(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '\(name)'")
    }
}
