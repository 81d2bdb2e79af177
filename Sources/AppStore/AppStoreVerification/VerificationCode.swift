/// Why something is not trusted. The raw values are names that others build on: they never change.
public enum VerificationCode: String, Sendable, Hashable, CaseIterable {
    /// Not three base64url segments, not JSON, no `alg` or no `x5c`.
    case malformed
    /// `alg` is something else than ES256.
    case unsupportedAlgorithm = "unsupported_algorithm"
    /// `x5c` holds other than three certificates.
    case wrongChainLength = "wrong_chain_length"
    /// A certificate that cannot be read.
    case malformedCertificate = "malformed_certificate"
    /// The last certificate is none of the roots that the operator trusts.
    case untrustedRoot = "untrusted_root"
    /// The certificates do not vouch for each other.
    case invalidChain = "invalid_chain"
    /// A certificate was not valid when the payload was signed.
    case certificateNotValidAt = "certificate_not_valid_at"
    /// A certificate that Apple did not issue for this purpose.
    case missingMarkerOID = "missing_marker_oid"
    /// The signature does not belong to these bytes.
    case invalidSignature = "invalid_signature"
    /// Rightly signed, but not a payload this release can read.
    case malformedPayload = "malformed_payload"
    /// Of an app that is not served here.
    case wrongBundle = "wrong_bundle"
    /// Of an app with another App Apple ID.
    case wrongAppAppleId = "wrong_app_apple_id"
    /// Of an environment that is not served here.
    case wrongEnvironment = "wrong_environment"
    /// Rightly signed, but longer ago than the operator accepts. Only where a limit is set.
    case payloadTooOld = "payload_too_old"
    /// Parts that belong to another transaction, app or environment.
    case mismatchedParts = "mismatched_parts"
    /// A certificate was revoked.
    case revoked
    /// Signed more than five minutes ahead of the clock: a clock is wrong, and once it is right this may be accepted.
    case signedInFuture = "signed_in_future"
    /// Whether a certificate was revoked could not be learned: somebody may answer another time.
    case revocationUnknown = "revocation_unknown"

    /// Whether the same bytes may be accepted another time, with nothing changed here.
    public var isTransient: Bool { self == .revocationUnknown || self == .signedInFuture }
}
