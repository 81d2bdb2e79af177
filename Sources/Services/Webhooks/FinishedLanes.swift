import EvidenceStore
import Synchronization

/// Where lanes that are done with wait to be settled together, and who settles them waits for the next.
final class FinishedLanes: Sendable {
    private let results = Mutex<[LaneWork.Result]>([])
    private let stopped = Atomic(false)
    /// That a lane is done with, that there may be more to do, or that it is time to stop. It is never stopped itself: who waits for
    /// calls that are under way goes on waiting.
    let signal = WorkSignal()

    /// Whether nothing further is to be begun.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Says that nothing further is to be begun.
    func stop() {
        stopped.store(true, ordering: .releasing)
        signal.wake()
    }

    func add(_ result: LaneWork.Result) {
        results.withLock { $0.append(result) }
        signal.wake()
    }

    /// All that are done with by now.
    func take() -> [LaneWork.Result] {
        results.withLock { results in
            defer { results = [] }
            return results
        }
    }
}
