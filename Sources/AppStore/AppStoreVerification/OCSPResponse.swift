import AppStorePayloads
public import Base
import FoundationEssentials
import SwiftASN1
import X509

/// A responder's answer whose signature, signer and dates have been checked (RFC 6960 sections 3.2 and 4.2).
public struct OCSPResponse: Sendable, Hashable {
    /// The status of a certificate.
    public enum Status: Sendable, Hashable {
        /// It was not revoked.
        case good
        /// It was revoked.
        case revoked
        /// The responder does not know it.
        case unknown
    }

    /// The answer is invalid.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// One line, without any content of the answer.
        public let description: String
    }

    /// The certificate's status.
    public let status: Status
    /// Until when this holds.
    public let validUntil: Timestamp

    /// An answer without a date for the next one is about this moment (RFC 6960 section 2.4): it is valid for so
    /// many seconds.
    private static let undatedValidity: Int64 = 300
    /// How far the responder's clock may be ahead, in seconds.
    private static let clockSkew: Int64 = 300
    /// An answer brings its signer's certificate, perhaps with the issuer's.
    private static let mostCertificates = 4

    /// Reads and checks an answer.
    ///
    /// - Throws: ``Refusal`` unless it is successful, about the question, signed by the issuer or a responder that the
    ///   issuer appointed, and current.
    public init(_ der: [UInt8], to question: OCSPRequest, at now: Timestamp) throws(Refusal) {
        let text = try Self.read("is not an OCSP response") { try OCSPEncoding(der) }
        guard let basic = text else { throw Refusal(description: "the responder declines to answer") }
        guard Self.isSigned(basic, for: question.issuer, at: now) else {
            throw Refusal(description: "its signature is neither the issuer's nor that of a responder it appointed")
        }
        guard let single = basic.responses.first(where: { $0.certID == question.certID }) else {
            throw Refusal(description: "it is about another certificate")
        }
        guard single.thisUpdate <= now.adding(seconds: Self.clockSkew) else {
            throw Refusal(description: "it is from the future")
        }
        let validUntil = single.nextUpdate ?? single.thisUpdate.adding(seconds: Self.undatedValidity)
        guard now < validUntil else { throw Refusal(description: "it is stale") }
        status = single.status
        self.validUntil = validUntil
    }

    private static func read<Value>(_ problem: String, _ work: () throws -> Value) throws(Refusal) -> Value {
        // The library's error text may quote the answer.
        do { return try work() } catch { throw Refusal(description: "it \(problem)") }
    }

    private static func isSigned(_ basic: OCSPEncoding, for issuer: ChainCertificate, at now: Timestamp) -> Bool {
        let authority = issuer.certificate
        if basic.isSigned(by: authority) { return true }
        let instant = Date(timeIntervalSince1970: Double(now.millisecondsSince1970) / 1000)
        return basic.certificates.prefix(mostCertificates).contains { der in
            guard let signer = try? Certificate(derEncoded: der), signer.issuer == authority.subject,
                signer.notValidBefore <= instant, instant <= signer.notValidAfter,
                let usages = try? signer.extensions.extendedKeyUsage, usages.contains(.ocspSigning),
                [.ecdsaWithSHA256, .ecdsaWithSHA384, .sha256WithRSAEncryption, .sha384WithRSAEncryption]
                    .contains(signer.signatureAlgorithm),
                authority.publicKey.isValidSignature(signer.signature, for: signer)
            else { return false }
            return basic.isSigned(by: signer)
        }
    }
}
