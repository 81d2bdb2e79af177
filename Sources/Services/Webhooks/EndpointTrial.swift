import AppStorePayloads
import Base
package import EventStore
import Events
import Postgres
import PurchaseStore

/// A test event, posted to an endpoint at once and once, whatever its state, with the outcome.
package struct EndpointTrial: Sendable {
    /// The event's id for receivers.
    package let webhookID: String
    /// The outcome.
    package let outcome: CallOutcome
    /// How long that took.
    package let duration: Duration

    /// Posts; nil where there is no such endpoint.
    /// - Throws: `UnreadableSecret`, `PostgresError`.
    package init?(of id: Int64, _ store: EndpointStore, _ key: SecretKey, _ caller: EndpointCaller) async throws {
        guard let callable = try await store.callable(id, key) else { return nil }
        let (number, now) = try await store.nextTest()
        webhookID = Delivery.webhookID(number)
        let filter = callable.endpoint.filter
        let draft = EventDraft.test(
            environment: filter.environment ?? "Production", bundleID: filter.bundleID, at: Timestamp(now))
        let body = Event(draft, account: nil, version: nil, sequence: 1).json(previousSequence: nil)
        let begun = ContinuousClock.now
        guard
            let signature = WebhookSignature(
                Array(body.utf8), id: webhookID, at: Timestamp(now), secrets: callable.secrets)
        else {
            outcome = .failed(.unsigned)
            duration = .zero
            return
        }
        outcome = await caller.post(body, to: callable.endpoint.url, of: id, headers: signature.headers)
        duration = .now - begun
    }
}
