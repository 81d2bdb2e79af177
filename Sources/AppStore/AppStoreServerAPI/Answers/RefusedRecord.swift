public import AppStoreVerification

/// A record that is kept back because it does not verify: where it stood, and why. Never what it says.
public struct RefusedRecord: Sendable, Hashable {
    /// Its place in the answer, counted over all that is signed there, from 0.
    public let index: Int
    /// Why it is not trusted.
    public let failure: VerificationFailure
}
