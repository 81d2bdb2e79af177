import Crypto
import SwiftASN1
import X509

/// RFC 5280 section 6.1 for a path of exactly three certificates in a given order whose last is the trust anchor.
///
/// swift-certificates parses the certificates and checks their signatures. Its `Verifier` is not used for the path:
/// - it searches for a path, and might find another than `x5c` states;
/// - it accepts authorities of version 1, and ignores key usage;
/// - it is async, while verification here is a computation.
///
/// For three certificates the rules are few, and all of them are here.
enum PathValidation {
    /// The algorithms that may sign certificates of notifications and their parts: those of Apple's elliptic-curve
    /// authorities.
    static let ellipticCurve: Set<Certificate.SignatureAlgorithm> = [.ecdsaWithSHA384, .ecdsaWithSHA256]
    /// The algorithms that may sign certificates of receipts. Apple's receipts were signed under authorities
    /// with SHA-1 until January 2025 (TN3138); a receipt of that time is checked at its own date, so SHA-1
    /// still counts for it.
    static let receipts = ellipticCurve.union([
        .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption, .sha1WithRSAEncryption,
    ])

    /// Checks every rule but the window of validity.
    ///
    /// - Parameter algorithms: those that may sign its certificates.
    /// - Throws: `invalid_chain` or `missing_marker_oid`, naming the certificate.
    static func validate(
        leaf: ChainCertificate, intermediate: ChainCertificate, root: ChainCertificate,
        signedWith algorithms: Set<Certificate.SignatureAlgorithm>
    ) throws(VerificationFailure) {
        let path = [leaf, intermediate, root]
        try refuseRepetition(path)
        for certificate in path {
            guard certificate.certificate.version == .v3 else { throw invalid(certificate, "is not of version 3") }
            guard certificate.notBefore <= certificate.notAfter else {
                throw invalid(certificate, "ends before it begins")
            }
            try refuseUnknownExtensions(certificate)
        }
        try requireAuthority(root, authoritiesBelow: 1)
        try requireAuthority(intermediate, authoritiesBelow: 0)
        try requireEndEntity(leaf)
        // The anchor is trusted by its fingerprint, so its self-signature would prove nothing more.
        try requireIssued(intermediate, by: root, signedWith: algorithms)
        try requireIssued(leaf, by: intermediate, signedWith: algorithms)
        try requireMarker(intermediate, Self.intermediateMarker)
        try requireMarker(leaf, Self.leafMarker)
    }

    /// The leaf's key, if it can make ES256 signatures.
    ///
    /// - Throws: `invalid_chain`.
    static func ellipticKey(of leaf: ChainCertificate) throws(VerificationFailure) -> P256.Signing.PublicKey {
        guard let key = P256.Signing.PublicKey(leaf.certificate.publicKey) else {
            throw invalid(leaf, "has no P-256 key, which ES256 needs")
        }
        return key
    }

    /// Apple's mark on an intermediate that issues certificates for its developer services: without it, any authority of Apple's would do.
    private static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    /// Apple's mark on a certificate that signs receipts and notifications: without it, any certificate of Apple's would do.
    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]

    /// The critical extensions that these rules take into account. A certificate with any other critical
    /// one is refused.
    private static let known: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, intermediateMarker, leafMarker,
    ]

    /// Refuses a repeated certificate, or a repeated name and key (RFC 4158 section 5.2): such a path proves less than
    /// its length suggests.
    private static func refuseRepetition(_ path: [ChainCertificate]) throws(VerificationFailure) {
        for (index, later) in path.enumerated() {
            for earlier in path[..<index]
            where later.der == earlier.der || (later.publicKey == earlier.publicKey && later.subject == earlier.subject)
            {
                throw VerificationFailure(
                    .invalidChain,
                    "The \(earlier.role.rawValue) and the \(later.role.rawValue) in the chain are the same.")
            }
        }
    }

    private static func refuseUnknownExtensions(_ certificate: ChainCertificate) throws(VerificationFailure) {
        for part in certificate.certificate.extensions {
            guard !part.critical || known.contains(part.oid) else {
                throw invalid(certificate, "has a critical extension that is not known here (\(part.oid))")
            }
            // Apple's have none, and ignoring them would ignore a limit.
            guard part.oid != .X509ExtensionID.nameConstraints else {
                throw invalid(certificate, "has name constraints, which are not supported")
            }
        }
    }

    private static func requireAuthority(
        _ certificate: ChainCertificate, authoritiesBelow: Int
    ) throws(VerificationFailure) {
        switch try? certificate.certificate.extensions.basicConstraints {
        case .isCertificateAuthority(let limit):
            guard limit.map({ $0 >= authoritiesBelow }) ?? true else {
                throw invalid(certificate, "has more authorities below it than it allows")
            }
        case .notCertificateAuthority, .none: throw invalid(certificate, "is not an authority")
        }
        guard let usage = try? certificate.certificate.extensions.keyUsage, usage.keyCertSign else {
            throw invalid(certificate, "may not sign certificates")
        }
    }

    private static func requireEndEntity(_ certificate: ChainCertificate) throws(VerificationFailure) {
        switch Result(catching: { try certificate.certificate.extensions.basicConstraints }) {
        case .success(.none), .success(.notCertificateAuthority): break
        case .success(.isCertificateAuthority), .failure: throw invalid(certificate, "is an authority")
        }
        guard let usage = try? certificate.certificate.extensions.keyUsage, usage.digitalSignature else {
            throw invalid(certificate, "may not sign data")
        }
    }

    private static func requireIssued(
        _ certificate: ChainCertificate, by issuer: ChainCertificate,
        signedWith algorithms: Set<Certificate.SignatureAlgorithm>
    ) throws(VerificationFailure) {
        guard certificate.certificate.issuer == issuer.certificate.subject else {
            throw invalid(certificate, "names another issuer than the \(issuer.role.rawValue)")
        }
        let algorithm = certificate.certificate.signatureAlgorithm
        guard algorithms.contains(algorithm) else {
            throw invalid(certificate, "is signed with an algorithm that Apple does not use")
        }
        guard
            issuer.certificate.publicKey.isValidSignature(
                certificate.certificate.signature, for: certificate.certificate)
        else { throw invalid(certificate, "was not signed by the \(issuer.role.rawValue)") }
    }

    private static func requireMarker(
        _ certificate: ChainCertificate, _ marker: ASN1ObjectIdentifier
    ) throws(VerificationFailure) {
        guard certificate.certificate.extensions[oid: marker] != nil else {
            throw VerificationFailure(
                .missingMarkerOID,
                "\(capitalized(certificate.name)) lacks the extension \(marker): it was not issued for App Store payloads."
            )
        }
    }

    private static func invalid(_ certificate: ChainCertificate, _ problem: String) -> VerificationFailure {
        VerificationFailure(.invalidChain, "\(capitalized(certificate.name)) \(problem).")
    }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
