import AppStorePayloads
import Base
import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate of the simulator's, with the key that belongs to it.
public struct SimulatedCertificate: Sendable {
    /// The certificate's DER text.
    public let der: [UInt8]
    /// The shape that it was made from.
    public let shape: CertificateShape

    let key: SimulatedKey
    let certificate: Certificate

    /// Makes a key and a certificate for it.
    ///
    /// - Parameters:
    ///   - shape: What the certificate says.
    ///   - issuer: The certificate that signs it; nil for a self-signed one.
    ///   - signer: For a forgery: the certificate whose key really signs it, if that is not the named issuer.
    /// - Throws: What the certificate library says about a shape that cannot be written.
    public init(
        _ shape: CertificateShape, issuer: SimulatedCertificate? = nil, signer: SimulatedCertificate? = nil
    ) throws {
        try self.init(shape, key: SimulatedKey(shape.curve), issuer: issuer, signer: signer)
    }

    /// Makes a certificate over the same key as this one, saying something else.
    public func reissued(_ shape: CertificateShape, issuer: SimulatedCertificate?) throws -> SimulatedCertificate {
        try SimulatedCertificate(shape, key: key, issuer: issuer, signer: nil)
    }

    private init(
        _ shape: CertificateShape, key: SimulatedKey, issuer: SimulatedCertificate?, signer: SimulatedCertificate?
    ) throws {
        let subject = try DistinguishedName {
            CommonName(shape.commonName)
            OrganizationalUnitName(shape.organizationalUnit)
            OrganizationName("Storehook")
            CountryName("US")
        }
        let signingKey = (signer ?? issuer)?.key ?? key
        let usesSHA1 = ((signer ?? issuer)?.shape ?? shape).signsWithSHA1
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(shape.notBefore.millisecondsSince1970 / 1000)),
            notValidAfter: Date(timeIntervalSince1970: Double(shape.notAfter.millisecondsSince1970 / 1000)),
            issuer: issuer?.certificate.subject ?? subject,
            subject: subject,
            signatureAlgorithm: signingKey.signatureAlgorithm(withSHA1: usesSHA1),
            extensions: Self.extensions(shape, key: key, issuerKey: issuer?.key),
            issuerPrivateKey: signingKey.privateKey
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        self.init(der: serializer.serializedBytes, shape: shape, key: key, certificate: certificate)
    }

    init(der: [UInt8], shape: CertificateShape, key: SimulatedKey, certificate: Certificate) {
        self.der = der
        self.shape = shape
        self.key = key
        self.certificate = certificate
    }

    private static func extensions(
        _ shape: CertificateShape, key: SimulatedKey, issuerKey: SimulatedKey?
    ) throws -> Certificate.Extensions {
        var list: [Certificate.Extension] = []
        switch shape.authority {
        case .unstated: break
        case .no: list.append(try .init(BasicConstraints.notCertificateAuthority, critical: true))
        case .yes(let length):
            list.append(try .init(BasicConstraints.isCertificateAuthority(maxPathLength: length), critical: true))
        }
        if let issuerKey {
            list.append(try .init(AuthorityKeyIdentifier(keyIdentifier: issuerKey.identifier[...]), critical: false))
        }
        var access: [AuthorityInformationAccess.AccessDescription] = []
        if let location = shape.issuerLocation {
            access.append(.init(method: .issuingCA, location: .uniformResourceIdentifier(location)))
        }
        for responder in shape.responder.map({ [$0] + shape.furtherResponders }) ?? [] {
            access.append(.init(method: .ocspServer, location: .uniformResourceIdentifier(responder)))
        }
        if !access.isEmpty { list.append(try .init(AuthorityInformationAccess(access), critical: false)) }
        if let text = shape.policyText { list.append(try certificatePolicy(text)) }
        if let address = shape.revocationList { list.append(try revocationList(address)) }
        list.append(try .init(SubjectKeyIdentifier(keyIdentifier: key.identifier[...]), critical: false))
        if shape.maySignData || shape.maySignCertificates {
            let usage = KeyUsage(
                digitalSignature: shape.maySignData,
                keyCertSign: shape.maySignCertificates,
                cRLSign: shape.maySignCertificates
            )
            list.append(try .init(usage, critical: true))
        }
        for raw in shape.extensions {
            list.append(
                .init(oid: try ASN1ObjectIdentifier(elements: raw.oid), critical: raw.isCritical, value: raw.value[...])
            )
        }
        return try Certificate.Extensions(list)
    }

    /// RFC 5280 section 4.2.1.4: one policy with a notice to the user and the address of a statement.
    private static func certificatePolicy(_ text: String) throws -> Certificate.Extension {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { policies in
            try policies.appendConstructedNode(identifier: .sequence) { policy in
                try policy.serialize(try ASN1ObjectIdentifier(elements: [1, 2, 840, 113_635, 100, 5, 6, 1]))
                try policy.appendConstructedNode(identifier: .sequence) { qualifiers in
                    try qualifiers.appendConstructedNode(identifier: .sequence) { notice in
                        try notice.serialize(try ASN1ObjectIdentifier(elements: [1, 3, 6, 1, 5, 5, 7, 2, 2]))
                        try notice.appendConstructedNode(identifier: .sequence) {
                            try $0.serialize(ASN1UTF8String(text))
                        }
                    }
                    try qualifiers.appendConstructedNode(identifier: .sequence) { statement in
                        try statement.serialize(try ASN1ObjectIdentifier(elements: [1, 3, 6, 1, 5, 5, 7, 2, 1]))
                        try statement.serialize(ASN1IA5String("http://www.storehook.invalid/simulator/authority/"))
                    }
                }
            }
        }
        return .init(
            oid: try ASN1ObjectIdentifier(elements: [2, 5, 29, 32]), critical: false, value: coder.serializedBytes[...])
    }

    /// RFC 5280 section 4.2.1.13: one distribution point with one address.
    private static func revocationList(_ address: String) throws -> Certificate.Extension {
        func tag(_ number: UInt) -> ASN1Identifier { ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific) }
        var coder = DER.Serializer()
        coder.appendConstructedNode(identifier: .sequence) { points in
            points.appendConstructedNode(identifier: .sequence) { point in
                point.appendConstructedNode(identifier: tag(0)) { name in
                    name.appendConstructedNode(identifier: tag(0)) { full in
                        full.appendPrimitiveNode(identifier: tag(6)) { $0.append(contentsOf: address.utf8) }
                    }
                }
            }
        }
        return .init(
            oid: try ASN1ObjectIdentifier(elements: [2, 5, 29, 31]), critical: false, value: coder.serializedBytes[...])
    }
}
