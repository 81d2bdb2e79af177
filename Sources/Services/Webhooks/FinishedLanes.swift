import EvidenceStore
import Synchronization

/// Where finished lanes wait to be settled together, and where the settling task waits for the next.
final class FinishedLanes: Sendable {
    private let results = Mutex<[LaneWork.Result]>([])
    private let stopped = Atomic(false)
    /// Woken when a lane is finished, when there may be more to do, or at the stop. The signal itself is never
    /// stopped: the task that waits for calls under way goes on waiting.
    let signal = WorkSignal()

    /// Whether no further call is to be begun.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Forbids further calls.
    func stop() {
        stopped.store(true, ordering: .releasing)
        signal.wake()
    }

    func add(_ result: LaneWork.Result) {
        results.withLock { $0.append(result) }
        signal.wake()
    }

    /// Takes all results so far.
    func take() -> [LaneWork.Result] {
        results.withLock { results in
            defer { results = [] }
            return results
        }
    }
}
