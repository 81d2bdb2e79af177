import EventStore

extension EndpointTrial {
    /// What came of a test that a member of the staff has asked for.
    /// - Throws: `PostgresError`.
    static func outcome(
        of asked: AskedTrial, _ store: EndpointStore, _ events: EventStore, _ key: SecretKey, _ caller: EndpointCaller
    ) async throws -> AskedTrial.Outcome {
        func none(_ code: String, _ message: String) -> AskedTrial.Outcome {
            AskedTrial.Outcome(
                webhookID: nil, isDelivered: false, code: code, status: nil, milliseconds: nil, message: message)
        }
        var past: PlacedEvent?
        if let id = asked.eventID {
            past = try await events.event(id)
            if past == nil { return none("event_gone", "the event is no longer kept") }
        }
        do {
            guard let trial = try await EndpointTrial(of: asked.endpointID, sending: past, store, key, caller) else {
                return none("endpoint_gone", "the endpoint was removed")
            }
            return AskedTrial.Outcome(
                webhookID: trial.webhookID, isDelivered: trial.outcome.isSuccess, code: trial.outcome.code,
                status: trial.outcome.status, milliseconds: Int64(trial.duration / .milliseconds(1)),
                message: trial.outcome.text)
        } catch is UnreadableSecret {
            return none("unsigned", "the endpoint's secret was encrypted with another key than the workers have")
        }
    }
}
