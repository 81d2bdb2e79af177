/// What a claimed lane came to.
package struct LaneOutcome: Sendable, Hashable {
    /// How an event's way to an endpoint ended.
    package struct End: Sendable, Hashable {
        /// The delivery's number.
        package var deliveryID: Int64
        /// Calls that it took.
        package var attempts: Int
        /// The last answer's status; nil where there was none.
        package var status: Int?
        /// Why it was given up; nil where it was delivered.
        package var reason: String?

        /// Whether the endpoint took it.
        package var isDelivered: Bool { reason == nil }

        /// Memberwise.
        package init(deliveryID: Int64, attempts: Int, status: Int?, reason: String?) {
            self.deliveryID = deliveryID
            self.attempts = attempts
            self.status = status
            self.reason = reason
        }
    }

    /// When a lane is to be tried again.
    package struct Retry: Sendable, Hashable {
        /// In how long.
        package var delay: Duration
        /// Calls of its first delivery so far, and how many of those ended with their worker.
        package var attempts: Int
        /// How many of them ended with their worker.
        package var lapses: Int
        /// How the last one ended.
        package var reason: String
        /// Whether the last one came before its time, because the endpoint was back, and the next one comes when the schedule has it.
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
    /// What came to its end, in order.
    package var ends: [End]
    /// When it is to be tried again; nil: at once, if anything is left in it.
    package var retry: Retry?

    /// Memberwise.
    package init(laneID: Int64, ends: [End], retry: Retry?) {
        self.laneID = laneID
        self.ends = ends
        self.retry = retry
    }
}

/// What calls told of an endpoint.
package struct EndpointNews: Sendable, Hashable {
    /// Calls that succeeded.
    package var successes = 0
    /// Calls that failed.
    package var failures = 0
    /// How many of them failed for a reason of the endpoint's own, and not of the event that it was sent.
    package var faults = 0
    /// How the last failure went.
    package var lastFailure: String?
    /// Whether it said that it is gone for good.
    package var isGone = false
    /// For how long it asked to be left alone.
    package var rest: Duration?
    /// Whether the call was to find out whether a paused endpoint is back.
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
