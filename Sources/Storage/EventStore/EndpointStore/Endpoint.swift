package import Postgres

/// Where events are posted to, and its state; without its secrets.
package struct Endpoint: Sendable, Hashable {
    /// Whether it is called. The raw values are stored and sent, so they never change.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// It is called.
        case enabled
        /// It failed again and again: it is only probed, one call at a time, and its events wait.
        case paused
        /// It is not called: an operator disabled it, it answered that it is gone, or it failed for days.
        case disabled
    }

    /// Why workers disable one; people give words of their own.
    package enum Fault: String, Sendable, Hashable, CaseIterable {
        /// It answered that it is gone.
        case gone
        /// It failed for days.
        case failing
    }

    /// Its number.
    package var id: Int64
    /// Its URL.
    package var url: String
    /// Which events it gets.
    package var filter: EndpointFilter
    /// The most deliveries a second; nil: no limit.
    package var rate: Int?
    /// The most deliveries at once, by each worker.
    package var inFlight: Int
    /// Whether it is called.
    package var state: State
    /// Why it is disabled: a person's words, or a ``Fault``.
    package var reason: String?
    /// When it was added. It gets no older events.
    package var createdAt: PostgresTimestamp
    /// Who added it.
    package var createdBy: String
    /// Until when each former secret signs as well, the oldest secret first.
    package var formerSecretEnds: [PostgresTimestamp]
    /// Calls that failed since the last one that succeeded.
    package var failures: Int
    /// Since when it fails; nil where the last call succeeded.
    package var failingSince: PostgresTimestamp?
    /// How the last failed call ended.
    package var lastFailure: String?
    /// Since when it is only probed.
    package var pausedAt: PostgresTimestamp?

    /// Until when any former secret signs as well; nil where there is none.
    package var formerSecretEndsAt: PostgresTimestamp? { formerSecretEnds.max() }

    /// The former secrets of an endpoint `e` that sign as well, as `f`: `secret`, `ends_at`, and `place`, the oldest secret first.
    /// Where `former_secret` is null, none of the earlier ones signs: a program of an earlier release does not remove them.
    static let formerSecrets = """
        unnest(array_append(e.earlier_secrets, e.former_secret), array_append(e.earlier_ends_at, e.former_ends_at))
        with ordinality f (secret, ends_at, place) where e.former_secret is not null and f.ends_at > now()
        """

    /// The columns of an endpoint, from the tables as `e` and `h`. They are read without any secret: the console has no right to one.
    static let columns = """
        e.id, e.url, e.bundle_id, e.environment, e.kinds, e.rate, e.in_flight, e.state, e.reason, e.created_at, e.created_by,
        array(select f.ends_at
                from unnest(array_append(e.earlier_ends_at, e.former_ends_at)) with ordinality f (ends_at, place)
               where e.former_ends_at is not null and f.ends_at > now() order by f.place) as former_ends,
        h.failures, h.failing_since, h.last_failure, h.paused_at
        """

    /// Reads ``columns``.
    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        url = try row.decode("url")
        filter = EndpointFilter(
            bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"),
            kinds: try row.decode("kinds", as: [String]?.self))
        rate = try row.decode("rate", as: Int32?.self).map { Int($0) }
        inFlight = Int(try row.decode("in_flight", as: Int16.self))
        pausedAt = try row.decode("paused_at")
        let stored = try row.decode("state", among: State.self)
        state = stored == .enabled && pausedAt != nil ? .paused : stored
        reason = try row.decode("reason")
        createdAt = try row.decode("created_at")
        createdBy = try row.decode("created_by")
        formerSecretEnds = try row.decode("former_ends")
        failures = Int(try row.decode("failures", as: Int32.self))
        failingSince = try row.decode("failing_since")
        lastFailure = try row.decode("last_failure")
    }
}
