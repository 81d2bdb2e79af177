import AppStorePayloads
public import Base
import Crypto
import X509

/// Three certificates: each is issued by the next, and the last is a root that the operator trusts. Only such a chain can check a signature
/// here.
///
/// A value exists only after every rule but one has held: whether the certificates are valid depends on the instant,
/// so that is checked each time (``requireValid(at:)``). That makes a validated chain worth keeping.
public final class CertificateChain: Sendable {
    /// The certificate of the signing key.
    public let leaf: ChainCertificate
    /// The authority between leaf and root.
    public let intermediate: ChainCertificate
    /// The anchor.
    public let root: ChainCertificate
    /// The OCSP requests for the leaf and the intermediate, where they name a responder. The root needs none.
    public let revocationQuestions: [OCSPRequest]
    /// The root's fingerprint.
    public let rootFingerprint: Fingerprint
    /// The leaf's key.
    let signingKey: P256.Signing.PublicKey

    /// Validates a chain.
    ///
    /// - Parameters:
    ///   - certificates: The DER texts of leaf, intermediate and root.
    ///   - trustedRoots: The fingerprints of the trusted roots. The third certificate's own claims do not count.
    /// - Throws: `wrong_chain_length`, `malformed_certificate`, `untrusted_root`, `invalid_chain` or `missing_marker_oid`.
    public init(validating certificates: [[UInt8]], trustedRoots: Set<Fingerprint>) throws(VerificationFailure) {
        guard certificates.count == 3 else {
            throw VerificationFailure(.wrongChainLength, "A chain has three certificates, not \(certificates.count).")
        }
        leaf = try ChainCertificate(.leaf, der: certificates[0])
        intermediate = try ChainCertificate(.intermediate, der: certificates[1])
        root = try ChainCertificate(.root, der: certificates[2])
        rootFingerprint = Fingerprint(of: root.der)
        guard trustedRoots.contains(rootFingerprint) else {
            throw VerificationFailure(
                .untrustedRoot,
                "The chain ends in a root that is not trusted (SHA-256 \(rootFingerprint)); if it should be, add it to "
                    + "STOREHOOK_TRUSTED_ROOTS."
            )
        }
        try PathValidation.validate(
            leaf: leaf, intermediate: intermediate, root: root, signedWith: PathValidation.ellipticCurve)
        signingKey = try PathValidation.ellipticKey(of: leaf)
        revocationQuestions = [
            OCSPRequest(about: leaf, issuer: intermediate), OCSPRequest(about: intermediate, issuer: root),
        ].compactMap(\.self)
    }

    /// Validates the chain in a JWS's header segment.
    ///
    /// - Throws: What ``init(validating:trustedRoots:)`` throws, `malformed` or `unsupported_algorithm`.
    public convenience init(header segment: [UInt8], trustedRoots: Set<Fingerprint>) throws(VerificationFailure) {
        guard let json = Base64.url.decode(segment) else {
            throw VerificationFailure(.malformed, "The JWS's header is not base64url without padding.")
        }
        try self.init(validating: try JWSHeader(json).certificates, trustedRoots: trustedRoots)
    }

    /// Makes sure that all three certificates are valid at the instant.
    ///
    /// - Throws: `certificate_not_valid_at`, naming the certificate and its window.
    public func requireValid(at instant: Timestamp) throws(VerificationFailure) {
        for certificate in [leaf, intermediate, root] { try certificate.requireValid(at: instant) }
    }
}
