import AppStorePayloads
import Base
import Synchronization

/// A ``RateSchedule`` that all clients of a process share.
public final class RateBudget: Sendable {
    private let schedule: Mutex<RateSchedule>
    private let whole: Double

    /// - Parameter share: of Apple's limits, above 0 up to 1, for all processes that ask about the same apps; by default half.
    public init(share: Double = 0.5) {
        whole = share
        schedule = Mutex(RateSchedule(share: share))
    }

    /// What this process may use of Apple's limits.
    public var share: Double { schedule.withLock(\.share) }

    /// Leaves room for other processes: each of so many, this one included, has an equal part of the share.
    public func divide(among processes: Int) {
        let part = whole / Double(max(1, processes))
        schedule.withLock { $0.share = part }
    }

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
