package import Base
import EvidenceStore
import HTTPKit
package import Postgres

/// What one process reports of itself and of the queue.
public struct Monitor: Sendable {
    /// The name and schema version of the process, for `storehook_build_info`.
    public struct Program: Sendable {
        /// `receiver` or `worker`.
        public var name: String
        /// The version of the schema that it was built for.
        public var schema: Int

        /// A program.
        public init(name: String, schema: Int) {
            self.name = name
            self.schema = schema
        }
    }

    private let registry: MetricsRegistry
    private let program: Program
    /// Why nothing could be stored; nil if it could.
    private let pulse: CachedReading<String?>
    private let queue: CachedReading<[MetricSample]>
    private let schemaFits: CachedReading<Bool>
    private let readings: [CachedReading<[MetricSample]>]
    private let own: @Sendable () -> [MetricSample]

    /// A monitor.
    /// - Parameters:
    ///   - pool: two connections of its own, so that the program's work never waits for monitoring, and the pulse is
    ///     felt while a long queue is being counted. Its statements must have a deadline.
    ///   - schemaFits: asks the database whether its schema is the one that the program was built for.
    ///   - stores: what else is read, and how often at most; what the program may not see is left out. No two have samples of
    ///     one metric.
    ///   - own: what the process itself knows and is not counted by swift-metrics.
    package init(
        _ program: Program, registry: MetricsRegistry, pool: PostgresPool,
        schemaFits: @escaping @Sendable () async throws -> Bool,
        stores: [(store: any MonitoredStore, interval: Duration)],
        own: @escaping @Sendable () -> [MetricSample] = { [] }
    ) {
        self.program = program
        self.own = own
        self.registry = registry
        let outbox = Outbox(pool)
        // Prometheus gives a scrape ten seconds by default, and people set it as low as one.
        let maxWait = Duration.milliseconds(500)
        pulse = CachedReading(every: .seconds(1), maxWait: maxWait, maxAge: .seconds(60)) {
            do {
                try await outbox.ping(deadline: .seconds(2))
                return nil
            } catch let error as PostgresError where error.sqlState == .readOnlyTransaction {
                return "the database takes no writes: it is a standby, or read-only"
            }
        }
        self.schemaFits = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(300), schemaFits)
        let relations = [Outbox.monitored] + stores.map { type(of: $0.store).monitored }
        let rights = CachedReading(
            every: .seconds(30), afterFailure: .seconds(1), maxWait: .seconds(2), maxAge: .seconds(900)
        ) {
            try await DatabaseRights(reading: relations, on: pool)
        }
        func reading(_ store: any MonitoredStore, _ interval: Duration) -> CachedReading<[MetricSample]> {
            CachedReading(every: interval, maxWait: maxWait, maxAge: .seconds(900)) {
                guard let rights = await rights.answer().value else { throw RightsUnknown() }
                return rights.mayRead(type(of: store).monitored) ? try await store.samples() : []
            }
        }
        // Counting a million rows takes half a second, ten million some seconds: late is better than not at all.
        queue = reading(outbox, .seconds(1))
        readings = stores.map { reading($0.store, $0.interval) }
    }

    /// The database was not there to be asked.
    private struct RightsUnknown: Error {}

    /// Why the database can be no help now, for people; nil if it answers and takes writes.
    public func whyDatabaseIsNotReady() async -> String? {
        let answer = await pulse.answer()
        guard answer.isAnswered, let why = answer.value else { return "the database is unavailable" }
        return why
    }

    /// The page that Prometheus reads. It also comes without the database, but then lacks what only the database knows.
    public func exposition() async -> (contentType: String, text: String) {
        async let isUp = pulse.answer().isAnswered
        async let queued = queue.answer()
        async let fits = schemaFits.answer()
        async let others = withTaskGroup(of: [MetricSample].self) { [readings] group in
            for reading in readings { group.addTask { await reading.answer().value ?? [] } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var samples = ProcessSamples.now() + own()
        samples.append(
            MetricSample(
                "storehook_build_info",
                [
                    ("program", program.name), ("schema_version", "\(program.schema)"), ("version", Release.version),
                    ("commit", Release.commit),
                ], 1))
        let answers = await isUp
        samples.append(MetricSample("storehook_database_up", [], answers ? 1 : 0))
        let depths = await queued.value ?? []
        if answers { samples += depths }
        samples += await others
        if let fits = await fits.value { samples.append(MetricSample("storehook_schema_mismatch", [], fits ? 0 : 1)) }
        return (Exposition.contentType, registry.exposition(with: samples))
    }
}
