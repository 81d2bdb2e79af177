import Base
import Operations
import Postgres
import Synchronization

/// A secret that is shown once: shown first, and made current only then.
///
/// The answer is written while the transaction that records the secret is still open. Where it cannot be written (a full disk, a closed
/// pipe), the transaction is rolled back and everything is as it was before. If the transaction fails after that, standard error says
/// that the printed secret does not count.
struct NewSecret {
    /// What it is called: "secret", "key".
    let name: String
    /// Where it is shown.
    let output: Output
    /// What to do where it is not known whether the secret was recorded.
    let advice: String

    private final class Sight: Sendable {
        let isShown = Mutex(false)
    }

    /// Shows and records it.
    /// - Parameters:
    ///   - make: records it in a transaction, and calls `show` before the commit.
    ///   - isCurrent: whether it is recorded, asked after a connection was lost during the commit.
    /// - Throws: `CommandFailure`, and what `make` throws before anything is shown.
    func make(
        _ settings: Settings,
        by make: (PostgresPool, _ show: @escaping @Sendable (CommandAnswer) throws -> Void) async throws -> Void,
        isCurrent: (PostgresPool) async throws -> Bool
    ) async throws {
        let (sight, output) = (Sight(), output)
        do {
            try await Database.with(settings) { pool in
                try await make(pool) { answer in
                    try StandardOutput.show(output.text(of: answer))
                    sight.isShown.withLock { $0 = true }
                }
            }
        } catch let loss as OutputLoss {
            throw CommandFailure(
                "the new \(name) could not be shown, so it does not count and nothing is changed: \(loss)")
        } catch  where sight.isShown.withLock(\.self) {
            guard (error as? PostgresError)?.mayHaveCommitted == true else {
                throw CommandFailure(
                    "the \(name) that was printed is not valid, since it could not be recorded: \(error)")
            }
            if (try? await Database.with(settings, isCurrent)) == true { return }
            throw CommandFailure(
                "it is not known whether the \(name) that was printed is valid, since the database went away in the middle: "
                    + "\(error); \(advice)")
        }
    }
}
