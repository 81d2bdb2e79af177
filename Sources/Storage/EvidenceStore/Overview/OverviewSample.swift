package import Base
package import Postgres

/// How the pipeline stood at an instant, and what it did until then: a row of the ring.
package struct OverviewSample: Sendable, Hashable {
    /// How long something took.
    package struct Delay: Sendable, Hashable {
        /// How many pieces of evidence there were.
        package var count: Int64
        /// The mean in milliseconds; nil where there was none.
        package var mean: Int64?
        /// The longest in milliseconds.
        package var longest: Int64
    }

    /// What is counted up to a bound.
    package struct Counted: Sendable, Hashable {
        /// How many, at most the bound.
        package var count: Int64
        /// Whether there are more.
        package var isMore: Bool
        /// Since the oldest of those that were counted; zero where there is none.
        package var oldestAge: Duration

        /// - Parameter stored: one more than the bound where there are more.
        init(_ stored: Int64, upTo bound: Int64 = OverviewStore.mostCounted, oldestMilliseconds: Int64 = 0) {
            count = min(stored, bound)
            isMore = stored > bound
            oldestAge = .milliseconds(oldestMilliseconds)
        }
    }

    /// Deliveries to endpoints.
    package struct Deliveries: Sendable, Hashable {
        /// How many endpoints there are.
        package var endpoints: Int64
        /// Of them, those that are paused because they fail.
        package var paused: Int64
        /// Those that are disabled.
        package var disabled: Int64
        /// The most events that an endpoint has not been dealt yet.
        package var behind: Int64
        /// Accounts and purchases for which an endpoint has something waiting; its age is that of the oldest delivery.
        package var waiting: Counted
        /// Deliveries that were given up and not sent again.
        package var dead: Counted
    }

    /// When it was written.
    package var at: PostgresTimestamp
    /// How far rows of its kind are apart: five seconds, or five minutes.
    package var interval: Duration
    /// The time in which what is counted was done, up to a second before ``at``.
    package var span: Duration
    /// Evidence that was stored.
    package var received: Counted
    /// Evidence that was applied or parked.
    package var recorded: Int64
    /// Evidence that was known already.
    package var duplicates: Int64
    /// Evidence that became dead letters.
    package var buried: Int64
    /// From Apple's signature to the receipt.
    package var apple: Delay
    /// From the receipt to the commit.
    package var own: Delay
    /// The queue by state, in the order of ``QueueState``.
    package var queue: [(state: QueueState, counted: Counted)] {
        [(.ready, ready), (.scheduled, scheduled), (.leased, leased), (.dead, dead)]
    }
    /// Evidence that is due.
    package var ready: Counted
    /// Evidence that waits for its time.
    package var scheduled: Counted
    /// Evidence that a worker holds.
    package var leased: Counted
    /// Dead letters that wait for an operator.
    package var dead: Counted
    /// Events without a place in the feed.
    package var unplacedEvents: Counted
    /// Since an event that only time causes was due; zero where none is late.
    package var eventAge: Duration
    /// Deliveries to endpoints.
    package var deliveries: Deliveries

    /// Reads the columns of `overview_ring`.
    init(_ row: PostgresRow) throws {
        func number(_ column: String) throws -> Int64 { try row.decode(column) }
        func delay(_ name: String) throws -> Delay {
            let (count, sum) = (try number(name + "_count"), try number(name + "_ms"))
            return Delay(
                count: count, mean: count > 0 ? sum / count : nil, longest: try number(name + "_longest_ms"))
        }
        func counted(_ name: String) throws -> Counted {
            Counted(try number(name), oldestMilliseconds: try number(name + "_age_ms"))
        }
        at = try row.decode("at")
        span = .milliseconds(Int64(try row.decode("span_ms", as: Int32.self)))
        let seconds = Int64(try row.decode("seconds", as: Int16.self))
        interval = .seconds(seconds)
        received = Counted(try number("received"), upTo: OverviewStore.mostReceived * (seconds / 5))
        (recorded, duplicates, buried) = (try number("recorded"), try number("duplicates"), try number("buried"))
        (apple, own) = (try delay("apple"), try delay("own"))
        (ready, scheduled) = (try counted("ready"), try counted("scheduled"))
        (leased, dead) = (try counted("leased"), try counted("dead"))
        unplacedEvents = Counted(try number("unplaced"))
        eventAge = .milliseconds(try number("event_age_ms"))
        deliveries = Deliveries(
            endpoints: try number("endpoints"), paused: try number("paused"), disabled: try number("disabled"),
            behind: try number("behind"),
            waiting: Counted(try number("lanes"), oldestMilliseconds: try number("delivery_age_ms")),
            dead: Counted(try number("undelivered")))
    }
}

/// What changes more slowly than the queue: read every half minute.
package struct OverviewDetail: Sendable, Hashable {
    /// How far an app is proven, and how its last test notification went.
    package struct App: Sendable, Hashable {
        /// The app's bundle id.
        package var bundleID: String
        /// `Production` or `Sandbox`.
        package var environment: String
        /// Up to when nothing that Apple lists is missing; nil without proof.
        package var provenUntil: Timestamp?
        /// When the last test notification was applied; nil where none was.
        package var canaryAppliedAt: Timestamp?
        /// Since when test notifications do not arrive; nil where they do.
        package var canaryMissingSince: Timestamp?
        /// What became of the latest one; nil where none has ended.
        package var canaryOutcome: String?
    }

    /// A lease that has run out, and whose row no worker has taken over yet.
    package struct LapsedLease: Sendable, Hashable {
        /// The worker that held it.
        package var worker: String
        /// When it ended.
        package var since: Timestamp
    }

    /// When it was read.
    package var at: PostgresTimestamp
    /// By app and environment.
    package var apps: [App]
    /// At most 20.
    package var lapsed: [LapsedLease]
}
