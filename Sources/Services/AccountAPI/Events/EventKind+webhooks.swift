package import APIKit
package import Events

extension EventKind {
    /// What is posted to endpoints, one entry a kind.
    package static var webhooks: [APIWebhook] { allCases.map { APIWebhook($0.rawValue, $0.when, $0.payload.body) } }
}
