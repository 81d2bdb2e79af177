public import Foundation

/// Why something that a customer or an app asked for was not done. Each kind has its text and what to do in ``ClientMessage``.
public enum ClientError: Error, Sendable, Hashable {
    /// The customer does not want it: nothing is shown.
    case cancelled
    /// The purchase waits for approval.
    case pending
    /// The server or the store cannot be reached: to be tried again.
    case network
    /// The device or the server found the signature not to be the store's.
    case verificationFailed
    /// A higher tier is needed: the server's sentence, in the language asked for, where it has one.
    case upgradeNeeded(prompt: String?)
    /// The purchase is another account's.
    case otherAccount
    /// The app's token is not accepted, also after a new one was asked for.
    case signIn
    /// There were too many requests: in how many seconds to ask again, where the server states that.
    case busy(retryAfter: TimeInterval?)
    /// The store or the catalog does not have the product.
    case product
    /// The account may not start the app's own trial.
    case trialRefused
    /// The server's answer cannot be read: what was last known counts.
    case unreadableAnswer
    /// What was kept on the device cannot be read: the account counts as free until the server or the store is asked.
    case unreadableCache
    /// Anything else.
    case unknown
}

extension ClientError {
    /// The kind of an error of the server's, of the transport's or of a purchase source.
    public init(describing error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let problem as Problem: self.init(problem)
        case let fault as ServerFault: self.init(fault)
        case is CancellationError: self = .cancelled
        case is URLError: self = .network
        case is DecodingError: self = .unreadableAnswer
        default: self = .unknown
        }
    }

    /// What a log may have of an error: its type and its kind. The error's own text may name an address with the customer in it.
    static func kind(of error: any Error) -> String {
        "\(type(of: error)), \(String(describing: ClientError(describing: error)).prefix { $0 != "(" })"
    }

    private init(_ fault: ServerFault) {
        switch fault {
        case .refused(let error), .rejected(let error): self = error
        case .away: self = .network
        case .unreadable: self = .unreadableAnswer
        }
    }

    private init(_ problem: Problem) {
        switch problem.code {
        case "token_missing", "token_expired", "token_invalid": self = .signIn
        case "unknown_product": self = .product
        case "limit_reached", "tier_required", "feature_not_included":
            self = .upgradeNeeded(prompt: problem.upgradePrompt)
        case "trial_not_eligible": self = .trialRefused
        case "other_account", "bound_elsewhere": self = .otherAccount
        // What the app asked wrongly is no customer's fault, nor Apple's.
        case "invalid_request", "mismatched_request", "account_missing", "not_counted": self = .unknown
        case _ where problem.status == 429: self = .busy(retryAfter: problem.retryAfter)
        case _ where problem.isTransient: self = .network
        case _ where problem.status == 400 && problem.isServers: self = .verificationFailed
        default: self = .unknown
        }
    }
}
