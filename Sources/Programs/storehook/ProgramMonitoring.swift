import Logging
import Metrics
import Monitoring
import Outbox
import Postgres
import Schema

/// What a long-running program tells Prometheus, put together. Makes the process's metrics backend: at most once.
struct ProgramMonitoring: Sendable {
    let monitor: Monitor
    /// Connections of its own, so that who watches never waits for who works, nor the other way round.
    let pool: PostgresPool
    /// Counts a failed statement.
    let countError: @Sendable (PostgresError) -> Void

    init(_ program: String, _ settings: Settings) throws {
        let registry = MetricsRegistry(MetricFamily.storehook)
        MetricsSystem.bootstrap(registry)
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
            outbox: Outbox(pool)
        ) {
            if case .current = try await migrator.check(on: pool) { true } else { false }
        }
    }

    /// A server for a program that has none.
    /// - Parameter notReady: why the program is not ready, apart from its database; nil if it is.
    func server(
        host: String, port: Int, logger: Logger, notReady: @escaping @Sendable () -> String?
    ) -> MonitoringServer {
        let monitor = monitor
        return MonitoringServer(host: host, port: port, monitor: monitor, logger: logger) {
            guard await monitor.databaseAnswers() else { return "the database is unavailable" }
            return notReady()
        } onListening: { port in
            logger.info("Serving metrics", metadata: ["host": "\(host)", "port": "\(port)"])
        }
    }
}
