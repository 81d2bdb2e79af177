import Base
package import EventStore
package import Events
import Postgres

/// An endpoint, with what waits for it where that is asked for, and with a new secret for the one time that it is shown.
package struct ShownEndpoint: Sendable {
    fileprivate let endpoint: Endpoint
    fileprivate let standing: EndpointStanding?
    fileprivate let secret: WebhookSecret?

    /// An endpoint.
    package init(_ endpoint: Endpoint, standing: EndpointStanding? = nil, secret: WebhookSecret? = nil) {
        self.endpoint = endpoint
        self.standing = standing
        self.secret = secret
    }

    fileprivate static let shape = CommandShape<ShownEndpoint>([
        .init("id", column: "ID", \.endpoint.id), .init("url", column: "URL", \.endpoint.url),
        .init("app", \.endpoint.filter.bundleID), .init("environment", \.endpoint.filter.environment),
        .init("kinds", \.endpoint.filter.kinds), .column("GETS") { $0.wants }, .init("rate", \.endpoint.rate),
        .column("RATE", isNumeric: true) { $0.endpoint.rate.map { "\($0)/s" } },
        .init("in_flight", \.endpoint.inFlight),
        .init("waiting_accounts", column: "WAITING", \.standing?.lanes),
        .init("behind", column: "BEHIND", \.standing?.behind), .init("oldest_age_seconds", \.age),
        .column("OLDEST", isNumeric: true) { $0.age.map { Duration.seconds($0).age } },
        .init("dead", column: "DEAD", \.standing?.dead), .init("state", \.endpoint.state.rawValue),
        .column("STATE") { $0.state }, .init("reason", \.endpoint.reason), .init("created_at", \.endpoint.createdAt),
        .init("created_by", \.endpoint.createdBy), .init("former_secret_ends_at", \.endpoint.formerSecretEndsAt),
        .init("failures") { $0.hasFailed ? $0.endpoint.failures : nil },
        .init("failing_since", \.endpoint.failingSince),
        .init("last_failure") { $0.hasFailed ? $0.endpoint.lastFailure : nil },
        .init("paused_at", \.endpoint.pausedAt), .init("secret", \.secret?.text),
    ])

    private var hasFailed: Bool { endpoint.failures != 0 }
    private var lastFailure: String { hasFailed ? endpoint.lastFailure ?? "" : "" }
    private var age: Int64? { standing.map { Int64($0.oldestAge / .seconds(1)) } }

    private var wants: String {
        let filter = endpoint.filter
        let parts = [filter.bundleID, filter.environment, filter.kinds?.joined(separator: ",")].compactMap(\.self)
        return parts.isEmpty ? "all" : parts.joined(separator: " ")
    }

    private var state: String {
        switch endpoint.state {
        case .disabled: "disabled (\(endpoint.reason ?? ""))"
        case .paused: "paused since \(endpoint.pausedAt.map { "\(Timestamp($0))" } ?? ""): \(lastFailure)"
        default:
            hasFailed
                ? "\(endpoint.state.rawValue), \(endpoint.failures) failures: \(lastFailure)" : endpoint.state.rawValue
        }
    }
}

extension CommandAnswer {
    /// One endpoint.
    package init(_ endpoint: ShownEndpoint, text: String) { self.init(endpoint, ShownEndpoint.shape, text: text) }

    /// Endpoints, a line each.
    package init(_ endpoints: [ShownEndpoint]) {
        self.init(
            endpoints, ShownEndpoint.shape, ifEmpty: "no endpoints; add one with storehook endpoints add URL")
    }
}
