/// What StoreKit declares of what it has verified.
@frozen public enum VerificationResult<SignedType> {
    /// What is wrong with it.
    public enum VerificationError: Error {
        /// The certificate was revoked.
        case revokedCertificate
        /// The chain of certificates does not hold.
        case invalidCertificateChain
        /// It is of another device.
        case invalidDeviceVerification
        /// It cannot be read.
        case invalidEncoding
        /// The signature does not fit.
        case invalidSignature
        /// Something is missing.
        case missingRequiredProperties
    }

    /// It does not verify.
    case unverified(SignedType, VerificationResult<SignedType>.VerificationError)
    /// It verifies.
    case verified(SignedType)
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    /// The signed bytes.
    public var jwsRepresentation: String { "" }
}
