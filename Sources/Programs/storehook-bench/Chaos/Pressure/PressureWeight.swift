import Foundation
import Logging
import Postgres
import Synchronization

/// Transactions that stay open until they are lifted.
final class PressureWeight: Sendable {
    private let isHeld = Atomic(true)
    private let transactions = Mutex<[Task<Void, any Error>]>([])

    /// Begins a transaction that sees one state of the data, and runs `body` in it, on a thread of its own.
    func hold(
        _ database: BenchDatabase,
        _ body: @escaping @Sendable (borrowing PostgresSession, () -> Bool) throws -> Void
    ) async throws {
        let logger = Logger(label: "pressure") { _ in SwiftLogNoOpLogHandler() }
        let connection = try await PostgresConnection.connect(
            to: PostgresConfiguration(url: database.url), logger: logger)
        let transaction = Task { [self] in
            defer { Task { await connection.close() } }
            try await connection.withTransaction(TransactionOptions(isolation: .repeatableRead)) { session in
                try body(session) { isHeld.load(ordering: .acquiring) }
            }
        }
        transactions.withLock { $0.append(transaction) }
    }

    /// Ends them; fails if one of them had not lasted, so that nothing is measured without the weight.
    func lift() async throws {
        isHeld.store(false, ordering: .releasing)
        for transaction in transactions.withLock({ $0 }) { try await transaction.value }
    }
}
