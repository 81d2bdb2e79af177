import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base

extension PurchaseRefresh {
    /// What came of asking about several purchases.
    struct Outcome: Sendable {
        /// What Apple gave, a customer each.
        var refreshes: [PurchaseRefresh.Report] = []
        /// The purchases that Apple knows nothing of, and never will.
        var unknown: [String] = []
        /// Those that were not asked about: too many, or an answer could not be used.
        var open: [String] = []
        /// Why an answer could not be used.
        var trouble: (any Error)?
    }

    /// Asks about several purchases of one app. Apple's answer about one is about all of the same customer's: those need no question of
    /// their own.
    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    ///   - questions: how many at the most.
    ///   - deadline: when no answer is waited for any longer; nil: there is time.
    /// - Throws: what is not about Apple's answers: `PostgresError`, `CancellationError`.
    func run(
        about ids: [String], in environment: Environment?, atMost questions: Int,
        until deadline: ContinuousClock.Instant? = nil
    ) async throws -> Outcome {
        var outcome = Outcome(open: ids)
        var asked = 0
        while let id = outcome.open.first, asked < questions {
            asked += 1
            do {
                guard let answer = try await withDeadline(deadline, { try await run(id, in: environment) }) else {
                    throw UnusableAnswer.late
                }
                outcome.refreshes.append(answer)
                outcome.open.removeAll { $0 == id || answer.purchases.contains($0) }
            } catch let failure as AppStoreFailure where failure.isFinal {
                outcome.unknown.append(id)
                outcome.open.removeFirst()
            } catch  where UnusableAnswer.isReason(for: error) {
                outcome.trouble = error
                return outcome
            }
        }
        return outcome
    }
}

extension AppStoreFailure {
    /// Whether Apple will say the same of the purchase whenever it is asked. Every other failure is not about the purchase: an operator
    /// mends a key that is not accepted, and so what stands between here and Apple.
    fileprivate var isFinal: Bool {
        // Apple's codes begin with their status; those of 401 are about the key.
        guard case .apple(let code) = reason, code.rawValue / 10_000 != 401 else { return false }
        return !isTransient
    }
}
