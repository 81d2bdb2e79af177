package import Postgres

/// The outcome of a claimed lane.
package struct LaneOutcome: Sendable, Hashable {
    /// A call that was made for a delivery.
    package struct Attempt: Sendable, Hashable {
        /// The delivery's number.
        package var deliveryID: Int64
        /// The event's number.
        package var eventID: Int64
        /// When it began, by the database's clock.
        package var at: PostgresTimestamp
        /// How long it took.
        package var duration: Duration
        /// How it ended, as a stable code: `http_503`, `timeout`.
        package var code: String
        /// The answer's status; nil where there was none.
        package var status: Int?
        /// The beginning of what the endpoint said: a stranger's text.
        package var answer: String?

        /// Memberwise.
        package init(
            deliveryID: Int64, eventID: Int64, at: PostgresTimestamp, duration: Duration, code: String, status: Int?,
            answer: String?
        ) {
            self.deliveryID = deliveryID
            self.eventID = eventID
            self.at = at
            self.duration = duration
            self.code = code
            self.status = status
            self.answer = answer
        }
    }

    /// How a delivery ended.
    package struct End: Sendable, Hashable {
        /// The delivery's number.
        package var deliveryID: Int64
        /// Calls it took.
        package var attempts: Int
        /// The last answer's status; nil where there was none.
        package var status: Int?
        /// Why it was given up; nil where it was delivered.
        package var reason: String?

        /// Whether the endpoint accepted it.
        package var isDelivered: Bool { reason == nil }

        /// Memberwise.
        package init(deliveryID: Int64, attempts: Int, status: Int?, reason: String?) {
            self.deliveryID = deliveryID
            self.attempts = attempts
            self.status = status
            self.reason = reason
        }
    }

    /// When a lane is retried.
    package struct Retry: Sendable, Hashable {
        /// The delay from now on.
        package var delay: Duration
        /// Calls of its first delivery so far.
        package var attempts: Int
        /// How many of them ended with their worker's death.
        package var lapses: Int
        /// How the last call ended.
        package var reason: String
        /// Whether the last call came before the schedule's time, because the endpoint was back; the next one follows
        /// the schedule.
        package var wasEarly: Bool

        /// Memberwise.
        package init(delay: Duration, attempts: Int, lapses: Int, reason: String, wasEarly: Bool = false) {
            self.delay = delay
            self.attempts = attempts
            self.lapses = lapses
            self.reason = reason
            self.wasEarly = wasEarly
        }
    }

    /// The lane.
    package var laneID: Int64
    /// The finished deliveries, in order.
    package var ends: [End]
    /// The calls that were made, in order.
    package var attempts: [Attempt]
    /// When it is retried; nil: at once, if deliveries are left in it.
    package var retry: Retry?

    /// Memberwise.
    package init(laneID: Int64, ends: [End], retry: Retry?, attempts: [Attempt] = []) {
        self.laneID = laneID
        self.ends = ends
        self.attempts = attempts
        self.retry = retry
    }
}

/// What calls showed about an endpoint.
package struct EndpointNews: Sendable, Hashable {
    /// Calls that succeeded.
    package var successes = 0
    /// Calls that failed.
    package var failures = 0
    /// How many of them failed because of the endpoint, not because of the event.
    package var faults = 0
    /// How the last failed call ended.
    package var lastFailure: String?
    /// Whether it answered that it is gone for good.
    package var isGone = false
    /// The delay that it asked for.
    package var rest: Duration?
    /// Whether the call was a probe of a paused endpoint.
    package var isProbe = false

    /// Nothing.
    package init() {}

    /// Both together.
    package static func + (a: EndpointNews, b: EndpointNews) -> EndpointNews {
        var sum = a
        sum.successes += b.successes
        sum.failures += b.failures
        sum.faults += b.faults
        sum.lastFailure = b.lastFailure ?? a.lastFailure
        sum.isGone = a.isGone || b.isGone
        sum.isProbe = a.isProbe || b.isProbe
        sum.rest = [a.rest, b.rest].compactMap(\.self).max()
        return sum
    }
}
