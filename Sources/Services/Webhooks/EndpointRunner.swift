import Base
import EventStore
import EvidenceStore
import Foundation
import Logging
import Postgres
import Synchronization

/// Delivers to one endpoint while it has due deliveries: claims lanes, makes their calls concurrently, up to
/// the endpoint's limit, and settles finished ones together. Each endpoint has its own runner, so that none
/// waits for another.
final class EndpointRunner: Sendable {
    private let endpointID: Int64
    private let store: EndpointStore
    private let caller: EndpointCaller
    private let configuration: WebhookConfiguration
    private let logger: Logger
    private let metrics: WebhookMetrics
    private let finished = FinishedLanes()
    /// The endpoint as known at present; nil where it is no longer called.
    private let current: @Sendable () -> EndpointStore.Callable?
    /// Called when the known state of the endpoint is outdated.
    private let onChange: @Sendable () -> Void
    private let floor = Mutex(ClaimFloor())

    /// How many events of a lane are claimed at a time.
    private static let perLane = 8
    /// The approximate shortest time between two requests for the rate's allowance.
    private static let rateInterval = Duration.milliseconds(50)
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(50), upTo: .seconds(2))

    init(
        _ endpointID: Int64, store: EndpointStore, caller: EndpointCaller, configuration: WebhookConfiguration,
        logger: Logger, metrics: WebhookMetrics, current: @escaping @Sendable () -> EndpointStore.Callable?,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.endpointID = endpointID
        self.store = store
        self.caller = caller
        self.configuration = configuration
        var logger = logger
        logger[metadataKey: "endpoint"] = "\(endpointID)"
        self.logger = logger
        self.metrics = metrics
        self.current = current
        self.onChange = onChange
    }

    /// Wakes it: there may be more to do.
    func wake() { finished.signal.wake() }

    /// Begins no further call; calls under way are finished and settled.
    func stop() { finished.stop() }

    /// Works until nothing is left to do now, or until it is stopped.
    func run() async {
        await withDiscardingTaskGroup { group in
            var inFlight = 0
            // When to request allowance again.
            var asksAt: ContinuousClock.Instant?
            while true {
                let results = finished.take()
                if !results.isEmpty {
                    inFlight -= results.count
                    await settle(results)
                }
                var claimed = 0
                if !finished.isStopped, !Task.isCancelled, let callable = current(),
                    !callable.secrets.isEmpty
                {
                    let capacity = callable.endpoint.state == .paused ? 1 : callable.endpoint.inFlight
                    if inFlight == 0 || capacity - inFlight >= max(1, capacity / 4), asksAt ?? .now <= .now {
                        let pause: Duration?
                        (claimed, pause) = await begin(callable, upTo: capacity - inFlight, in: &group)
                        asksAt = pause.map { .now + $0 }
                        inFlight += claimed
                    }
                } else {
                    asksAt = nil
                }
                guard inFlight > 0 || asksAt != nil else { return }
                let pause = asksAt.map { $0 - .now } ?? .seconds(1)
                if pause > .zero || inFlight > 0 {
                    await finished.signal.wait(atMost: pause > .zero ? min(pause, .seconds(1)) : .seconds(1))
                }
            }
        }
    }

    /// Claims lanes and begins their calls.
    /// - Returns: how many lanes; and, if the rate is the limit, how long until allowance is to be requested again.
    private func begin(
        _ callable: EndpointStore.Callable, upTo free: Int, in group: inout DiscardingTaskGroup
    ) async -> (Int, Duration?) {
        guard free > 0 else { return (0, nil) }
        do {
            var (limit, pause): (Int, Duration?) = (free, nil)
            if let rate = callable.endpoint.rate {
                limit = try await store.takeAllowance(free, of: endpointID, rate: rate)
                if limit < free {
                    // Allowance that accrues meanwhile is not lost, and taking it in bulk costs less than one by one.
                    pause =
                        max(.seconds(1) / Double(rate), Self.rateInterval) * Double.random(in: 0.5...1)
                        + .milliseconds(2)
                }
                if limit == 0 { return (0, pause) }
            }
            let isProbe = callable.endpoint.state == .paused
            let lease = Lease(owner: configuration.name, duration: configuration.lease)
            let seen = ContinuousClock.now
            let batch =
                isProbe
                ? try await store.claimProbe(of: endpointID, for: lease)
                : try await store.claim(
                    limit, of: endpointID, for: lease, from: floor.withLock { $0.next() },
                    perLane: callable.endpoint.rate == nil ? Self.perLane : 1)
            guard let batch else { return (0, nil) }
            if !isProbe { floor.withLock { $0.learn(from: batch) } }
            guard let claimedAt = batch.claimedAt else { return (0, nil) }
            for row in batch.rows {
                let work = LaneWork(
                    row: row, token: batch.token, leaseEnd: batch.leaseEnd,
                    clock: DatabaseClock(claimedAt, seen: seen), callable: callable, current: current,
                    isProbe: isProbe, caller: caller, schedule: configuration.schedule, metrics: metrics,
                    isStopped: { [finished] in finished.isStopped })
                group.addTask { [finished] in finished.add(await work.run()) }
            }
            return (batch.rows.count, batch.rows.count < limit ? nil : pause)
        } catch {
            if !Task.isCancelled {
                logger.warning("Cannot claim deliveries; trying on", metadata: ["error": "\(error)"])
            }
            return (0, nil)
        }
    }

    /// Settles together what was claimed together.
    private func settle(_ results: [LaneWork.Result]) async {
        for (token, part) in Dictionary(grouping: results, by: \.token) {
            await settle(part, token)
        }
    }

    private func settle(_ results: [LaneWork.Result], _ token: UUID) async {
        let lanes = results.map(\.outcome)
        let news = results.map(\.news).reduce(EndpointNews(), +)
        let end = results.map(\.leaseEnd).min() ?? .now
        var failures = 0
        while true {
            do {
                let settled = try await store.settle(
                    lanes, of: endpointID, token: token, news, idleTimeout: configuration.lease)
                if settled.held.count < lanes.count {
                    logger.warning(
                        "Lost the lease on deliveries; they are made again",
                        metadata: ["lanes": "\(lanes.count - settled.held.count)"])
                }
                if settled.change != nil { onChange() }
                say(settled.change, news)
                return
            } catch let error as PostgresError where error.isTransient && ContinuousClock.now < end {
                failures += 1
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch {
                logger.warning(
                    "Could not record what became of deliveries; they are made again when their lease ends",
                    metadata: ["error": "\(error)", "lanes": "\(lanes.count)"])
                return
            }
        }
    }

    private func say(_ change: EndpointStore.Change?, _ news: EndpointNews) {
        let metadata: Logger.Metadata = ["last_failure": "\(news.lastFailure ?? "")"]
        switch change {
        case nil: break
        case .paused:
            logger.warning(
                "An endpoint fails again and again: it is only probed, and its events wait", metadata: metadata)
        case .resumed: logger.notice("An endpoint is back: it catches up")
        case .disabled:
            logger.error(
                "An endpoint has failed for days and is disabled; its events wait: see storehook endpoints enable",
                metadata: metadata)
        case .gone:
            logger.error("An endpoint answered 410, that it is gone, and is disabled: see storehook endpoints enable")
        }
    }
}
