package import Base
package import EvidenceStore
import HTTPKit
import Postgres

/// What one process tells of itself and of the queue.
public struct Monitor: Sendable {
    /// Who the process is, for `storehook_build_info`.
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

    /// Numbers that the database knows, and how often they are read at most.
    package struct Reading: Sendable {
        let interval: Duration
        let samples: @Sendable () async throws -> [MetricSample]?

        /// - Parameter samples: reads them; nil where the program may not see them.
        package init(every interval: Duration, _ samples: @escaping @Sendable () async throws -> [MetricSample]?) {
            self.interval = interval
            self.samples = samples
        }
    }

    private let registry: MetricsRegistry
    private let program: Program
    /// Why nothing could be stored; nil if it could.
    private let pulse: CachedReading<String?>
    private let queue: CachedReading<[MetricSample]?>
    private let schemaFits: CachedReading<Bool>
    private let readings: [CachedReading<[MetricSample]?>]

    /// A monitor.
    /// - Parameters:
    ///   - outbox: over two connections of its own, so that those who work never wait for those who watch, and a pulse is
    ///     felt while a long queue is being counted. Its statements must have a deadline.
    ///   - schemaFits: asks the database whether its schema is the one that the program was built for.
    ///   - readings: what the page has beside. No two of them have samples of one metric.
    package init(
        _ program: Program, registry: MetricsRegistry, outbox: Outbox,
        schemaFits: @escaping @Sendable () async throws -> Bool, readings: [Reading]
    ) {
        self.program = program
        self.registry = registry
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
        // Counting a million rows takes half a second, ten million some seconds: late is better than not at all.
        queue = CachedReading(every: .seconds(1), maxWait: maxWait, maxAge: .seconds(900)) {
            try await outbox.samples()
        }
        self.schemaFits = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(300), schemaFits)
        self.readings = readings.map {
            CachedReading(every: $0.interval, maxWait: maxWait, maxAge: .seconds(900), $0.samples)
        }
    }

    /// Why the database can be no help now, for people; nil if it answers and takes writes.
    public func whyDatabaseIsNotReady() async -> String? {
        let answer = await pulse.answer()
        guard answer.isAnswered, let why = answer.value else { return "the database is unavailable" }
        return why
    }

    /// The page that Prometheus reads. Comes whatever the database does; without it, it lacks what only the database knows.
    public func exposition() async -> (contentType: String, text: String) {
        async let isUp = pulse.answer().isAnswered
        async let queued = queue.answer()
        async let fits = schemaFits.answer()
        async let others = withTaskGroup(of: [MetricSample].self) { [readings] group in
            for reading in readings { group.addTask { (await reading.answer().value ?? nil) ?? [] } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var samples = ProcessSamples.now()
        samples.append(
            MetricSample(
                "storehook_build_info",
                [
                    ("program", program.name), ("schema_version", "\(program.schema)"), ("version", Release.version),
                    ("commit", Release.commit),
                ], 1))
        let answers = await isUp
        samples.append(MetricSample("storehook_database_up", [], answers ? 1 : 0))
        let depths = await queued.value ?? nil
        if answers { samples += depths ?? [] }
        samples += await others
        if let fits = await fits.value { samples.append(MetricSample("storehook_schema_mismatch", [], fits ? 0 : 1)) }
        return (Exposition.contentType, registry.exposition(with: samples))
    }
}
