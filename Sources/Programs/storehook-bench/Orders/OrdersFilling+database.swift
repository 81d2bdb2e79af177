import ArgumentParser
import Foundation
import Logging
import Postgres

extension OrdersFilling {
    /// Runs `body` with a database that is filled, and with its URL.
    /// - Parameter isKept: whether it is that of `DATABASE_URL`, which is filled where it is empty and left then; else one is made and dropped.
    func filled(
        isKept: Bool, _ body: @escaping @Sendable (_ pool: PostgresPool, _ url: String) async throws -> Void
    ) async throws {
        guard isKept else {
            return try await BenchDatabase.with { database in
                try await fill(database.pool)
                try await body(database.pool, database.url)
            }
        }
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            throw ValidationError("DATABASE_URL must name a database")
        }
        let logger = Logger(label: "storehook-bench") { _ in SwiftLogNoOpLogHandler() }
        let pool = PostgresPool(configuration: try PostgresConfiguration(url: url), size: 2, logger: logger)
        try await fill(pool)
        try await body(pool, url)
        await pool.close()
    }

    private func fill(_ pool: PostgresPool) async throws {
        guard try await pool.query("select 1 from storehook.booked_orders limit 1").isEmpty else { return }
        let start = ContinuousClock.now
        try await pool.withTransaction(TransactionOptions(name: "bench.fill")) { session in
            // Workers sum each day of a database without figures: marks of each are for none.
            try session.executeScript(FigureTriggers.script("disable"))
            try session.executeScript(script, deadline: .seconds(7200))
            try session.executeScript(FigureTriggers.script("enable"))
        }
        try await pool.query("vacuum (analyze)", deadline: .seconds(3600))
        StandardError.line("filled in \(Int((ContinuousClock.now - start) / .seconds(1))) s")
    }
}
