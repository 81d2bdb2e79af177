import Crypto
import SwiftASN1

/// The request to a certificate authority's responder about one certificate (RFC 6960 section 4.1).
///
/// Made of validated chains only: a certificate under a trusted root named the responder, never a sender.
public struct OCSPRequest: Sendable, Hashable {
    /// The request's DER text, to be posted as `application/ocsp-request`.
    public let request: [UInt8]
    /// The responders' addresses, http only: the answer is signed, and https would need another revocation check.
    public let responders: [String]

    /// The certificate and its issuer, as requests and answers name them.
    let certID: [UInt8]
    let issuer: ChainCertificate
    let name: String

    /// The request about a certificate; nil where it names no responder.
    init?(about certificate: ChainCertificate, issuer: ChainCertificate) {
        responders = certificate.responders.filter { $0.hasPrefix("http://") }
        guard !responders.isEmpty else { return nil }
        var certID = DER.Serializer()
        // SHA-1, the one hash that every responder knows (RFC 5019 section 2.1.1). It names an issuer, and protects nothing.
        let nameHash = Array(Insecure.SHA1.hash(data: issuer.subject))
        let keyHash = Array(Insecure.SHA1.hash(data: issuer.publicKey))
        certID.appendConstructedNode(identifier: .sequence) { certID in
            certID.appendConstructedNode(identifier: .sequence) { algorithm in
                // 1.3.14.3.2.26, and no parameters
                algorithm.appendPrimitiveNode(identifier: .objectIdentifier) {
                    $0.append(contentsOf: [0x2B, 0x0E, 0x03, 0x02, 0x1A])
                }
                algorithm.appendPrimitiveNode(identifier: .null) { _ in }
            }
            certID.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: nameHash) }
            certID.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: keyHash) }
            certID.appendPrimitiveNode(identifier: .integer) { bytes in
                if certificate.serialNumber.first.map({ $0 >= 0x80 }) ?? true { bytes.append(0) }
                bytes.append(contentsOf: certificate.serialNumber)
            }
        }
        self.certID = certID.serializedBytes
        var request = DER.Serializer()
        // OCSPRequest, TBSRequest, requestList, Request. No nonce: answers are cached for many clients, and dated.
        request.appendConstructedNode(identifier: .sequence) { request in
            request.appendConstructedNode(identifier: .sequence) { tbs in
                tbs.appendConstructedNode(identifier: .sequence) { list in
                    list.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(certID.serializedBytes) }
                }
            }
        }
        self.request = request.serializedBytes
        self.issuer = issuer
        name = certificate.name
    }

    /// Equal for one certificate of one issuer.
    public static func == (left: Self, right: Self) -> Bool { left.certID == right.certID }

    /// By the certificate and its issuer.
    public func hash(into hasher: inout Hasher) { hasher.combine(certID) }
}
