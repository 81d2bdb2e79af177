import AppStorePayloads
public import AppStoreVerification
public import Base

/// What a client tells those who count.
public struct ClientObserver: Sendable {
    /// A call has ended: nil for an answer, else the failure's code.
    public var ended: @Sendable (Endpoint, Environment, _ failure: String?) -> Void
    /// A record in an answer was refused, for this reason.
    public var refused: @Sendable (VerificationCode) -> Void

    /// Creates the value; what is not given is not told.
    public init(
        ended: @escaping @Sendable (Endpoint, Environment, String?) -> Void = { _, _, _ in },
        refused: @escaping @Sendable (VerificationCode) -> Void = { _ in }
    ) {
        self.ended = ended
        self.refused = refused
    }
}
