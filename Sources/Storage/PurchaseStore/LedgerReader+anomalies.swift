package import Base
import Postgres
package import Subscriptions

extension LedgerReader {
    /// How many anomalies of each kind there are, kinds without any included. Nil for a role that may not read them,
    /// such as the receiver's; asking first keeps a refusal out of the server's log at each look.
    /// - Parameter deadline: for the answer; by default the pool's.
    package func anomalyCountsIfAllowed(deadline: Duration? = nil) async throws -> [Anomaly.Kind: Int64]? {
        let mayAsk: Bool = try await pool.query(
            PostgresQuery(
                "ledger.may_see_anomalies",
                "select coalesce(has_table_privilege(to_regclass('storehook.anomalies'), 'select'), false)"),
            deadline: deadline
        ).one().decode(0)
        guard mayAsk else { return nil }
        var counts = Dictionary(uniqueKeysWithValues: Anomaly.Kind.allCases.map { ($0, Int64(0)) })
        let rows = try await pool.query(
            PostgresQuery("ledger.anomaly_counts", "select kind, count(*) from storehook.anomalies group by kind"),
            deadline: deadline)
        for row in rows {
            guard let kind = Anomaly.Kind(rawValue: try row.decode(0)) else { continue }
            counts[kind] = try row.decode(1)
        }
        return counts
    }

    /// ``anomalyCountsIfAllowed(deadline:)`` as samples, by kind.
    package func samples() async throws -> [MetricSample]? {
        try await anomalyCountsIfAllowed()?.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { MetricSample("storehook_anomalies", [("kind", $0.rawValue)], Double($1)) }
    }
}
