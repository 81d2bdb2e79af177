/// What came back of a test event, as people and scripts see it.
package struct EndpointTrialAnswer: Encodable, Sendable {
    private let endpoint: Int64
    private let webhookId: String
    private let delivered: Bool
    private let outcome: String
    private let status: Int?
    private let milliseconds: Int64
    private let message: String

    /// An answer.
    /// - Parameters:
    ///   - outcome: in a word.
    ///   - text: for people.
    package init(
        endpoint: Int64, webhookID: String, outcome: String, text: String, status: Int?, duration: Duration,
        isDelivered: Bool
    ) {
        self.endpoint = endpoint
        webhookId = webhookID
        delivered = isDelivered
        self.outcome = outcome
        self.status = status
        milliseconds = Int64(duration / .milliseconds(1))
        message = text
    }

    /// For people.
    package var text: String {
        "\(delivered ? "delivered" : "not delivered"): endpoint \(endpoint) \(message) (\(webhookId), \(milliseconds) ms)"
    }
}
