import Synchronization

/// A request to the server to stop a connection's statement, under way on a thread of its own: libpq's PQcancel blocks
/// while it connects and has no deadline.
///
/// The thread ends at the latest when the kernel gives up (`tcp_user_timeout`), unless a server accepts the connection
/// and then hangs. So that such a server cannot pile up threads here, their number is bounded; a request beyond it is
/// not made, and the statement's connection is closed after the grace period.
final class CancelRequest: Sendable {
    private static let underWay = Atomic(0)
    private static let limit = 16

    private let finished = Atomic(false)

    /// Starts the request; nil if there are too many already or the system has no thread. `wake` is poked at the end.
    init?(canceller: LibPQCanceller, wake: WakePipe) {
        let count = Self.underWay.add(1, ordering: .relaxed).newValue
        guard count <= Self.limit else {
            Self.underWay.subtract(1, ordering: .relaxed)
            return nil
        }
        let started = startPthread { [self] in
            // A refusal needs no handling: if the statement goes on, the grace period ends it.
            _ = canceller.cancel()
            Self.underWay.subtract(1, ordering: .relaxed)
            finished.store(true, ordering: .releasing)
            wake.poke()
        }
        guard started else {
            Self.underWay.subtract(1, ordering: .relaxed)
            return nil
        }
    }

    /// Whether the request has been delivered or has failed.
    var isFinished: Bool { finished.load(ordering: .acquiring) }
}
