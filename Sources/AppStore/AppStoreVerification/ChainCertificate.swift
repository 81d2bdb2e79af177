import AppStorePayloads
public import Base
import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate of a validated chain: the parts needed after validation, and those that a revocation check needs.
public struct ChainCertificate: Sendable {
    /// The place of a certificate in its chain.
    public enum Role: String, Sendable {
        /// Signs payloads.
        case leaf
        /// Signs leaves.
        case intermediate
        /// Is trusted by its fingerprint.
        case root
    }

    /// Its place in the chain.
    public let role: Role
    /// The DER text.
    public let der: [UInt8]
    /// The serial number's bytes, most significant first.
    public let serialNumber: [UInt8]
    /// The DER text of the subject's name: hashed, it names the issuer in a revocation request about a certificate below.
    public let subject: [UInt8]
    /// The DER text of the issuer's name.
    let issuer: [UInt8]
    /// The bits of the public key: hashed, they name the issuer's key in such a request.
    public let publicKey: [UInt8]
    /// The addresses of OCSP responders for this certificate.
    public let responders: [String]
    /// The first instant at which it is valid.
    public let notBefore: Timestamp
    /// The last instant at which it is valid: the whole of its last second.
    public let notAfter: Timestamp

    let certificate: Certificate

    /// Reads a certificate.
    ///
    /// - Throws: `malformed_certificate` for anything but one X.509 certificate in DER.
    init(_ role: Role, der: [UInt8]) throws(VerificationFailure) {
        do {
            let certificate = try Certificate(derEncoded: der)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate.subject)
            subject = serializer.serializedBytes
            serializer = DER.Serializer()
            try serializer.serialize(certificate.issuer)
            issuer = serializer.serializedBytes
            let access = try certificate.extensions.authorityInformationAccess
            responders = (access ?? AuthorityInformationAccess()).compactMap { description in
                guard description.method == .ocspServer,
                    case .uniformResourceIdentifier(let address) = description.location
                else { return nil }
                return address
            }
            self.certificate = certificate
        } catch {
            // The library's error text may quote the certificate, so it is not passed on.
            throw VerificationFailure(
                .malformedCertificate, "The \(role.rawValue) in the chain is not an X.509 certificate in DER.")
        }
        self.role = role
        self.der = der
        serialNumber = Array(certificate.serialNumber.bytes)
        publicKey = Array(certificate.publicKey.subjectPublicKeyInfoBytes)
        notBefore = Self.timestamp(certificate.notValidBefore)
        notAfter = Self.timestamp(certificate.notValidAfter).adding(milliseconds: 999)
    }

    /// Makes sure that it is valid at the instant.
    ///
    /// - Throws: `certificate_not_valid_at`, naming it and its window.
    func requireValid(at instant: Timestamp) throws(VerificationFailure) {
        guard instant < notBefore || instant > notAfter else { return }
        throw VerificationFailure(
            .certificateNotValidAt,
            "When this was signed, \(name) was not valid: it is from \(notBefore) to "
                + "\(Timestamp(secondsSince1970: notAfter.millisecondsSince1970 / 1000)).")
    }

    /// Role and serial number, for messages.
    var name: String {
        "the \(role.rawValue) with serial number \(serialNumber.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
    }

    private static func timestamp(_ date: Date) -> Timestamp {
        Timestamp(secondsSince1970: Int64(exactly: date.timeIntervalSince1970.rounded()) ?? 0)
    }
}
