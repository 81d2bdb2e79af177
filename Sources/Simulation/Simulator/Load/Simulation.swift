/// A stream of notifications for load: many simulated lives, interleaved in time, with Apple's repeats and disorder.
///
/// A value: the same options give the same unsigned notifications, every time it is walked. Signatures differ from walk to walk.
/// Making one costs a dry run over all notifications, some microseconds each, to find out when the stream has to begin so that
/// it ends near `now`. Walking it holds about 5 kB for each subscriber whose life has begun.
public struct Simulation: Sendable {
    /// The order in which notifications are delivered.
    public enum Order: Sendable, Hashable {
        /// By outer signed date.
        case signed
        /// Each notification up to about this many places from where it belongs; that many are held in memory, unsigned.
        case shuffledWithin(Int)
        /// Wholly shuffled: all are held in memory, unsigned, about 2 kB each.
        case shuffled
    }

    /// What decides everything that is left to chance.
    public let seed: UInt64
    /// How many customers there are. Those whose first purchase lies after the end of the stream do not appear in it.
    public let subscribers: Int
    /// How many deliveries there are in all, repeats included.
    public let notifications: Int
    /// How many of the deliveries repeat an earlier one: exactly this share of `notifications`, rounded down.
    public let duplicates: Int
    /// In which order they come.
    public let order: Order
    /// The app that everything is bought in.
    public let app: SimulatedApp
    /// How many times faster than in life periods pass. 1 unless the notifications of so few subscribers would take more than two
    /// years; then, as in Apple's Sandbox, months become shorter.
    public let pace: Int64

    /// How many deliveries are first ones.
    public var unique: Int { notifications - duplicates }

    /// When the first life begins.
    let origin: Milliseconds

    /// A stream that ends near `now`.
    ///
    /// - Parameters:
    ///   - subscribers: at least 1; by default a tenth of the notifications.
    ///   - notifications: deliveries in all, repeats included.
    ///   - duplicatePercent: 0 to 99, the share of repeats among them.
    ///   - now: the outer signed date of the last notification, to the second.
    public init(
        seed: UInt64,
        subscribers: Int? = nil,
        notifications: Int,
        duplicatePercent: Int = 0,
        order: Order = .signed,
        app: SimulatedApp = .example,
        endingAt now: Milliseconds
    ) {
        self.seed = seed
        self.notifications = max(0, notifications)
        self.subscribers = max(1, subscribers ?? notifications / 10)
        duplicates = self.notifications * min(99, max(0, duplicatePercent)) / 100
        self.order = order
        self.app = app
        (pace, origin) = Self.fit(
            seed: seed, subscribers: self.subscribers, count: self.notifications - duplicates, app: app, now: now)
    }

    /// The deliveries, unsigned, lazily.
    public var deliveries: Deliveries { Deliveries(self) }

    /// What walking ``deliveries`` to the end will have given. Costs a walk.
    public var summary: SimulationSummary {
        var walk = deliveries.makeIterator()
        while walk.next() != nil {}
        return walk.summary
    }

    /// Finds the pace at which the stream takes at most two years, and the instant at which it must begin to end at `now`.
    private static func fit(
        seed: UInt64, subscribers: Int, count: Int, app: SimulatedApp, now: Milliseconds
    ) -> (pace: Int64, origin: Milliseconds) {
        let longest: Milliseconds = .days(730)
        var pace: Int64 = 1
        while true {
            var lives = InterleavedLives(seed: seed, subscribers: subscribers, app: app, pace: pace, origin: 0)
            var produced = 0
            var last: Milliseconds = 0
            // A stream that is too long for this pace need not be walked to its end to know that.
            while produced < count, last <= longest {
                last = lives.next().signedDate
                produced += 1
            }
            if last <= longest || pace >= 8640 { return (pace, (now - last).wholeSeconds) }
            let share = max(1, Int64(count / max(1, produced)))
            pace = min(8640, max(pace + 1, pace * (share + 1)))
        }
    }
}
