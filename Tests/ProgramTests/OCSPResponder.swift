import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import Simulation
import TestSupport

/// A real OCSP responder, `openssl ocsp`, for the leaf of an authority of its own.
struct OCSPResponder {
    /// How the responder is to be.
    enum Manner {
        case good, revoked
        /// Answers under a certificate that the issuer did not make, with the issuer's name and rights in it.
        case forging
        /// Was never started.
        case away
        /// Takes connections and says nothing.
        case hanging
    }

    /// Signs what the leaf signs; the responder's address stands in the leaf.
    let authority: SimulatedAuthority
    private let program: ChildProgram?
    private let silence: TCPSocket?
    private let directory: URL

    /// Starts one.
    /// - Parameters:
    ///   - answers: after how many answers it ends.
    ///   - first: the address of a responder that the leaf names before this one.
    static func start(_ manner: Manner, answers: Int, behind first: String? = nil) async throws -> OCSPResponder {
        let responder = try OCSPResponder(manner, answers: answers, behind: first)
        guard let program = responder.program else { return responder }
        do {
            try await eventually("the responder listens") {
                if let ending = program.ending { throw NeverHappened("openssl's start: \(ending) \(program.errors)") }
                return (program.output + program.errors).contains("waiting for OCSP client connections")
            }
            return responder
        } catch {
            await responder.stop()
            throw error
        }
    }

    /// Whether it has given all its answers.
    var hasEnded: Bool { program?.ending == .exited(0) }

    func stop() async {
        await program?.discard()
        silence?.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private init(_ manner: Manner, answers: Int, behind first: String?) throws {
        let (socket, port) = try TCPSocket.listening(port: 0)
        if manner == .hanging {
            silence = socket
        } else {
            // Between this moment and openssl's start another may take the port; then it says so and ends.
            socket.close()
            silence = nil
        }
        var leaf = CertificateShape.leaf
        let own = "http://127.0.0.1:\(port)/ocsp"
        leaf.responder = first ?? own
        if first != nil { leaf.furtherResponders = [own] }
        var middle = CertificateShape.intermediate
        middle.responder = nil
        let root = try SimulatedCertificate(.root)
        let intermediate = try SimulatedCertificate(middle, issuer: root)
        authority = try SimulatedAuthority(
            chain: [SimulatedCertificate(leaf, issuer: intermediate), intermediate, root])

        directory = FileManager.default.temporaryDirectory.appending(path: "storehook-ocsp-\(UUID().uuidString)")
        guard manner != .away, manner != .hanging else {
            program = nil
            return
        }
        // id-kp-OCSPSigning in an extended key usage (RFC 6960 section 4.2.2.2)
        let usage = CertificateShape.RawExtension(
            oid: [2, 5, 29, 37], value: [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09])
        let shape = CertificateShape(
            commonName: "Simulated Responder", organizationalUnit: "S6", curve: .p256, maySignData: true,
            extensions: [usage])
        let stranger = manner == .forging ? try SimulatedCertificate(middle, issuer: root) : nil
        let signer = try SimulatedCertificate(shape, issuer: intermediate, signer: stranger)
        try SimulatedAuthority(chain: [signer, intermediate, root]).save(to: directory.path)
        let chain = try CertificateChain(
            validating: authority.chain.map(\.der), trustedRoots: [Fingerprint(of: root.der)])
        let serial = chain.leaf.serialNumber.map { String(format: "%02X", $0) }.joined()
        let entry = manner == .revoked ? "R\t491231235959Z\t260101000000Z" : "V\t491231235959Z\t"
        try "\(entry)\t\(serial)\tunknown\t/CN=leaf\n".write(
            to: directory.appending(path: "index.txt"), atomically: true, encoding: .utf8)
        program = try ChildProgram(
            "/usr/bin/openssl",
            [
                "ocsp", "-port", "\(port)", "-index", directory.appending(path: "index.txt").path,
                "-CA", directory.appending(path: "intermediate.pem").path,
                "-rsigner", directory.appending(path: "leaf.pem").path,
                "-rkey", directory.appending(path: "leaf.key").path, "-nmin", "60",
                "-nrequest", "\(answers)",
            ], environment: ["PATH": "/usr/bin:/bin"])
    }
}
