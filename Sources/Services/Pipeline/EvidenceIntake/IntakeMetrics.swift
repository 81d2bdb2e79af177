import AppStoreVerification
import Metrics
import PurchaseStore
import Subscriptions

/// What is counted of what is handed in.
///
/// Apart from `storehook_processed_total`, which counts what workers settle: what is handed in never is in the queue.
/// Every series is made here, at 0: their number does not depend on what is handed in.
final class IntakeMetrics: Sendable {
    private enum Outcome: String, CaseIterable {
        case applied, duplicate, refused, undecided

        init(_ answer: IntakeAnswer) {
            switch answer {
            case .taken(let evidence): self = evidence.outcome == .duplicate ? .duplicate : .applied
            case .refused: self = .refused
            case .undecided: self = .undecided
            }
        }
    }

    /// The kinds that apps hand in, without those that Apple answers.
    private static let kinds: [HandedIn.Kind] = [.transaction, .renewal, .appTransaction, .receipt]

    private let handedIn: [HandedIn.Kind: [Outcome: Counter]]
    private let refusals: [VerificationCode: Counter]
    private let duration: Recorder

    init(_ factory: any MetricsFactory) {
        handedIn = Dictionary(
            uniqueKeysWithValues: Self.kinds.map { kind in
                let counters = Outcome.allCases.map { outcome in
                    let dimensions = [("type", kind.rawValue), ("outcome", outcome.rawValue)]
                    return (
                        outcome,
                        Counter(label: "storehook_handed_in_total", dimensions: dimensions, factory: factory)
                    )
                }
                return (kind, Dictionary(uniqueKeysWithValues: counters))
            })
        refusals = Dictionary(
            uniqueKeysWithValues: VerificationCode.allCases.map { code in
                let dimensions = [("reason", code.rawValue)]
                return (
                    code,
                    Counter(label: "storehook_handed_in_refused_total", dimensions: dimensions, factory: factory)
                )
            })
        duration = Recorder(
            label: "storehook_handed_in_seconds", dimensions: [], aggregate: true, factory: factory)
    }

    /// One call was answered, in so long.
    func answered(_ records: [HandedIn], _ answers: [IntakeAnswer], in time: Duration) {
        duration.record(time / .seconds(1))
        for (record, answer) in zip(records, answers) where record.source == .client {
            handedIn[record.kind]?[Outcome(answer)]?.increment()
            if case .refused(let code, _) = answer { refusals[code]?.increment() }
        }
    }
}
