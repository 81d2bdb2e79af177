package import Base
import Postgres
package import Subscriptions

extension LedgerReader: MonitoredStore {
    /// See ``anomalyCounts()``.
    package static let monitored = "anomalies"

    /// How many anomalies of each kind there are.
    package func samples() async throws -> [MetricSample] {
        try await anomalyCounts().sorted { $0.key.rawValue < $1.key.rawValue }
            .map { MetricSample("storehook_anomalies", [("kind", $0.rawValue)], Double($1)) }
    }

    /// How many anomalies of each kind there are, kinds without any included.
    package func anomalyCounts() async throws -> [Anomaly.Kind: Int64] {
        var counts = Dictionary(uniqueKeysWithValues: Anomaly.Kind.allCases.map { ($0, Int64(0)) })
        let rows = try await pool.query(
            PostgresQuery("ledger.anomaly_counts", "select kind, count(*) from storehook.anomalies group by kind"))
        for row in rows {
            guard let kind = Anomaly.Kind(rawValue: try row.decode(0)) else { continue }
            counts[kind] = try row.decode(1)
        }
        return counts
    }
}
