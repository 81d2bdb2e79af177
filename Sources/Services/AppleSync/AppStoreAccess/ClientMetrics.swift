package import AppStoreServerAPI
import AppStoreVerification
package import Metrics

/// Counts how calls to Apple end, and what was refused in their answers.
package struct ClientMetrics: Sendable {
    private let forged: [VerificationCode: Counter]
    private let requests: [AppleEndpoint: [Outcome: Counter]]

    /// Few words, so that the number of series does not depend on what Apple answers.
    private enum Outcome: String, CaseIterable {
        case answered, unauthorized, refused, unreachable
        case notFound = "not_found"
        case rateLimited = "rate_limited"
        case failed

        init(_ failure: String?) {
            switch failure {
            case nil: self = .answered
            case "unauthorized", "shared_secret_mismatch": self = .unauthorized
            case "receipt_not_authentic": self = .refused
            case "unreachable", "outcome_unknown": self = .unreachable
            case "rate_limit_exceeded": self = .rateLimited
            case let code? where code.hasSuffix("not_found"): self = .notFound
            case let code? where VerificationCode(rawValue: code) != nil: self = .refused
            default: self = .failed
            }
        }
    }

    /// Every series at 0.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        forged = Dictionary(
            uniqueKeysWithValues: VerificationCode.allCases.map { code in
                let dimensions = [("code", code.rawValue)]
                return (code, Counter(label: "storehook_apple_forged_total", dimensions: dimensions, factory: factory))
            })
        requests = Dictionary(
            uniqueKeysWithValues: AppleEndpoint.allCases.map { endpoint in
                let counters = Outcome.allCases.map { outcome in
                    let dimensions = [("call", endpoint.rawValue), ("outcome", outcome.rawValue)]
                    return (
                        outcome,
                        Counter(label: "storehook_apple_calls_total", dimensions: dimensions, factory: factory)
                    )
                }
                return (endpoint, Dictionary(uniqueKeysWithValues: counters))
            })
    }

    /// For clients.
    package var observer: ClientObserver {
        ClientObserver(
            ended: { endpoint, _, failure in requests[endpoint]?[Outcome(failure)]?.increment() },
            refused: { code in forged[code]?.increment() })
    }
}
