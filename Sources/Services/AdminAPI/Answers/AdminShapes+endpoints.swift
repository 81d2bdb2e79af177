import Base
import EventStore
import Postgres

extension AdminShapes {
    /// Where events are posted to.
    static let endpoint = Shape<ShownAdminEndpoint, Void>(
        "Endpoint",
        [
            .init("id") { $0.endpoint.id }, .init("url") { $0.endpoint.url },
            .init("bundleId", "Whose events it gets; null for those of all apps.") { $0.endpoint.filter.bundleID },
            .init("environment", "Null for all.") { $0.endpoint.filter.environment },
            .init("kinds", "Null for all.") { $0.endpoint.filter.kinds },
            .init("rate", "The most deliveries a second.") { $0.endpoint.rate },
            .init("inFlight", "The most deliveries at once, by each worker.") { $0.endpoint.inFlight },
            .init("state", endpointStates) { .string($0.endpoint.state.rawValue) },
            .init(
                "reason", "Why it is disabled: gone, failing, or a person's words, which are shortened unless opened."
            ) {
                $0.reason
            },
            .init("createdAt") { Timestamp($0.endpoint.createdAt) }, .init("createdBy") { $0.endpoint.createdBy },
            .init("formerSecretEndsAt", "Until when a former secret signs as well.") {
                $0.endpoint.formerSecretEndsAt.map { Timestamp($0) }
            },
            .init("failures", "Calls that failed since the last one that succeeded.") { $0.endpoint.failures },
            .init("failingSince") { $0.endpoint.failingSince.map { Timestamp($0) } },
            .init("lastFailure") { $0.endpoint.failures == 0 ? nil : $0.endpoint.lastFailure },
            .init("pausedAt") { $0.endpoint.pausedAt.map { Timestamp($0) } },
            .init("waitingAccounts", "Accounts and purchases with an event that waits for it; 10,000 at most.") {
                $0.standing?.lanes
            },
            .init("hasMoreWaiting", "Whether there are more than that.") { $0.standing?.hasMoreLanes },
            .init("behind", "Events that are not dealt out to it yet.") { $0.standing?.behind },
            .init("oldestAgeSeconds", "The age of the oldest event that waits.") {
                ($0.standing?.oldestAge).map { Int64($0 / .seconds(1)) }
            },
            .init("dead", "Deliveries that were given up and not put back; 10,000 at most.") { $0.standing?.dead },
            .init("hasMoreDead", "Whether there are more than that.") { $0.standing?.hasMoreDead },
        ])

    /// Whether an endpoint is called.
    static let endpointStates = ValueSchema.choice(Endpoint.State.allCases.map(\.rawValue))

    /// An event's delivery.
    static let delivery = Shape<ShownDelivery, Void>(
        "Delivery",
        [
            .init("id") { $0.record.id },
            .init("event", "By what receivers know it.") { Delivery.webhookID($0.record.eventID) },
            .init("type", "Null where the event is no longer kept.") { $0.record.kind },
            .init("endpoint") { $0.record.endpointID },
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") { $0.name },
            .init("appAccountToken") { $0.record.token },
            .init("originalTransactionId") { $0.record.originalTransactionID },
            .init("bundleId") { $0.record.bundleID }, .init("environment") { $0.record.environment },
            .init("sequence", "The event's number in its order.") { $0.record.sequence },
            .init("writtenAt", "When the event was written.") { Timestamp($0.record.toldAt) },
            .init("outcome", .choice(DeliveryRecord.Outcome.allCases.map(\.rawValue))) {
                .string($0.record.outcome.rawValue)
            },
            .init("attempts", "Null for an instant without calls on record.") {
                $0.record.isDated ? $0.record.attempts : nil
            },
            .init("status", "Of the last answer.") { $0.record.status },
            .init("reason", "Why it was given up, or put off.") { $0.record.reason },
            .init("endedAt") { $0.record.endedAt.map { Timestamp($0) } },
            .init("nextAttemptAt") { $0.record.dueAt.map { Timestamp($0) } },
            .init("resentAt", "When one that was given up was put back.") { $0.record.resentAt.map { Timestamp($0) } },
        ])

