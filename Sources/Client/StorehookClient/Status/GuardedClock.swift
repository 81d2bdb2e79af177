import Foundation

/// The time by which access is decided: one that gains nothing from a clock that is set back.
///
/// Until the server has stated the time in this process, it is the wall clock's, but never earlier than the highest time seen before plus
/// what has passed since. That highest time outlives the process in the cache. What the server states counts from then on, earlier or
/// later than before: the wall clock is not asked any more in this process.
struct GuardedClock: Sendable {
    private let clock: any ClientClock
    private var time: Date
    private var uptime: TimeInterval
    private var isAnchored = false

    init(_ clock: any ClientClock) {
        self.clock = clock
        (time, uptime) = (clock.wall, clock.uptime)
    }

    /// Now.
    var now: Date {
        let passed = time + max(0, clock.uptime - uptime)
        return isAnchored ? passed : max(clock.wall, passed)
    }

    /// Takes note of now, so that a clock that is set back later gains nothing.
    mutating func notice() { (time, uptime) = (now, clock.uptime) }

    /// Takes over the highest time of an earlier process.
    mutating func raise(to highest: Date) {
        guard !isAnchored, highest > now else { return }
        (time, uptime) = (highest, clock.uptime)
    }

    /// Takes over the server's time.
    /// - Parameter date: when it answered, by its clock.
    mutating func anchor(at date: Date) { (time, uptime, isAnchored) = (date, clock.uptime, true) }
}
