import Crypto
import Foundation
import SwiftASN1
import X509

/// A server's certificate that vouches for itself, and its key.
public struct ServerCertificate: Sendable {
    /// The certificate in PEM form.
    public let certificate: String
    /// Its key in PEM form.
    public let key: String

    /// Makes one; each is another.
    /// - Parameters:
    ///   - names: the DNS names that it is for.
    ///   - addresses: the addresses that it is for, as their bytes.
    ///   - commonName: its subject; one of its own where it is nil.
    public init(
        names: [String] = ["localhost"], addresses: [[UInt8]] = [],
        commonName: String? = nil
    ) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(commonName ?? "storehook test \(UUID().uuidString)") }
        let others =
            names.map { GeneralName.dnsName($0) }
            + addresses.map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0[...])) }
        let now = Date()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: now - 86_400, notValidAfter: now + 86_400, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                if !others.isEmpty { SubjectAlternativeNames(others) }
            },
            issuerPrivateKey: .init(key))
        self.certificate = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }
}

/// A directory for a server's certificate and key, removed with the test.
public struct CertificateFiles: Sendable {
    /// The certificate's file.
    public let certificateFile: String
    /// The key's file.
    public let keyFile: String

    /// Runs `body` with the certificate in files.
    public static func with<T>(
        _ certificate: ServerCertificate, isolation: isolated (any Actor)? = #isolation,
        _ body: (CertificateFiles) async throws -> T
    ) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = CertificateFiles(
            certificateFile: directory.appending(path: "chain.pem").path,
            keyFile: directory.appending(path: "key.pem").path)
        try files.write(certificate)
        return try await body(files)
    }

    /// Puts another certificate and key into the files.
    public func write(_ certificate: ServerCertificate) throws {
        try certificate.certificate.write(toFile: certificateFile, atomically: true, encoding: .utf8)
        try certificate.key.write(toFile: keyFile, atomically: true, encoding: .utf8)
    }
}
