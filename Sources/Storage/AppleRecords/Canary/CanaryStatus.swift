package import Base
package import Postgres

/// Which test notification of an app came through last, and since when one is missing.
package struct CanaryStatus: Sendable, Hashable {
    /// The app and environment.
    package var scope: AppEnvironment
    /// When Apple was asked for the last one that came through; nil if none ever did.
    package var askedAt: PostgresTimestamp?
    /// How long that one took until it was applied.
    package var took: Duration?
    /// How long ago Apple was asked for the first one since then that has not come through; nil if all did.
    package var missing: Duration?
    /// What became of the latest that was settled; nil if none was.
    package var outcome: String?
    /// What Apple says of posting that one.
    package var postResult: String?
}

extension Canaries: MonitoredStore {
    /// See ``statuses()``.
    package static let monitored = "canary_status"

    /// Since when test notifications are missing.
    package func samples() async throws -> [MetricSample] {
        try await statuses().map { status in
            MetricSample("storehook_canary_missing_seconds", status.scope.labels, status.missing ?? .zero)
        }
    }

    /// How it stands, for each app and environment that a test notification was ever planned for.
    package func statuses() async throws -> [CanaryStatus] {
        try await pool.query(
            PostgresQuery(
                "canary.statuses",
                """
                select s.bundle_id, s.environment, s.asked_at, s.latest_outcome, s.latest_post_result,
                       extract(epoch from s.applied_at - s.asked_at)::double precision as took,
                       extract(epoch from clock_timestamp() - s.missing_since)::double precision as missing
                  from storehook.canary_status s
                 order by s.bundle_id, s.environment
                """)
        ).map { row in
            CanaryStatus(
                scope: try AppEnvironment(row), askedAt: try row.decode("asked_at"), took: try row.age("took"),
                missing: try row.age("missing"), outcome: try row.decode("latest_outcome"),
                postResult: try row.decode("latest_post_result"))
        }
    }
}
