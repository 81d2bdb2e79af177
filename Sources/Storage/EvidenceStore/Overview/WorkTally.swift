package import Base
import Synchronization

/// What a worker has done since it last added that to the overview. It is kept in memory: counting costs a batch one lock.
package final class WorkTally: Sendable {
    /// How long pieces of evidence took.
    package struct Delay: Sendable, Hashable {
        /// How many there were.
        package private(set) var count: Int64 = 0
        /// In all, in milliseconds.
        package private(set) var milliseconds: Int64 = 0
        /// The longest, in milliseconds.
        package private(set) var longest: Int64 = 0

        /// None.
        package init() {}

        /// Adds one; two clocks are compared, and a negative delay counts as 0.
        package mutating func add(from start: Timestamp, to end: Timestamp) {
            let delay = min(max(0, end.milliseconds(since: start)), Self.most)
            count += 1
            milliseconds += delay
            longest = max(longest, delay)
        }

        /// Adds others.
        package mutating func add(_ other: Delay) {
            count += other.count
            milliseconds += other.milliseconds
            longest = max(longest, other.longest)
        }

        /// A delay counts as a year at most: what Apple signed names its date itself, and sums must not overflow.
        private static let most: Int64 = 366 * 86_400_000
    }

    /// What was done.
    package struct Count: Sendable, Hashable {
        /// Evidence that was applied or parked.
        package var recorded: Int64 = 0
        /// Evidence that was known already.
        package var duplicates: Int64 = 0
        /// Evidence that became dead letters.
        package var buried: Int64 = 0
        /// From Apple's signature to the receipt, of what Apple posted.
        package var apple = Delay()
        /// From the receipt to the commit that applied it.
        package var own = Delay()

        /// Nothing.
        package init() {}

        /// Whether it is nothing.
        package var isEmpty: Bool { self == Count() }

        fileprivate mutating func add(_ other: Count) {
            recorded += other.recorded
            duplicates += other.duplicates
            buried += other.buried
            apple.add(other.apple)
            own.add(other.own)
        }
    }

    private let count = Mutex(Count())

    /// Nothing done yet.
    package init() {}

    /// Adds what was done.
    package func add(_ more: Count) { count.withLock { $0.add(more) } }

    /// Takes what was done; it counts anew from 0.
    package func take() -> Count {
        count.withLock { count in
            defer { count = Count() }
            return count
        }
    }
}
