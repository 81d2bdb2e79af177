import AccountStore
import AppleRecords
import Base
import EventStore
import EvidenceStore
import Logging
import Metrics
import Monitoring
import Operations
import Postgres
import PurchaseStore
import Schema

/// The metrics that a long-running program exposes to Prometheus.
struct ProgramMonitoring: Sendable {
    private let registry = MetricsRegistry(MetricFamily.storehook)
    let monitor: Monitor
    /// Separate connections, so that monitoring never waits for the program's work, nor the work for monitoring.
    let pool: PostgresPool
    /// Counts a failed statement.
    let countError: @Sendable (PostgresError) -> Void

    init(_ program: String, _ settings: Settings) throws {
        let errors = DatabaseErrorCounter(registry)
        countError = { errors.count($0) }
        // The program's own pool says when the database goes and comes; one line is enough.
        var quiet = try settings.logger("monitoring")
        quiet.logLevel = .error
        let pool = PostgresPool(configuration: try settings.monitorDatabase(), size: 2, logger: quiet)
        self.pool = pool
        let migrator = try Database.migrator()
        monitor = Monitor(
            .init(name: program, schema: Schema.migrations.map(\.version).max() ?? 0), registry: registry,
            pool: pool, schemaFits: { try await migrator.check(on: pool).misfit == nil },
            stores: [
                (RefusedRows(pool), .seconds(10)), (LedgerReader(pool), .seconds(30)), (History(pool), .seconds(30)),
                (Canaries(pool), .seconds(10)),
                (RenewalExtensions(pool), .seconds(30)), (ConsumptionRequests(pool), .seconds(10)),
                (EventStore(pool), .seconds(5)), (EndpointStore(pool), .seconds(5)), (ServerSurvey(pool), .seconds(30)),
                (UnsoldProducts(pool), .seconds(30)), (DueEnds(pool), .seconds(5)),
            ],
            own: { [MetricSample("storehook_log_lines_dropped_total", [], Double(StandardError.dropped))] })
    }

    /// Has the whole process counted here, from now on: at most once, and before anything that counts is made.
    func countProcess() { MetricsSystem.bootstrap(registry) }
}
