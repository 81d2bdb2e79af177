import AppStorePayloads
import Base
import SwiftASN1
import X509

/// A basic OCSP response, parsed but not trusted (RFC 6960 section 4.2.1).
struct OCSPEncoding {
    /// The status of one certificate.
    struct Single {
        let certID: [UInt8]
        let status: OCSPResponse.Status
        let thisUpdate: Timestamp
        let nextUpdate: Timestamp?
    }

    let responses: [Single]
    /// The DER texts of the enclosed certificates.
    let certificates: [[UInt8]]

    private let signedBytes: ArraySlice<UInt8>
    private let algorithm: ASN1ObjectIdentifier
    private let signature: ArraySlice<UInt8>

    private struct Unreadable: Error {}

    /// Reads it; nil for a responder that declines to answer.
    init?(_ der: [UInt8]) throws {
        let outer = try Self.children(DER.parse(der), .sequence)
        guard outer.first?.identifier == .enumerated else { throw Unreadable() }
        guard try Self.bytes(outer[0]) == [0] else { return nil }
        guard outer.count == 2 else { throw Unreadable() }
        let typed = try Self.children(Self.only(outer[1], Self.tag(0)), .sequence)
        // id-pkix-ocsp-basic
        guard typed.count == 2, try ASN1ObjectIdentifier(derEncoded: typed[0]) == [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]
        else { throw Unreadable() }
        let basic = try Self.children(DER.parse(ASN1OctetString(derEncoded: typed[1]).bytes), .sequence)
        guard (3...4).contains(basic.count), let identifier = try Self.children(basic[1], .sequence).first
        else { throw Unreadable() }
        signedBytes = basic[0].encodedBytes
        algorithm = try ASN1ObjectIdentifier(derEncoded: identifier)
        signature = try ASN1BitString(derEncoded: basic[2]).bytes
        certificates =
            try basic.count == 4
            ? Self.children(Self.only(basic[3], Self.tag(0)), .sequence).map { Array($0.encodedBytes) } : []
        // version [0] DEFAULT, responderID [1] or [2], producedAt, responses, responseExtensions [1]
        let data = try Self.children(basic[0], .sequence)
        guard let list = data.first(where: { $0.identifier == .sequence }) else { throw Unreadable() }
        responses = try Self.children(list, .sequence).map(Self.single)
    }

    /// Whether the holder of this certificate's key signed it.
    func isSigned(by certificate: Certificate) -> Bool {
        let algorithms: [ASN1ObjectIdentifier: Certificate.SignatureAlgorithm] = [
            [1, 2, 840, 10_045, 4, 3, 2]: .ecdsaWithSHA256, [1, 2, 840, 10_045, 4, 3, 3]: .ecdsaWithSHA384,
            [1, 2, 840, 113_549, 1, 1, 11]: .sha256WithRSAEncryption,
            [1, 2, 840, 113_549, 1, 1, 12]: .sha384WithRSAEncryption,
        ]
        guard let algorithm = algorithms[algorithm] else { return false }
        return certificate.publicKey.isValidSignature(
            Array(signature), for: Array(signedBytes), signatureAlgorithm: algorithm)
    }

    private static func single(_ node: ASN1Node) throws -> Single {
        let parts = try children(node, .sequence)
        guard parts.count >= 3 else { throw Unreadable() }
        let status: OCSPResponse.Status
        switch parts[1].identifier {
        case tag(0): status = .good
        case tag(1): status = .revoked
        case tag(2): status = .unknown
        default: throw Unreadable()
        }
        let next = try parts.dropFirst(3).first { $0.identifier == tag(0) }.map { try date(only($0, tag(0))) }
        return Single(
            certID: Array(parts[0].encodedBytes), status: status, thisUpdate: try date(parts[2]), nextUpdate: next)
    }

    private static func date(_ node: ASN1Node) throws -> Timestamp {
        let time = try GeneralizedTime(derEncoded: node)
        func padded(_ number: Int, _ width: Int = 2) -> String {
            String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
        }
        let text =
            "\(padded(time.year, 4))-\(padded(time.month))-\(padded(time.day))"
            + "T\(padded(time.hours)):\(padded(time.minutes)):\(padded(time.seconds))Z"
        guard let date = Timestamp(iso8601: text) else { throw Unreadable() }
        return date
    }

    private static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }

    private static func children(_ node: ASN1Node, _ identifier: ASN1Identifier) throws -> [ASN1Node] {
        guard node.identifier == identifier, case .constructed(let nodes) = node.content else { throw Unreadable() }
        return Array(nodes)
    }

    private static func only(_ node: ASN1Node, _ identifier: ASN1Identifier) throws -> ASN1Node {
        let nodes = try children(node, identifier)
        guard nodes.count == 1 else { throw Unreadable() }
        return nodes[0]
    }

    private static func bytes(_ node: ASN1Node) throws -> [UInt8] {
        guard case .primitive(let bytes) = node.content else { throw Unreadable() }
        return Array(bytes)
    }
}
