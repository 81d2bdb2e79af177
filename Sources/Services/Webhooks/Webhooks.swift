package import EndpointStore
import Foundation
package import Logging
package import Postgres
import Queue
import ServiceLifecycle
import Synchronization

/// Delivers events to endpoints, until it is told to stop.
///
/// Looks at what there is to do, deals events out, and runs one ``EndpointRunner`` for each endpoint that something is to be sent to now.
/// Any number of workers do this side by side: they share nothing but the database.
package final class Webhooks: Service {
    private let store: EndpointStore
    private let key: SecretKey
    private let caller: EndpointCaller
    private let listener: PostgresListener?
    private let configuration: WebhookConfiguration
    private let logger: Logger
    private let metrics: WebhookMetrics
    private let signal = WorkSignal()
    private let state = Mutex(State())

    private struct State {
        var endpoints: [Int64: EndpointStore.Callable] = [:]
        var readAt: ContinuousClock.Instant?
        var runners: [Int64: EndpointRunner] = [:]
        var unreadable: Set<Int64> = []
    }

    /// On which it is said that events have got their places: see `EventStore`.
    package static let channel = "storehook_events"
    /// How old what is known of endpoints may be.
    private static let age = Duration.seconds(1)
    /// Events dealt out to an endpoint at a time, and how often in a row before the others have their turn.
    private static let portion = 500
    private static let portions = 8
    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5))

    /// Deliveries.
    /// - Parameters:
    ///   - pool: some connections of its own, so that endpoints keep no other work waiting.
    ///   - key: what the endpoints' secrets are encrypted with.
    ///   - listener: hears of new events at once; without it they are looked for.
    package init(
        pool: PostgresPool, key: SecretKey, caller: EndpointCaller, listener: PostgresListener?,
        configuration: WebhookConfiguration, logger: Logger, metrics: WebhookMetrics
    ) {
        store = EndpointStore(pool)
        self.key = key
        self.caller = caller
        self.listener = listener
        self.configuration = configuration
        self.logger = logger
        self.metrics = metrics
    }

    /// Works until graceful shutdown: then no further call is begun, and those under way are finished and recorded.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                if let listener {
                    group.addTask { for await _ in listener.wakeUps { self.signal.wake() } }
                }
                await withDiscardingTaskGroup { runners in await dispatch(in: &runners) }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.signal.stop()
            for runner in self.state.withLock({ Array($0.runners.values) }) { runner.stop() }
        }
        await caller.shutdown()
    }

    private func dispatch(in runners: inout DiscardingTaskGroup) async {
        var failures = 0
        while !signal.isStopped, !Task.isCancelled {
            let begun = ContinuousClock.now
            do {
                let isBusy = try await look(in: &runners)
                failures = 0
                // With very many endpoints a look costs something.
                let pause =
                    isBusy
                    ? max(configuration.busyInterval, (ContinuousClock.now - begun) * 4)
                    : configuration.pollInterval * Double.random(in: 0.5...1)
                await signal.wait(atMost: pause)
            } catch {
                failures += 1
                if failures == 1, !Task.isCancelled {
                    logger.warning("Cannot look for deliveries; trying on", metadata: ["error": "\(error)"])
                }
                await signal.rest(for: Self.backoff.pause(afterFailures: failures))
            }
        }
        for runner in state.withLock({ Array($0.runners.values) }) { runner.stop() }
    }

    /// - Returns: whether there was something to do.
    private func look(in runners: inout DiscardingTaskGroup) async throws -> Bool {
        let needs = try await store.needs()
        try await readEndpoints()
        for need in needs where need.isDue { start(need.endpointID, in: &runners) }
        var isBusy = false
        for need in needs where need.isBehind {
            if signal.isStopped { break }
            var lanes = 0
            for _ in 0..<Self.portions {
                let dealt = try await store.deal(need.endpointID, atMost: Self.portion)
                metrics.dealt(dealt.events)
                lanes += dealt.lanes
                if dealt.events > 0 { isBusy = true }
                guard dealt.events > 0 else { break }
            }
            if lanes > 0 {
                isBusy = true
                start(need.endpointID, in: &runners)
            }
        }
        return isBusy || state.withLock { !$0.runners.isEmpty }
    }

    /// What changes of an endpoint is heeded within a second.
    private func readEndpoints() async throws {
        if let readAt = state.withLock(\.readAt), .now - readAt < Self.age { return }
        let found = try await store.callable(key)
        let unreadable = Set(found.filter(\.secrets.isEmpty).map(\.endpoint.id))
        let new = state.withLock { state in
            state.endpoints = Dictionary(found.map { ($0.endpoint.id, $0) }) { first, _ in first }
            state.readAt = .now
            defer { state.unreadable = unreadable }
            return unreadable.subtracting(state.unreadable)
        }
        for callable in found { metrics.know(callable.endpoint.id) }
        for id in new.sorted() {
            logger.error("Nothing is delivered: \(UnreadableSecret(endpointID: id))", metadata: ["endpoint": "\(id)"])
        }
    }

    /// Runs an endpoint's runner, or tells the one that runs that there is more.
    private func start(_ id: Int64, in runners: inout DiscardingTaskGroup) {
        let (running, made): (EndpointRunner?, EndpointRunner?) = state.withLock { state in
            if let runner = state.runners[id] { return (runner, nil) }
            guard state.endpoints[id]?.secrets.isEmpty == false else { return (nil, nil) }
            let runner = EndpointRunner(
                id, store: store, caller: caller, configuration: configuration, logger: logger, metrics: metrics,
                current: { [weak self] in self?.state.withLock { $0.endpoints[id] } },
                onChange: { [weak self] in
                    self?.state.withLock { $0.readAt = nil }
                    self?.signal.wake()
                })
            state.runners[id] = runner
            return (nil, runner)
        }
        running?.wake()
        guard let made else { return }
        if signal.isStopped { made.stop() }
        runners.addTask {
            await made.run()
            self.state.withLock { $0.runners[id] = nil }
        }
    }
}
