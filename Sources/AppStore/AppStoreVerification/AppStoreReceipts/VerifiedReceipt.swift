import AppStorePayloads
public import Base
import Crypto

/// A receipt that Apple signed for an app and an environment that are served here: proof that a device has
/// its contents.
public struct VerifiedReceipt: Sendable {
    /// Its contents.
    public let contents: AppReceipt
    /// The app.
    public let bundleId: String
    /// The environment.
    public let environment: Environment
    /// When Apple made it.
    public let creationDate: Timestamp
}

extension Verifier {
    /// Verifies an app receipt: its app, its environment, and its signature up to a root that is trusted for the
    /// receipts of that environment.
    ///
    /// Certificates are checked at the receipt's creation date, as Apple's own library does (AppReceiptVerifier in
    /// app-store-server-library-swift): receipts outlive the certificates that signed them.
    /// - Throws: The first check that fails; `malformed` for what is not an app receipt, and for a transaction
    ///   receipt, whose signature only verifyReceipt checks.
    public func verify(_ receipt: Receipt) throws(VerificationFailure) -> VerifiedReceipt {
        guard let container = receipt.container, let contents = receipt.contents, let signature = container.signature
        else {
            throw VerificationFailure(
                .malformed, "The receipt is not signed in a way that can be checked here: ask verifyReceipt.")
        }
        let digest = try Self.digest(signature)
        let chain = try ReceiptChain(
            of: signature.signer, among: container.certificates, trusting: configuration)
        guard Self.isSigned(container, signature, digest, chain) else {
            throw VerificationFailure(.invalidSignature, "The receipt's signature is not one of its signer's over it.")
        }
        try chain.requireUnrevoked(by: self)
        guard let date = contents.creationDate else {
            throw VerificationFailure(.malformedPayload, "The receipt's creation date is missing or not a date.")
        }
        try chain.requireValid(at: date)
        try requireNotInFuture(date)
        guard let bundleId = contents.bundleId else {
            throw VerificationFailure(.wrongBundle, "The receipt names no app.")
        }
        try requireServed(bundleId: bundleId)
        let environment = try require(environment: contents.environment)
        try chain.require(environment, by: configuration)
        return VerifiedReceipt(
            contents: contents, bundleId: bundleId, environment: environment, creationDate: date)
    }

    private static func digest(
        _ signature: SignedContainer.Signature
    ) throws(VerificationFailure) -> ReceiptChain.Digest {
        switch signature.digestAlgorithm {
        case SignedContainer.sha1: return .sha1
        case SignedContainer.sha256: return .sha256
        default:
            throw VerificationFailure(.unsupportedAlgorithm, "The receipt is signed over neither SHA-1 nor SHA-256.")
        }
    }

    /// The signature covers the content itself, as Apple signs, or attributes with the content's digest, as
    /// PKCS#7 tools do.
    private static func isSigned(
        _ container: SignedContainer, _ signature: SignedContainer.Signature, _ digest: ReceiptChain.Digest,
        _ chain: ReceiptChain
    ) -> Bool {
        guard let attributes = signature.attributes else {
            return chain.isSignature(signature.bytes, of: container.content, digest: digest)
        }
        let actual: [UInt8] =
            switch digest {
            case .sha1: Array(Insecure.SHA1.hash(data: container.content))
            case .sha256: Array(SHA256.hash(data: container.content))
            }
        return signature.messageDigest == actual && chain.isSignature(signature.bytes, of: attributes, digest: digest)
    }
}
