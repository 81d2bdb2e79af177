import AppStorePayloads
import Base
package import EventStore
import Events
import Postgres
import PurchaseStore

/// A test event, or a past event as a test, posted to an endpoint at once and once, whatever its state, with the outcome. Nothing of it
/// is recorded: neither the endpoint's health nor what it was sent last depends on it.
package struct EndpointTrial: Sendable {
    /// The event's id for receivers.
    package let webhookID: String
    /// The outcome.
    package let outcome: CallOutcome
    /// How long that took.
    package let duration: Duration

    /// Posts; nil where there is no such endpoint.
    /// - Parameter event: a past event, whatever the endpoint's filter; nil for a test event.
    /// - Throws: `UnreadableSecret`, `PostgresError`.
    package init?(
        of id: Int64, sending event: PlacedEvent? = nil, _ store: EndpointStore, _ key: SecretKey,
        _ caller: EndpointCaller
    ) async throws {
        guard let callable = try await store.callable(id, key) else { return nil }
        let (number, now) = try await store.nextTest()
        let body: String
        if let event {
            (webhookID, body) = (event.name, event.replayed)
        } else {
            webhookID = Delivery.webhookID(number)
            let filter = callable.endpoint.filter
            let draft = EventDraft.test(
                environment: filter.environment ?? "Production", bundleID: filter.bundleID, at: Timestamp(now))
            body = Event(draft, account: nil, version: nil, sequence: 1).json(previousSequence: nil)
        }
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
