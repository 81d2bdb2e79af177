import AppStorePayloads
import Base
package import EventStore
package import Events
import Postgres
import PurchaseStore

/// An endpoint, as people and scripts see it.
package struct EndpointAnswer: Encodable, Sendable {
    private let id: Int64
    private let url: String
    private let app: String?
    private let environment: String?
    private let kinds: [String]?
    private let rate: Int?
    private let inFlight: Int
    private let state: String
    private let reason: String?
    private let createdAt: String
    private let createdBy: String
    /// Until when the secret before the present one signs as well.
    package let formerSecretEndsAt: String?
    private let failures: Int?
    private let failingSince: String?
    private let lastFailure: String?
    private let pausedAt: String?
    private let waitingAccounts: Int64?
    private let behind: Int64?
    private let dead: Int64?
    private let oldestAgeSeconds: Int64?
    private let secret: String?

    /// An answer.
    /// - Parameters:
    ///   - standing: what waits for it; nil where that is not asked for.
    ///   - secret: a new one, for the one time that it is shown.
    package init(_ endpoint: Endpoint, standing: EndpointStanding? = nil, secret: WebhookSecret? = nil) {
        func instant(_ instant: PostgresTimestamp?) -> String? { instant.map { "\(Timestamp($0))" } }
        id = endpoint.id
        url = endpoint.url
        app = endpoint.filter.bundleID
        environment = endpoint.filter.environment
        kinds = endpoint.filter.kinds
        rate = endpoint.rate
        inFlight = endpoint.inFlight
        state = endpoint.state.rawValue
        reason = endpoint.reason
        createdAt = "\(Timestamp(endpoint.createdAt))"
        createdBy = endpoint.createdBy
        formerSecretEndsAt = instant(endpoint.formerSecretEndsAt)
        failures = endpoint.failures == 0 ? nil : endpoint.failures
        failingSince = instant(endpoint.failingSince)
        lastFailure = endpoint.failures == 0 ? nil : endpoint.lastFailure
        pausedAt = instant(endpoint.pausedAt)
        waitingAccounts = standing?.lanes
        behind = standing?.behind
        dead = standing?.dead
        oldestAgeSeconds = standing.map { Int64($0.oldestAge / .seconds(1)) }
        self.secret = secret?.text
    }

    private var wants: String {
        let parts = [app, environment, kinds?.joined(separator: ",")].compactMap(\.self)
        return parts.isEmpty ? "all" : parts.joined(separator: " ")
    }

    private var standing: String {
        switch Endpoint.State(rawValue: state) {
        case .disabled: "disabled (\(reason ?? ""))"
        case .paused: "paused since \(pausedAt ?? ""): \(lastFailure ?? "")"
        default: failures.map { "\(state), \($0) failures: \(lastFailure ?? "")" } ?? state
        }
    }

    /// A line each.
    package static func table(_ answers: [EndpointAnswer]) -> String {
        guard !answers.isEmpty else { return "no endpoints; add one with storehook endpoints add URL" }
        var table = Table(
            ["ID", "URL", "GETS", "RATE", "WAITING", "BEHIND", "OLDEST", "DEAD", "STATE"], numeric: [0, 3, 4, 5, 6, 7])
        for answer in answers {
            table.add([
                "\(answer.id)", answer.url, answer.wants, answer.rate.map { "\($0)/s" } ?? "-",
                answer.waitingAccounts.map { "\($0)" } ?? "-", answer.behind.map { "\($0)" } ?? "-",
                answer.oldestAgeSeconds.map { Duration.seconds($0).age } ?? "-", answer.dead.map { "\($0)" } ?? "-",
                answer.standing,
            ])
        }
        return table.text
    }
}
