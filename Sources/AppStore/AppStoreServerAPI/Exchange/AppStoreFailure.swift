import AppStorePayloads
public import AppStoreVerification
public import Base

/// Why a call has no answer: a code for programs, and what to do for people. It never contains what was sent.
public struct AppStoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reasons.
    public enum Reason: Sendable, Hashable {
        /// Apple answered with this error code.
        case apple(ServerErrorCode)
        /// Apple does not accept the key's token.
        case unauthorized
        /// A status without a code of Apple's.
        case status(Int)
        /// No answer came, for this reason.
        case unreachable(TransportFault)
        /// What was asked may have been done, or not: it is not repeated.
        case outcomeUnknown
        /// A signed record in the answer is not Apple's.
        case refused(VerificationFailure)
        /// The answer is not what Apple documents.
        case unreadable(String)
        /// Apple's limit is reached for longer than is waited.
        case rateLimited(until: Timestamp)
        /// The endpoint does not exist in this environment.
        case notInThisEnvironment
        /// The private key cannot sign.
        case unusableKey
        /// verifyReceipt answered with this status; `mayPass` where a later request may succeed, by Apple's own
        /// statement if it made one.
        case receipt(ReceiptStatus, mayPass: Bool)
    }

    /// The reason.
    public let reason: Reason
    /// The call.
    public let endpoint: AppleEndpoint
    /// Where it ended.
    public let environment: Environment
    /// How many requests were sent.
    public let attempts: Int
    /// When the last answer was given, by Apple's clock, to the second; nil where no answer came, or none that says so.
    public var answeredAt: Timestamp?

    /// The reason in one word, which never changes: Apple's names for its codes, ours for the rest.
    public var code: String {
        switch reason {
        case .apple(let code): code.isKnown ? code.name : "apple_\(code.rawValue)"
        case .unauthorized: "unauthorized"
        case .status: "unexpected_status"
        case .unreachable: "unreachable"
        case .outcomeUnknown: "outcome_unknown"
        case .refused(let failure): failure.code.rawValue
        case .unreadable: "unreadable_answer"
        case .rateLimited: "rate_limit_exceeded"
        case .notInThisEnvironment: "not_in_this_environment"
        case .unusableKey: "unusable_key"
        case .receipt(let status, _): status.isKnown ? status.name : "receipt_\(status.rawValue)"
        }
    }

    /// What happened and what to do.
    public var message: String {
        switch reason {
        case .apple(let code): "Apple answers \(code.rawValue): \(code.advice)"
        case .unauthorized:
            "Apple does not accept the key: check issuer_id, key_id and the .p8 file of this app, that the key is not revoked "
                + "in App Store Connect, and this machine's clock"
        case .status(let status): "status \(status) without a code of Apple's; is something between here and Apple?"
        case .unreachable(let fault): "no answer (\(fault.rawValue)) after \(attempts) attempts; try later"
        case .outcomeUnknown:
            "no answer came back, and it may have been done: look before asking again, for this is not repeated by itself"
        case .refused(let failure): "Apple's answer holds a record that is not trusted: \(failure.message)"
        case .unreadable(let why): "the answer is not what Apple documents: \(why)"
        case .rateLimited(let instant): "Apple allows no more of these requests before \(instant)"
        case .notInThisEnvironment: "\(environment) does not have this call"
        case .unusableKey: "the private key cannot sign ES256"
        case .receipt(let status, _): "verifyReceipt answers \(status.rawValue): \(status.advice)"
        }
    }

    /// Code, call, environment and message.
    public var description: String { "\(code) (\(endpoint.rawValue), \(environment)): \(message)" }

    /// Whether asking again later may help.
    public var isTransient: Bool {
        switch reason {
        case .apple(let code): code.behaviour == .retry || code.behaviour == .slowDown
        case .unreachable, .rateLimited: true
        case .status(let status): status >= 500
        case .refused(let failure): failure.code.isTransient
        case .receipt(_, let mayPass): mayPass
        default: false
        }
    }
}
