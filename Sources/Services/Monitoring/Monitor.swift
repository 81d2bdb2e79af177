import Base
public import EvidenceStore
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

    /// Up to when everything that Apple lists is held, for an app in an environment.
    public struct HistoryReading: Sendable {
        /// The app's bundle id.
        public var app: String
        /// `Production` or `Sandbox`.
        public var environment: String
        /// How long ago that was.
        public var age: Duration
        /// Spans of time by whether they are proven; refused ones are among the unproven.
        public var windows: (proven: Int64, unproven: Int64, refused: Int64)

        /// A reading.
        public init(
            app: String, environment: String, age: Duration, windows: (proven: Int64, unproven: Int64, refused: Int64)
        ) {
            self.app = app
            self.environment = environment
            self.age = age
            self.windows = windows
        }
    }

    /// Whether Apple's test notifications come through, for an app in an environment.
    public struct CanaryReading: Sendable {
        /// The app's bundle id.
        public var app: String
        /// `Production` or `Sandbox`.
        public var environment: String
        /// How long ago one was asked for that has not come through; zero while the last one did.
        public var missing: Duration

        /// A reading.
        public init(app: String, environment: String, missing: Duration) {
            self.app = app
            self.environment = environment
            self.missing = missing
        }
    }

    /// Extensions of renewal dates that are not finished.
    public struct ExtensionReading: Sendable {
        /// The app's bundle id.
        public var app: String
        /// `Production` or `Sandbox`.
        public var environment: String
        /// `one` or `all`.
        public var kind: String
        /// How far they have come.
        public var state: String
        /// How many.
        public var count: Int64
        /// For how long the oldest has been waited for.
        public var oldestAge: Duration

        /// A reading.
        public init(
            app: String, environment: String, kind: String, state: String, count: Int64, oldestAge: Duration
        ) {
            self.app = app
            self.environment = environment
            self.kind = kind
            self.state = state
            self.count = count
            self.oldestAge = oldestAge
        }
    }

    /// How it stands with Apple's requests for consumption data, for an app in an environment.
    public struct ConsumptionReading: Sendable {
        /// The app's bundle id.
        public var app: String
        /// The environment, as Apple names it.
        public var environment: String
        /// Requests that are not settled.
        public var open: Int64
        /// Until the first deadline of one that is to be answered; nil where there is none.
        public var timeLeft: Duration?

        /// A reading.
        public init(app: String, environment: String, open: Int64, timeLeft: Duration?) {
            self.app = app
            self.environment = environment
            self.open = open
            self.timeLeft = timeLeft
        }
    }

    /// How far telling is behind.
    public struct TellingReading: Sendable {
        /// Events that no reader sees so far.
        public var unplaced: Int64
        /// How long ago what is due first was due.
        public var dueFor: Duration

        /// A reading.
        public init(unplaced: Int64, dueFor: Duration) {
            self.unplaced = unplaced
            self.dueFor = dueFor
        }
    }

    /// What waits for an endpoint, and how it fares.
    public struct EndpointReading: Sendable {
        /// The endpoint's number.
        public var id: Int64
        /// Whether it is called.
        public var isUp: Bool
        /// Accounts of which something waits.
        public var waiting: Int64
        /// Deliveries that were given up.
        public var dead: Int64
        /// Since when the oldest event has been told that waits.
        public var oldestAge: Duration

        /// A reading.
        public init(id: Int64, isUp: Bool, waiting: Int64, dead: Int64, oldestAge: Duration) {
            self.id = id
            self.isUp = isUp
            self.waiting = waiting
            self.dead = dead
            self.oldestAge = oldestAge
        }

        fileprivate var samples: [MetricSample] {
            let endpoint = [("endpoint", "\(id)")]
            return [
                MetricSample("storehook_deliveries_oldest_age_seconds", endpoint, oldestAge / .seconds(1)),
                MetricSample("storehook_deliveries_waiting", endpoint, Double(waiting)),
                MetricSample("storehook_deliveries_dead", endpoint, Double(dead)),
                MetricSample("storehook_endpoint_up", endpoint, isUp ? 1 : 0),
            ]
        }
    }

    private let registry: MetricsRegistry
    private let program: Program
    /// Why nothing could be stored; nil if it could.
    private let pulse: CachedReading<String?>
    private let queue: CachedReading<[QueueDepth]?>
    private let schemaFits: CachedReading<Bool>
    private let anomalies: CachedReading<[(kind: String, count: Int64)]?>
    private let history: CachedReading<[HistoryReading]?>
    private let canaries: CachedReading<[CanaryReading]?>
    private let extensions: CachedReading<[ExtensionReading]?>
    private let consumption: CachedReading<[ConsumptionReading]?>
    private let telling: CachedReading<TellingReading?>
    private let endpoints: CachedReading<[EndpointReading]?>

    /// A monitor.
    /// - Parameters:
    ///   - outbox: over two connections of its own, so that those who work never wait for those who watch, and a pulse is
    ///     felt while a long queue is being counted. Its statements must have a deadline.
    ///   - schemaFits: asks the database whether its schema is the one that the program was built for.
    ///   - anomalies: counts what records do not explain, by kind; nil where the program may not see it.
    ///   - history: what is proven of Apple's notification history; nil where the program may not see it.
    ///   - canaries: which test notifications come through; nil where the program may not see it.
    ///   - extensions: which extensions of renewal dates are not finished; nil where the program may not see it.
    ///   - consumption: what Apple wants data about; nil where the program may not see it.
    ///   - telling: how far telling is behind; nil where the program may not see it.
    ///   - endpoints: what waits for each endpoint; nil where the program may not see it.
    public init(
        _ program: Program, registry: MetricsRegistry, outbox: Outbox,
        schemaFits: @escaping @Sendable () async throws -> Bool,
        anomalies: @escaping @Sendable () async throws -> [(kind: String, count: Int64)]?,
        history: @escaping @Sendable () async throws -> [HistoryReading]? = { nil },
        canaries: @escaping @Sendable () async throws -> [CanaryReading]? = { nil },
        extensions: @escaping @Sendable () async throws -> [ExtensionReading]? = { nil },
        consumption: @escaping @Sendable () async throws -> [ConsumptionReading]? = { nil },
        telling: @escaping @Sendable () async throws -> TellingReading? = { nil },
        endpoints: @escaping @Sendable () async throws -> [EndpointReading]? = { nil }
    ) {
        self.program = program
        self.registry = registry
        // Prometheus gives a scrape ten seconds unless told otherwise, and people set it as low as one.
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
            try await outbox.depthIfAllowed()
        }
        self.schemaFits = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(300), schemaFits)
        self.anomalies = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(900), anomalies)
        self.history = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(900), history)
        self.canaries = CachedReading(every: .seconds(10), maxWait: maxWait, maxAge: .seconds(900), canaries)
        self.extensions = CachedReading(every: .seconds(30), maxWait: maxWait, maxAge: .seconds(900), extensions)
        self.consumption = CachedReading(every: .seconds(10), maxWait: maxWait, maxAge: .seconds(900), consumption)
        self.telling = CachedReading(every: .seconds(5), maxWait: maxWait, maxAge: .seconds(900), telling)
        self.endpoints = CachedReading(every: .seconds(5), maxWait: maxWait, maxAge: .seconds(900), endpoints)
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
        async let unexplained = anomalies.answer()
        async let proven = history.answer()
        async let posted = canaries.answer()
        async let extending = extensions.answer()
        async let requested = consumption.answer()
        async let told = telling.answer()
        async let delivered = endpoints.answer()
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
        for depth in answers ? depths ?? [] : [] {
            let state = [("state", depth.state.rawValue)]
            samples.append(MetricSample("storehook_queue_depth", state, Double(depth.count)))
            samples.append(MetricSample("storehook_queue_oldest_age_seconds", state, depth.oldestAge / .seconds(1)))
        }
        for (kind, count) in (await unexplained.value ?? nil) ?? [] {
            samples.append(MetricSample("storehook_anomalies", [("kind", kind)], Double(count)))
        }
        for reading in (await proven.value ?? nil) ?? [] {
            let place = [("app", reading.app), ("environment", reading.environment)]
            samples.append(MetricSample("storehook_history_proven_seconds", place, reading.age / .seconds(1)))
            for (state, count) in [
                ("proven", reading.windows.proven), ("unproven", reading.windows.unproven),
                ("refused", reading.windows.refused),
            ] {
                samples.append(MetricSample("storehook_history_windows", place + [("state", state)], Double(count)))
            }
        }
        for reading in (await posted.value ?? nil) ?? [] {
            samples.append(
                MetricSample(
                    "storehook_canary_missing_seconds",
                    [("app", reading.app), ("environment", reading.environment)], reading.missing / .seconds(1)))
        }
        for reading in (await extending.value ?? nil) ?? [] {
            let place = [
                ("app", reading.app), ("environment", reading.environment), ("kind", reading.kind),
                ("state", reading.state),
            ]
            samples.append(MetricSample("storehook_extensions_open", place, Double(reading.count)))
            samples.append(
                MetricSample("storehook_extensions_oldest_age_seconds", place, reading.oldestAge / .seconds(1)))
        }
        samples += Self.samples(of: (await requested.value ?? nil) ?? [])
        if let reading = await told.value ?? nil {
            samples.append(MetricSample("storehook_events_unplaced", [], Double(reading.unplaced)))
            samples.append(MetricSample("storehook_events_due_seconds", [], reading.dueFor / .seconds(1)))
        }
        samples += ((await delivered.value ?? nil) ?? []).flatMap(\.samples)
        if let fits = await fits.value { samples.append(MetricSample("storehook_schema_mismatch", [], fits ? 0 : 1)) }
        return (Exposition.contentType, registry.exposition(with: samples))
    }
    private static func samples(of readings: [ConsumptionReading]) -> [MetricSample] {
        let open = Dictionary(grouping: readings, by: \.environment).sorted { $0.key < $1.key }.map {
            environment, readings in
            MetricSample(
                "storehook_consumption_open", [("environment", environment)],
                Double(readings.reduce(0) { $0 + $1.open }))
        }
        return open
            + readings.compactMap { reading in
                reading.timeLeft.map { left in
                    MetricSample(
                        "storehook_consumption_deadline_seconds",
                        [("app", reading.app), ("environment", reading.environment)], left / .seconds(1))
                }
            }
    }
}
