import Base
package import EventStore
import EvidenceStore
import Foundation
package import Logging
package import Postgres
import ServiceLifecycle
import Synchronization

/// Delivers events to endpoints, until it is stopped.
///
/// Looks for work, fans events out, and runs one ``EndpointRunner`` for each endpoint with due deliveries. Any number
/// of workers do this side by side: they share nothing but the database.
package final class Webhooks: Service {
    private let store: EndpointStore
    private let events: EventStore
    private let key: SecretKey
    private let caller: EndpointCaller
    private let listener: PostgresListener?
    private let configuration: WebhookConfiguration
    private let logger: Logger
    private let metrics: WebhookMetrics
    private let signal = WorkSignal()
    private let state = Mutex(State())

    private struct State {
        /// Endpoints that have enough due deliveries, or whose fan-out failed, and until when they are left alone.
        var leftAlone: [Int64: ContinuousClock.Instant] = [:]
        var endpoints: [Int64: EndpointStore.Callable] = [:]
        var readAt: ContinuousClock.Instant?
        var runners: [Int64: EndpointRunner] = [:]
        var unreadable: Set<Int64> = []
        /// Where each endpoint's next claim of lanes begins.
        var floors: [Int64: ClaimFloor] = [:]
        /// How often in a row each endpoint's fan-out failed.
        var undealt: [Int64: Int] = [:]
    }

    /// The channel that announces placed events: see `EventStore`.
    package static let channel = "storehook_events"
    /// The greatest age of what is known about endpoints.
    private static let age = Duration.seconds(1)
    /// How many events are fanned out to an endpoint at a time, and how often in a row before it is the others' turn.
    private static let portion = 500
    private static let portions = 8
    /// How many tests that the staff asks for are begun at a time.
    private static let trials = 4
    /// How long an endpoint with enough due deliveries is left alone: delivering them takes longer.
    private static let fullFor = Duration.milliseconds(500)
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(100), upTo: .seconds(5))

    /// Deliveries.
    /// - Parameters:
    ///   - pool: some connections of its own, so that endpoints do not delay other work.
    ///   - key: the key of the endpoints' encrypted secrets.
    ///   - listener: signals new events at once; without it they are polled for.
    package init(
        pool: PostgresPool, key: SecretKey, caller: EndpointCaller, listener: PostgresListener?,
        configuration: WebhookConfiguration, logger: Logger, metrics: WebhookMetrics
    ) {
        store = EndpointStore(pool)
        events = EventStore(pool)
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
                // With very many endpoints a look is expensive.
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
        let floors = state.withLock { state in
            var floors: [Int64: PostgresTimestamp] = [:]
            for id in state.floors.keys { floors[id] = state.floors[id]?.next() }
            return floors
        }
        let needs = try await store.needs(from: floors)
        state.withLock { state in
            let known = state.floors
            state.floors = [:]
            for need in needs {
                state.floors[need.endpointID] = known[need.endpointID] ?? ClaimFloor()
                state.floors[need.endpointID]?.learn(need.floor)
            }
        }
        try await readEndpoints()
        for asked in try await store.takeTrials(atMost: Self.trials) { runners.addTask { await self.make(asked) } }
        for need in needs where need.isDue { start(need.endpointID, in: &runners) }
        let isBusy = await deal(to: needs.filter(\.isBehind).map(\.endpointID), in: &runners)
        return isBusy || state.withLock { !$0.runners.isEmpty }
    }

    /// Fans out in turns, so that an endpoint that has missed much does not delay others: a portion to each, and again
    /// as long as nothing new has come meanwhile.
    /// - Returns: whether there was something to fan out.
    private func deal(to endpoints: [Int64], in runners: inout DiscardingTaskGroup) async -> Bool {
        let leftAlone = state.withLock { state in
            state.leftAlone = state.leftAlone.filter { $0.value > .now }
            return Set(state.leftAlone.keys)
        }
        var (behind, isBusy) = (endpoints.filter { !leftAlone.contains($0) }, false)
        for turn in 0..<Self.portions where !behind.isEmpty && (turn == 0 || !signal.isWoken) {
            var still: [Int64] = []
            for id in behind {
                if signal.isStopped { return isBusy }
                var lanes = 0
                do {
                    let dealt = try await store.deal(id, atMost: Self.portion)
                    lanes += dealt.lanes
                    metrics.dealt(dealt.events)
                    if dealt.events > 0 { isBusy = true }
                    state.withLock { state in
                        state.undealt[id] = nil
                        if dealt.isFull { state.leftAlone[id] = .now + Self.fullFor }
                    }
                    if dealt.events == Self.portion {
                        still.append(id)
                    } else if dealt.events > 0 {
                        // The fan-out is committed, and can be claimed after this.
                        let more = try await store.deal(id, atMost: Self.portion)
                        metrics.dealt(more.events)
                        lanes += more.lanes
                        if more.events > 0 { still.append(id) }
                    }
                } catch {
                    leaveAlone(id, error)
                }
                if lanes > 0 {
                    isBusy = true
                    start(id, in: &runners)
                }
            }
            behind = still
        }
        return isBusy
    }

    /// A failed fan-out to one endpoint does not delay others; an unreachable database is reported by
    /// the look for work.
    private func leaveAlone(_ id: Int64, _ error: any Error) {
        if Task.isCancelled { return }
        let failures = state.withLock { state in
            let failures = (state.undealt[id] ?? 0) + 1
            state.undealt[id] = failures
            state.leftAlone[id] = .now + Self.backoff.pause(afterFailures: failures)
            return failures
        }
        guard failures == 1 else { return }
        logger.warning(
            "Cannot deal events out to an endpoint; trying on", metadata: ["error": "\(error)", "endpoint": "\(id)"])
    }

    /// Makes a test that the staff has asked for.
    private func make(_ asked: AskedTrial) async {
        do {
            try await store.settle(asked, try await EndpointTrial.outcome(of: asked, store, events, key, caller))
        } catch {
            if Task.isCancelled { return }
            logger.warning(
                "Cannot test an endpoint", metadata: ["error": "\(error)", "endpoint": "\(asked.endpointID)"])
        }
    }

    /// Changes of an endpoint take effect within a second.
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

    /// Runs an endpoint's runner, or wakes the one that runs.
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
