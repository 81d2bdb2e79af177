import AppStorePayloads
import AppStoreServerAPI
import Base
import Synchronization

/// A clock that stands still until a caller waits, and then jumps to the instant that the caller waits for.
final class JumpingClock: AppStoreClock {
    private let instant: Mutex<Timestamp>
    private let waits = Mutex<[Timestamp]>([])

    init(_ start: Timestamp = Timestamp(millisecondsSince1970: 1_769_904_000_000)) { instant = Mutex(start) }

    /// Every instant that was waited for.
    var waited: [Timestamp] { waits.withLock { $0 } }

    func now() -> Timestamp { instant.withLock { $0 } }

    func wait(until instant: Timestamp) async throws {
        try Task.checkCancellation()
        waits.withLock { $0.append(instant) }
        self.instant.withLock { $0 = max($0, instant) }
    }

    func advance(milliseconds: Int64) { instant.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
}
