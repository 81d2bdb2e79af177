import AppStorePayloads
public import AppStoreVerification
public import Base

/// What a client reports to metrics.
public struct ClientObserver: Sendable {
    /// A call has ended: nil for an answer, else the failure's code.
    public var ended: @Sendable (AppleEndpoint, Environment, _ failure: String?) -> Void
    /// A record in an answer was refused, for this reason.
    public var refused: @Sendable (VerificationCode) -> Void

    /// Creates the value; what is not given is not reported.
    public init(
        ended: @escaping @Sendable (AppleEndpoint, Environment, String?) -> Void = { _, _, _ in },
        refused: @escaping @Sendable (VerificationCode) -> Void = { _ in }
    ) {
        self.ended = ended
        self.refused = refused
    }
}
