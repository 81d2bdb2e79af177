import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The host name that a server has to prove: its certificate has to have it among its DNS names.
///
/// BoringSSL has found the chain trusted by then, and swift-nio-ssl has compared the certificate with the host. But swift-nio-ssl also
/// accepts a certificate of the address that was connected to. That address comes from DNS: an attacker who forges DNS would only need a
/// certificate of an address of his own. (RFC 9525, section 6.3: an identifier of the type that was asked for.)
struct ServerName: Sendable {
    private let name: String

    init(_ name: String) { self.name = name }

    /// Fails, and closes the connection, unless the server has proven the name. Nothing was sent by then but the handshake.
    func requireProof(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let bytes = try certificate?.toDERBytes() else { throw OutboundFault.handshake }
            return bytes
        }.flatMap { bytes in
            channel.eventLoop.makeFutureWithTask {
                guard await isProven(by: bytes) else { throw OutboundFault.handshake }
            }
        }.flatMapErrorThrowing { _ in
            channel.close(promise: nil)
            throw OutboundFault.handshake
        }
    }

    /// Whether a certificate has the name among its DNS names.
    /// - Parameter certificate: in DER.
    func isProven(by certificate: [UInt8]) async -> Bool {
        guard let leaf = try? Certificate(derEncoded: certificate),
            let names = try? leaf.extensions.subjectAlternativeNames,
            // Without any, the policy would go by the subject's common name.
            names.contains(where: { if case .dnsName = $0 { true } else { false } })
        else { return false }
        var verifier = Verifier(rootCertificates: CertificateStore([leaf])) {
            NamePolicy(name, verifyingCriticalExtensions: leaf.extensions.map(\.oid))
        }
        if case .validCertificate = await verifier.validate(leaf: leaf, intermediates: CertificateStore()) {
            return true
        }
        return false
    }

    /// What swift-certificates says of names; all else was judged before.
    private struct NamePolicy: VerifierPolicy {
        let verifyingCriticalExtensions: [ASN1ObjectIdentifier]
        private var identity: ServerIdentityPolicy

        init(_ name: String, verifyingCriticalExtensions: [ASN1ObjectIdentifier]) {
            self.verifyingCriticalExtensions = verifyingCriticalExtensions
            identity = ServerIdentityPolicy(serverHostname: name, serverIP: nil)
        }

        mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
            identity.chainMeetsPolicyRequirements(chain: chain)
        }
    }
}
