import AppStorePayloads
package import Base
import X509

/// The certificates of a receipt, ordered and validated: leaf, intermediate and a root that the operator trusts.
///
/// Like ``CertificateChain`` for a JWS, with two differences of Apple's. The certificates are in a PKCS#7 container in
/// no order, and issuer and serial number name the signer's. And their keys are RSA, or elliptic: App Store receipts
/// are signed under Apple Root CA, whose authorities are older than those of notifications.
package struct ReceiptChain: Sendable {
    /// The digest algorithm of the signature.
    package enum Digest: Sendable, Hashable {
        /// Receipts until 2023, and some since (TN3138).
        case sha1
        /// Receipts of today.
        case sha256
    }

    /// The name of the signer's certificate in a PKCS#7 container.
    package struct Signer: Sendable, Hashable {
        /// The DER text of the issuer's name.
        package var issuer: [UInt8]
        /// The serial number's bytes, most significant first.
        package var serialNumber: [UInt8]

        /// A name.
        package init(issuer: [UInt8], serialNumber: [UInt8]) {
            self.issuer = issuer
            self.serialNumber = serialNumber
        }
    }

    /// The most certificates that are read; Apple's receipts have three.
    package static let mostCertificates = 8
    /// The longest certificate that is read, in bytes; those in Apple's receipts have from 1 to 2 KiB. They are read
    /// before anything is trusted, and two bytes of them can take a hundred bytes of memory.
    package static let mostCertificateBytes = 8_192

    /// The root's fingerprint.
    package let rootFingerprint: Fingerprint

    private let path: [ChainCertificate]
    private let questions: [OCSPRequest]

    /// Finds the path from the signer to its root among the enclosed certificates, and validates it.
    ///
    /// - Parameters:
    ///   - certificates: their DER texts, in any order.
    ///   - configuration: the trusted roots; a certificate's own claims do not count.
    /// - Throws: `malformed_certificate`, `wrong_chain_length`, `untrusted_root`, `invalid_chain` or `missing_marker_oid`.
    package init(
        of signer: Signer, among certificates: [[UInt8]], trusting configuration: VerifierConfiguration
    ) throws(VerificationFailure) {
        guard certificates.count <= Self.mostCertificates else {
            throw VerificationFailure(
                .wrongChainLength, "The receipt brings \(certificates.count) certificates; Apple's bring three.")
        }
        guard certificates.allSatisfy({ $0.count <= Self.mostCertificateBytes }) else {
            throw VerificationFailure(
                .malformedCertificate,
                "The receipt brings a certificate of more than \(Self.mostCertificateBytes) bytes; Apple's have a quarter of that."
            )
        }
        var rest: [ChainCertificate] = []
        for der in certificates { rest.append(try ChainCertificate(.leaf, der: der)) }
        guard let start = rest.firstIndex(where: { $0.isNamed(by: signer) }) else {
            throw VerificationFailure(.wrongChainLength, "The receipt does not bring its signer's certificate.")
        }
        var found = [rest.remove(at: start)]
        while let last = found.last, found.count < 3,
            let next = rest.firstIndex(where: { $0.certificate.subject == last.certificate.issuer })
        {
            found.append(rest.remove(at: next))
        }
        guard found.count == 3 else {
            throw VerificationFailure(
                .wrongChainLength, "A receipt's chain has three certificates, not \(found.count).")
        }
        rootFingerprint = Fingerprint(of: found[2].der)
        guard configuration.trustedRoots.allForReceipts.contains(rootFingerprint) else {
            throw VerificationFailure(
                .untrustedRoot,
                "The receipt's chain ends in a root that is not trusted (SHA-256 \(rootFingerprint)); if it should be, add it to "
                    + "STOREHOOK_TRUSTED_ROOTS.")
        }
        let leaf = found[0]
        let intermediate = try ChainCertificate(.intermediate, der: found[1].der)
        let root = try ChainCertificate(.root, der: found[2].der)
        try PathValidation.validate(
            leaf: leaf, intermediate: intermediate, root: root, signedWith: PathValidation.receipts)
        path = [leaf, intermediate, root]
        questions = [
            OCSPRequest(about: leaf, issuer: intermediate), OCSPRequest(about: intermediate, issuer: root),
        ].compactMap(\.self)
    }

    /// Makes sure that all three certificates are valid at the instant.
    ///
    /// - Throws: `certificate_not_valid_at`, naming the certificate and its window.
    package func requireValid(at instant: Timestamp) throws(VerificationFailure) {
        for certificate in path { try certificate.requireValid(at: instant) }
    }

    /// Whether the leaf's key signed these bytes.
    package func isSignature(_ signature: [UInt8], of bytes: [UInt8], digest: Digest) -> Bool {
        let key = path[0].certificate.publicKey
        let algorithms: [Certificate.SignatureAlgorithm] =
            switch digest {
            case .sha1: [.sha1WithRSAEncryption]
            case .sha256: [.sha256WithRSAEncryption, .ecdsaWithSHA256]
            }
        return algorithms.contains { key.isValidSignature(signature, for: bytes, signatureAlgorithm: $0) }
    }

    /// Requires that none of its certificates was revoked, where revocation is checked.
    ///
    /// - Throws: `revoked`, or `revocation_unknown`.
    package func requireUnrevoked(by verifier: Verifier) throws(VerificationFailure) {
        try verifier.revocation?.require(questions, at: verifier.clock())
    }

    /// Requires that its root, which is trusted already, may sign receipts of the environment.
    ///
    /// - Throws: `untrusted_root`.
    package func require(
        _ environment: Environment, by configuration: VerifierConfiguration
    ) throws(VerificationFailure) {
        guard configuration.trustedRoots.trustsReceipts(rootFingerprint, for: environment) else {
            throw VerificationFailure(
                .untrustedRoot,
                "The receipt's root (SHA-256 \(rootFingerprint)) is trusted, but not for \(environment).")
        }
    }
}

extension ChainCertificate {
    /// Whether issuer and serial number are those of a signer. A serial number's leading zero only says that it is positive.
    fileprivate func isNamed(by signer: ReceiptChain.Signer) -> Bool {
        issuer == signer.issuer
            && serialNumber.drop { $0 == 0 }.elementsEqual(signer.serialNumber.drop { $0 == 0 })
    }
}