    /// A delivery by itself.
    static let deliveryDetail = delivery.after([], named: "DeliveryDetail") { (detail: ShownDeliveryDetail) in
        detail.shown
    }
    .changed(
        named: "DeliveryDetail",
        adding: [
            .list(
                "history", deliveryCall, about: "The calls that were made for it, the first first; the latest hundred."
            ) {
                $0.calls
            }
        ])

    private static let deliveryCall = Shape<ShownDeliveryDetail.Call, Void>(
        "DeliveryCall",
        [
            .init("at", "When it began.") { Timestamp($0.attempt.at) },
            .init("milliseconds", "How long it took.") { $0.attempt.milliseconds },
            .init("outcome", "A stable code: http_200, timeout, refused_address.") { $0.attempt.code },
            .init("status", "The answer's; null where there was none.") { $0.attempt.status },
            .init(
                "answer",
                "The beginning of what the endpoint said, up to 4 KiB, as text that nobody vouches for; shortened unless it is opened."
            ) {
                $0.answer
            },
        ])

    /// An endpoint by itself.
    static let endpointDetail = endpoint.after([], named: "EndpointDetail") {
        (detail: (shown: ShownAdminEndpoint, recent: RecentDeliveries, secrets: EndpointSecrets)) in detail.shown
    }
    .changed(
        named: "EndpointDetail",
        adding: [
            .init("recentDelivered", "Deliveries that arrived in the last 24 hours.") { $0.recent.delivered },
            .init("recentDead", "Deliveries that were given up in that time.") { $0.recent.dead },
            .init("recentShare", "How many of these arrived, in thousandths of a percent; null without any.") {
                $0.recent.share
            },
            .init(
                "recentIsMore", "Whether there are more than were looked through: the latest 20,000 of all endpoints."
            ) {
                $0.recent.isMore
            },
            .init(
                "newSecrets", EndpointSecrets.words,
                "Whether it can be given a new secret from here: made; no_key, where the console has none; unusable_key, where it cannot use the one that its settings name."
            ) { .string($0.secrets.word) },
        ])

    /// An endpoint with the secret that it was given.
    static let rotatedEndpoint = endpoint.after([], named: "RotatedEndpoint") {
        (rotated: (shown: ShownAdminEndpoint, secret: String?)) in rotated.shown
    }
    .changed(
        named: "RotatedEndpoint",
        adding: [
            .init(
                "secret", "The new one, shown once: whsec_ and base64. Null of a dry run, and then nothing is changed."
            ) {
                $0.secret
            }
        ])

    /// What a test came to.
    static let endpointTrial = Shape<AskedTrial, Void>(
        "EndpointTrial",
        [
            .init("id", "Its number.") { $0.id }, .init("endpoint") { $0.endpointID },
            .init("event", "By what the receiver knows it; null until it was posted.") { $0.outcome?.webhookID },
            .init("delivered", "Whether the endpoint accepted it; null until a worker is through.") {
                $0.outcome?.isDelivered
            },
            .init("outcome", "A stable code: http_200, timeout, refused_address, unsigned, event_gone.") {
                $0.outcome?.code
            },
            .init("status", "The answer's.") { $0.outcome?.status },
            .init("milliseconds") { $0.outcome?.milliseconds },
            .init("message", "The same for people.") { $0.outcome?.message },
        ])

    /// A delivery that was sent again.
    static let resentDelivery = delivery.after([], named: "ResentDelivery") {
        (resent: (shown: ShownDelivery, isDone: Bool)) in resent.shown
    }
    .changed(
        named: "ResentDelivery",
        adding: [.init("isResent", "False of a dry run, which has found nothing against it.") { $0.isDone }])
}
