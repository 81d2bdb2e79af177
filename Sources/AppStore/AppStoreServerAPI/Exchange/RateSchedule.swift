import AppStorePayloads
public import Base

/// When the next request of a kind may be sent: a share of what Apple allows the app, so that others with its key have room.
///
/// A virtual clock for each app, environment and call (the generic cell rate algorithm): each request takes a turn, turns are a
/// request's time apart, and what was not used for a while may be used at once. A pure value; instants are handed in.
public struct RateSchedule: Sendable {
    /// Whether a caller waits for the answer.
    public enum Priority: Sendable, Hashable {
        /// A person or a caller waits: it may use turns that were left over.
        case interactive
        /// No caller waits: requests are spread evenly, and unused turns are left to others.
        case background
    }

    /// What Apple counts together.
    public struct Key: Sendable, Hashable {
        /// The app.
        public var bundleId: String
        /// The environment.
        public var environment: Environment
        /// The call.
        public var endpoint: AppleEndpoint

        /// Creates a key of its parts.
        public init(bundleId: String, environment: Environment, endpoint: AppleEndpoint) {
            self.bundleId = bundleId
            self.environment = environment
            self.endpoint = endpoint
        }
    }

    private struct Line: Sendable {
        /// When the next turn is due, in microseconds since 1970.
        var due: Int64
        var blockedUntil: Timestamp?
    }

    /// The share of Apple's limit that is used here, above 0 up to 1; for turns that are taken from now on.
    public var share: Double {
        didSet { share = Self.valid(share) }
    }
    private var lines: [Key: Line] = [:]

    /// How many requests may go at once after a pause, or a second's worth if that is more. Apple counts by the hour.
    private static let burst = 10.0

    /// - Parameter share: of Apple's limit, above 0 up to 1; by default half.
    public init(share: Double = 0.5) { self.share = Self.valid(share) }

    private static func valid(_ share: Double) -> Double { min(1, max(0.01, share)) }

    /// Takes the next turn, and says when it is: at once, or later.
    public mutating func takeTurn(_ key: Key, _ priority: Priority, at now: Timestamp) -> Timestamp {
        let instant = Self.microseconds(now)
        let rate = key.endpoint.ratePerSecond(in: key.environment) * share
        let interval = Int64(1_000_000 / rate)
        let reserve = priority == .interactive ? Int64(max(1_000_000, Double(interval) * (Self.burst - 1))) : 0
        var line = lines[key] ?? Line(due: instant - reserve)
        if let blocked = line.blockedUntil, blocked > now {
            line.due = max(line.due, Self.microseconds(blocked) + reserve)
        }
        let due = max(line.due, instant)
        let turn = max(instant, due - reserve)
        line.due = due + interval
        lines[key] = line
        if lines.count > 4096 {
            lines = lines.filter { $0.value.due > instant || ($0.value.blockedUntil ?? now) > now }
        }
        // Rounded up: a fraction of a millisecond earlier would be too early.
        return Timestamp(millisecondsSince1970: (turn + 999) / 1000)
    }

    /// Apple wants no request of this kind before this instant: a call that has an earlier turn takes another.
    public mutating func block(_ key: Key, until instant: Timestamp) {
        var line = lines[key] ?? Line(due: 0)
        line.blockedUntil = max(instant, line.blockedUntil ?? instant)
        line.due = max(line.due, Self.microseconds(instant))
        lines[key] = line
    }

    /// Until when no request of this kind may be sent; nil where one may.
    public func isBlocked(_ key: Key, at now: Timestamp) -> Timestamp? {
        guard let blocked = lines[key]?.blockedUntil, blocked > now else { return nil }
        return blocked
    }

    private static func microseconds(_ instant: Timestamp) -> Int64 {
        let (product, overflow) = instant.millisecondsSince1970.multipliedReportingOverflow(by: 1000)
        return overflow ? .max / 4 : min(product, .max / 4)
    }
}
