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
import Subscriptions

/// What a long-running program tells Prometheus, put together.
struct ProgramMonitoring: Sendable {
    private let registry = MetricsRegistry(MetricFamily.storehook)
    let monitor: Monitor
    /// Connections of its own, so that who watches never waits for who works, nor the other way round.
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
            outbox: Outbox(pool)
        ) {
            try await migrator.check(on: pool).misfit == nil
        } anomalies: {
            try await LedgerReader(pool).anomalyCountsIfAllowed()?
                .map { (kind: $0.rawValue, count: $1) }.sorted { $0.kind < $1.kind }
        } history: {
            // Of an app that was never released nothing can be missing, and nobody is to be woken for it.
            try await History(pool).proofsIfAllowed()?.filter { !$0.isUnreleased }.map(Monitor.HistoryReading.init)
        } canaries: {
            try await Canaries(pool).statusesIfAllowed()?.map(Monitor.CanaryReading.init)
        } extensions: {
            try await RenewalExtensions(pool).openIfAllowed()?.map(Monitor.ExtensionReading.init)
        } consumption: {
            try await ConsumptionRequests(pool).statusesIfAllowed()?.map { status in
                Monitor.ConsumptionReading(
                    app: status.scope.bundleID, environment: status.scope.environment, open: status.open,
                    timeLeft: status.timeLeft)
            }
        } telling: {
            try await EventStore(pool).statusIfAllowed()
                .map { Monitor.TellingReading(unplaced: $0.unplaced, dueFor: $0.dueFor) }
        } endpoints: {
            try await EndpointStore(pool).standingsIfAllowed()?.map(Monitor.EndpointReading.init)
        }
    }

    /// Has the whole process counted here, from now on: at most once, and before anything that counts is made.
    func countProcess() { MetricsSystem.bootstrap(registry) }
}

extension Monitor.HistoryReading {
    fileprivate init(_ proof: HistoryProof) {
        self.init(
            app: proof.scope.bundleID, environment: proof.scope.environment, age: proof.age,
            windows: (proof.windows - proof.unprovenWindows, proof.unprovenWindows, proof.refusedWindows))
    }
}

extension Monitor.EndpointReading {
    fileprivate init(_ standing: EndpointStanding) {
        self.init(
            id: standing.endpointID, isUp: standing.state == .enabled, waiting: standing.lanes, dead: standing.dead,
            oldestAge: standing.oldestAge)
    }
}

extension Monitor.CanaryReading {
    fileprivate init(_ status: CanaryStatus) {
        self.init(
            app: status.scope.bundleID, environment: status.scope.environment, missing: status.missing ?? .zero)
    }
}

extension Monitor.ExtensionReading {
    fileprivate init(_ open: OpenExtensions) {
        self.init(
            app: open.scope.bundleID, environment: open.scope.environment, kind: open.kind, state: open.state.rawValue,
            count: open.count, oldestAge: open.oldestAge)
    }
}
