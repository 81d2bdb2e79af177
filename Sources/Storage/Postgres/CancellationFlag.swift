import Synchronization

/// Whether one operation is to stop: set by the cancellation of the task, read by the connection's thread.
final class CancellationFlag: Sendable {
    private let isRaised = Atomic(false)
    private let pipe: WakePipe

    init(pipe: WakePipe) {
        self.pipe = pipe
    }

    var isSet: Bool { isRaised.load(ordering: .acquiring) }

    func set() {
        isRaised.store(true, ordering: .releasing)
        pipe.poke()
    }
}
