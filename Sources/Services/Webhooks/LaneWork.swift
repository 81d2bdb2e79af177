import AppStorePayloads
import Base
import EventStore
import Events
import EvidenceStore
import Foundation
import Postgres
import PurchaseStore

/// A claimed lane: its deliveries are made one after the other, until one fails.
struct LaneWork: Sendable {
    /// The lane's outcome.
    struct Result: Sendable {
        var token: UUID
        var leaseEnd: ContinuousClock.Instant
        var outcome: LaneOutcome
        var news: EndpointNews
    }

    let row: ClaimedRow<[Delivery]>
    let token: UUID
    let leaseEnd: ContinuousClock.Instant
    let clock: DatabaseClock
    let callable: EndpointStore.Callable
    /// The endpoint as known at present; nil where it is no longer called.
    let current: @Sendable () -> EndpointStore.Callable?
    let isProbe: Bool
    let caller: EndpointCaller
    let schedule: RetrySchedule
    let metrics: WebhookMetrics
    /// Whether no further delivery is to be begun.
    let isStopped: @Sendable () -> Bool

    /// What must be left of a lease when a call begins: the longest time of a call, and of settling it.
    private static let reserve = Duration.seconds(20)

    func run() async -> Result {
        var outcome = LaneOutcome(laneID: row.id, ends: [], retry: nil)
        var news = EndpointNews()
        news.isProbe = isProbe
        // A worker's crash is not an answer of the endpoint's.
        var attempts = max(row.attempts - row.lapses, 1)
        var callable = callable
        for (place, delivery) in row.content.enumerated() {
            if place > 0 {
                if isStopped() || leaseEnd - .now < Self.reserve { break }
                // It may have been disabled or removed, or its secret replaced, since the lane was claimed.
                guard let present = current(), !present.secrets.isEmpty else { break }
                callable = present
            }
            guard let body = delivery.body else {
                outcome.ends.append(
                    .init(deliveryID: delivery.id, attempts: attempts - 1, status: nil, reason: "event_dropped"))
                metrics.count(.dead, callable.endpoint.id)
                continue
            }
            let began = clock.now
            let (answer, duration) = await call(callable, body, delivery)
            if answer.isSuccess || !Task.isCancelled {
                outcome.attempts.append(
                    .init(
                        deliveryID: delivery.id, eventID: delivery.eventID, at: began, duration: duration,
                        code: answer.code, status: answer.status, answer: answer.answer))
            }
            if answer.isSuccess {
                outcome.ends.append(
                    .init(deliveryID: delivery.id, attempts: attempts, status: answer.status, reason: nil))
                news.successes += 1
                metrics.count(.delivered, callable.endpoint.id)
                if !delivery.isResent { metrics.delivered(toldAt: delivery.toldAt, now: clock.now) }
                attempts = 1
                continue
            }
            if Task.isCancelled {
                // The worker was stopped; the endpoint did not fail.
                outcome.retry = .init(delay: .zero, attempts: attempts - 1, lapses: 0, reason: "stopped")
                break
            }
            news.failures += 1
            if !answer.isAboutEvent { news.faults += 1 }
            news.lastFailure = answer.text
            metrics.count(.failed, callable.endpoint.id)
            let wish = wish(answer, &news)
            if case .answered(410, _, _) = answer { news.isGone = true }
            // A probe of a paused endpoint, or its 410, is not about this event.
            let isUncounted = isProbe || news.isGone
            if place == 0, let left = clock.left(until: delivery.scheduledAt) {
                outcome.retry = .init(
                    delay: max(left, RetrySchedule.heeded(wish)), attempts: attempts - 1, lapses: 0,
                    reason: answer.code,
                    wasEarly: !isProbe)
            } else if let pause = schedule.pause(afterFailures: isUncounted ? 1 : attempts, wish: wish) {
                outcome.retry = .init(
                    delay: pause, attempts: isUncounted ? attempts - 1 : attempts, lapses: 0, reason: answer.code)
            } else {
                outcome.ends.append(
                    .init(deliveryID: delivery.id, attempts: attempts, status: answer.status, reason: answer.code))
                metrics.count(.dead, callable.endpoint.id)
            }
            break
        }
        return Result(token: token, leaseEnd: leaseEnd, outcome: outcome, news: news)
    }

    /// Posts a body.
    /// - Returns: what came of it, and how long that took.
    private func call(
        _ callable: EndpointStore.Callable, _ body: String, _ delivery: Delivery
    ) async -> (CallOutcome, Duration) {
        guard
            let signature = WebhookSignature(
                Array(body.utf8), id: delivery.webhookID, at: Timestamp(clock.now), secrets: callable.secrets)
        else { return (.failed(.unsigned), .zero) }
        let begun = ContinuousClock.now
        let answer = await caller.post(
            body, to: callable.endpoint.url, of: callable.endpoint.id, headers: signature.headers)
        let duration = ContinuousClock.now - begun
        metrics.called(duration)
        return (answer, duration)
    }

    /// The delay that the endpoint asks for: 429 and 503 apply to all of its deliveries.
    private func wish(_ answer: CallOutcome, _ news: inout EndpointNews) -> Duration? {
        let now = Timestamp(clock.now)
        guard case .answered(let status, let header, _) = answer,
            let wait = RetryAfter(header, now: now)?.wait(from: now)
        else { return nil }
        if status == 429 || status == 503 { news.rest = min(wait, Self.longestRest) }
        return wait
    }

    /// The longest rest that one answer can ask for: a probe a minute is no burden.
    private static let longestRest = Duration.seconds(300)
}

/// The database's clock, between two looks at it.
struct DatabaseClock: Sendable {
    private let at: PostgresTimestamp
    private let seen: ContinuousClock.Instant

    init(_ at: PostgresTimestamp, seen: ContinuousClock.Instant = .now) {
        self.at = at
        self.seen = seen
    }

    var now: PostgresTimestamp { at.adding(.now - seen) }

    /// How long it is until an instant; nil where that is past or unknown.
    func left(until instant: PostgresTimestamp?) -> Duration? {
        let left = instant.map { $0.microsecondsSince1970 - now.microsecondsSince1970 } ?? 0
        return left > 0 ? .microseconds(left) : nil
    }
}
