package import Base
package import Postgres

/// What is proven of an app in an environment, and what Apple's history listed.
package struct HistoryProof: Sendable, Hashable {
    /// The app and environment.
    package var scope: AppEnvironment
    /// From here on; nil while nothing is proven.
    package var provenFrom: PostgresTimestamp?
    /// Up to here everything that Apple lists is held; nil while nothing is proven.
    package var provenUntil: PostgresTimestamp?
    /// How long ago that was, or the beginning of what is to be proven.
    package var age: Duration
    /// Spans of time.
    package var windows: Int64
    /// Of those, not proven.
    package var unprovenWindows: Int64
    /// Of those, because something in them is not Apple's.
    package var refusedWindows: Int64
    /// Apple's count.
    package var listed: Int64
    /// Of those, here before Apple was asked.
    package var heldBefore: Int64
    /// Of those, fetched.
    package var recovered: Int64
    /// Of those, not Apple's.
    package var refused: Int64
    /// Since when Apple is asked about it: how long ago its first windows were made.
    package var followedFor: Duration
    /// Production knows no app that was never released; Sandbox knows this one. Nothing can be missing there.
    package var isUnreleased: Bool
    /// Why the windows that were put off last were; nil if none was.
    package var lastReason: String?
}

extension History {
    /// What is proven, for each app and environment that Apple was ever asked about.
    package func proofs() async throws -> [HistoryProof] {
        try await pool.query(
            PostgresQuery(
                "history.proofs",
                """
                select p.*,
                       greatest(extract(epoch from now() - coalesce(p.proven_until, p.asked_from)), 0)::double precision
                           as age,
                       greatest(extract(epoch from now() - p.planned_at), 0)::double precision as followed_for
                  from storehook.proven_until p
                 order by p.bundle_id, p.environment
                """)
        ).map { row in
            HistoryProof(
                scope: try AppEnvironment(row),
                provenFrom: try row.decode("proven_from"), provenUntil: try row.decode("proven_until"),
                age: .seconds(try row.decode("age", as: Double.self)), windows: try row.decode("windows"),
                unprovenWindows: try row.decode("unproven_windows"),
                refusedWindows: try row.decode("refused_windows"), listed: try row.decode("listed"),
                heldBefore: try row.decode("held_before"), recovered: try row.decode("recovered"),
                refused: try row.decode("refused"),
                followedFor: .seconds(try row.decode("followed_for", as: Double.self)),
                isUnreleased: try row.decode("is_unreleased"), lastReason: try row.decode("last_reason"))
        }
    }
}

extension History: MonitoredStore {
    /// See ``proofs()``.
    package static let monitored = "proven_until"

    /// What is proven. An app that was never released has no samples: nothing can be missing there, and it must raise
    /// no alert.
    package func samples() async throws -> [MetricSample] {
        try await proofs().filter { !$0.isUnreleased }.flatMap { proof in
            let windows = [
                ("proven", proof.windows - proof.unprovenWindows), ("unproven", proof.unprovenWindows),
                ("refused", proof.refusedWindows),
            ]
            return [MetricSample("storehook_history_proven_seconds", proof.scope.labels, proof.age)]
                + windows.map { state, count in
                    MetricSample(
                        "storehook_history_windows", proof.scope.labels + [("state", state)], Double(count))
                }
        }
    }
}
