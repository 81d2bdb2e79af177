public import AppStoreVerification

/// A record that is withheld because it does not verify: its place and the reason, never its content.
public struct RefusedRecord: Sendable, Hashable {
    /// Its place in the answer, counted over all that is signed there, from 0.
    public let index: Int
    /// Why it is not trusted.
    public let failure: VerificationFailure
}
