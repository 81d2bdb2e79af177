import AppStorePayloads
import Synchronization

/// A ``RateSchedule`` that all clients of a process share.
public final class RateBudget: Sendable {
    private let schedule: Mutex<RateSchedule>

    /// - Parameter share: of Apple's limits, above 0 up to 1; half unless told.
    public init(share: Double = 0.5) { schedule = Mutex(RateSchedule(share: share)) }

    func takeTurn(_ key: RateSchedule.Key, _ priority: RateSchedule.Priority, at now: Timestamp) -> Timestamp {
        schedule.withLock { $0.takeTurn(key, priority, at: now) }
    }

    func block(_ key: RateSchedule.Key, until instant: Timestamp) {
        schedule.withLock { $0.block(key, until: instant) }
    }

    func isBlocked(_ key: RateSchedule.Key, at now: Timestamp) -> Timestamp? {
        schedule.withLock { $0.isBlocked(key, at: now) }
    }
}
