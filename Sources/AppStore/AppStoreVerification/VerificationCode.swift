/// Why something is not trusted. The raw values are stored and sent, so they never change.
public enum VerificationCode: String, Sendable, Hashable, CaseIterable {
    /// Not three base64url segments, not JSON, no `alg` or no `x5c`.
    case malformed
    /// `alg` is not ES256.
    case unsupportedAlgorithm = "unsupported_algorithm"
    /// `x5c` does not hold exactly three certificates.
    case wrongChainLength = "wrong_chain_length"
    /// A certificate that cannot be read.
    case malformedCertificate = "malformed_certificate"
    /// The last certificate is not one of the roots that the operator trusts.
    case untrustedRoot = "untrusted_root"
    /// The certificates are not issued by one another.
    case invalidChain = "invalid_chain"
    /// A certificate was not valid when the payload was signed.
    case certificateNotValidAt = "certificate_not_valid_at"
    /// A certificate that Apple did not issue for this purpose.
    case missingMarkerOID = "missing_marker_oid"
    /// The signature does not match these bytes.
    case invalidSignature = "invalid_signature"
    /// Correctly signed, but not a payload that this release can read.
    case malformedPayload = "malformed_payload"
    /// Of an app that is not served here.
    case wrongBundle = "wrong_bundle"
    /// Of an app with another App Apple ID.
    case wrongAppAppleId = "wrong_app_apple_id"
    /// Of an environment that is not served here.
    case wrongEnvironment = "wrong_environment"
    /// Correctly signed, but longer ago than the operator accepts. Only where a limit is set.
    case payloadTooOld = "payload_too_old"
    /// Parts that belong to another transaction, app or environment.
    case mismatchedParts = "mismatched_parts"
    /// A certificate was revoked.
    case revoked
    /// Signed more than five minutes ahead of the clock: a clock is wrong, and once it is right this may be accepted.
    case signedInFuture = "signed_in_future"
    /// Whether a certificate was revoked could not be determined: a responder may answer later.
    case revocationUnknown = "revocation_unknown"

    /// Whether the bytes may be accepted later, with nothing changed here.
    public var isTransient: Bool { self == .revocationUnknown || self == .signedInFuture }
}
