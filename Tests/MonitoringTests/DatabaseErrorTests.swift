import Postgres
import Testing

@testable import Monitoring

@Suite("Failed statements")
struct DatabaseErrorTests {
    private static let refused = PostgresError(.connection, "x", sqlState: "28P01")

    @Test(
        "are counted by class, those that nobody foresaw as other",
        arguments: [
            (PostgresError(.server("23505"), "x"), "23"), (PostgresError(.server("XX001"), "x"), "XX"),
            (PostgresError(.server("P0001"), "x"), "other"), (PostgresError(.connection, "x"), "08"),
            (Self.refused, "28"), (PostgresError(.timeout, "x"), "timeout"),
            (PostgresError(.decoding, "x"), "client"), (PostgresError(.cancelled, "x"), nil),
        ] as [(PostgresError, String?)])
    func classes(error: PostgresError, expected: String?) {
        let registry = MetricsRegistry(MetricFamily.storehook)
        DatabaseErrorCounter(registry).count(error)
        let counted = registry.exposition().split(separator: "\n").filter {
            $0.hasPrefix("storehook_database_errors_total") && !$0.hasSuffix(" 0")
        }
        #expect(counted == (expected.map { ["storehook_database_errors_total{sqlstate_class=\"\($0)\"} 1"] } ?? []))
    }
}
