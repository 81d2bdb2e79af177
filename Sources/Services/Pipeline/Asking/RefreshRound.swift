import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base

/// Asks about several purchases of one app, some now: what Apple answers about one is about all of the same customer's, so that those
/// need no question of their own.
struct RefreshRound: Sendable {
    /// What came of it.
    struct Outcome: Sendable {
        /// What Apple gave, a customer each.
        var refreshes: [PurchaseRefresh.Report] = []
        /// The purchases that Apple knows nothing of, and never will.
        var unknown: [String] = []
        /// Those that were not asked about: too many for one round, or there is trouble.
        var open: [String] = []
        /// Why not, where it is not their number.
        var trouble: (any Error)?
    }

    private let refresh: PurchaseRefresh
    private let deadline: ContinuousClock.Instant?

    /// - Parameter deadline: when whoever waits is told that there is no answer; nil: there is time.
    init(_ refresh: PurchaseRefresh, until deadline: ContinuousClock.Instant? = nil) {
        self.refresh = refresh
        self.deadline = deadline
    }

    /// Asks.
    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    ///   - questions: how many at the most.
    /// - Throws: what is not about Apple's answers: `PostgresError`, `CancellationError`.
    func ask(about ids: [String], in environment: Environment?, atMost questions: Int) async throws -> Outcome {
        var outcome = Outcome(open: ids)
        var asked = 0
        while let id = outcome.open.first, asked < questions {
            asked += 1
            do {
                let asked = try await withDeadline(deadline) { try await refresh.run(id, in: environment) }
                guard let answer = asked else { throw AnswerTrouble.late }
                outcome.refreshes.append(answer)
                outcome.open.removeAll { $0 == id || answer.purchases.contains($0) }
            } catch let failure as AppStoreFailure where failure.isLastWord {
                outcome.unknown.append(id)
                outcome.open.removeFirst()
            } catch  where AnswerTrouble.isTrouble(error) {
                outcome.trouble = error
                return outcome
            }
        }
        return outcome
    }
}

extension AnswerTrouble {
    /// Whether an error is about Apple's answer, or that there is none.
    static func isTrouble(_ error: any Error) -> Bool { error is AppStoreFailure || error is AnswerTrouble }

    /// Such an error's code and message, in one line.
    static func line(_ error: any Error) -> String {
        (error as? AnswerTrouble).map { "\($0.rawValue): \($0)" } ?? "\(error)"
    }
}

extension AppStoreFailure {
    /// Whether Apple itself says no more about a purchase: whoever asks again later will be told the same. Anything else says nothing
    /// of the purchase: a key that is not accepted is mended by somebody, and so is what stands between here and Apple.
    fileprivate var isLastWord: Bool {
        // Apple's codes begin with their status; those of 401 are about the key.
        guard case .apple(let code) = reason, code.rawValue / 10_000 != 401 else { return false }
        return !isTransient
    }
}
