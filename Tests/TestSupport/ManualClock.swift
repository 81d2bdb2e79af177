import Synchronization

/// A wall clock that stands still until a test moves it.
public final class ManualClock: Sendable {
    private let milliseconds: Mutex<Int64>

    /// A clock that shows `millisecondsSince1970`; without one, 2026-01-01 00:00:00 UTC.
    public init(millisecondsSince1970: Int64 = 1_767_225_600_000) {
        milliseconds = Mutex(millisecondsSince1970)
    }

    /// What it shows, in milliseconds since 1970.
    public var millisecondsSince1970: Int64 {
        milliseconds.withLock { $0 }
    }

    /// Puts it to an instant, also back.
    public func set(millisecondsSince1970 instant: Int64) {
        milliseconds.withLock { $0 = instant }
    }

    /// Moves it by the whole milliseconds of a duration; a negative one moves it back.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        milliseconds.withLock { $0 += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
    }
}
