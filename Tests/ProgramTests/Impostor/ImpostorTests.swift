import Crypto
import Foundation
import TestSupport
import Testing

@testable import storehook

/// What programs make of an impostor who has DNS on his side, and a certificate of his own address that everybody trusts: see
/// impostor.py, which needs namespaces of its own.
@Suite("An impostor whom DNS names", .serialized)
struct ImpostorTests {
    private static let script = packageRoot.appending(path: "Tests/ProgramTests/Impostor/impostor.py").path

    private struct Report: Decodable {
        struct Run: Decodable {
            var status: Int
            var said: String
        }

        struct Request: Decodable {
            var host: String
            var token: Bool
        }

        var doctor: Run
        var apple: Run
        var serve: Run
        var asked: [Request]
    }

    private static func namespaces() async -> Bool {
        guard
            let check = try? ChildProgram(
                "/usr/bin/python3", [script, "--check"], environment: ["PATH": "/usr/bin:/bin"])
        else { return false }
        let ending = await check.end()
        await check.discard()
        return ending == .exited(0)
    }

    @Test(
        "becomes nobody's login and is sent no token of Apple's, with a certificate of his address; with one of the name he is both",
        .enabled("needs network and mount namespaces: root, or users who may make their own") { await namespaces() },
        arguments: [false, true])
    func impostor(isNamed: Bool) async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let key = directory + "/jwt-key.pem"
                _ = try DemoKey.loadOrMake(file: key)
                let files = URL(fileURLWithPath: directory)
                try FileManager.default.moveItem(
                    at: files.appending(path: "jwt.json"), to: files.appending(path: "jwks.json"))
                let settings = site.environment([
                    "STOREHOOK_JWT_KEYS": "https://login.example.com/jwks.json",
                    "STOREHOOK_JWT_ISSUER": "storehook-demo", "STOREHOOK_JWT_AUDIENCE": "storehook",
                    "APPLE_ISSUER_ID": "issuer", "APPLE_KEY_ID": "key",
                    "APPLE_PRIVATE_KEY": Data(P256.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString(),
                ])
                let token = try await site.run("demo", "token", "mallory", "--key", key, with: settings).output
                try token.write(to: files.appending(path: "token"), atomically: true, encoding: .utf8)
                let names = [
                    "login.example.com", "api.storekit-sandbox.apple.com", "api.storekit.apple.com",
                ]
                let certificate = try ServerCertificate(names: isNamed ? names : [], addresses: [[203, 0, 113, 7]])
                try certificate.certificate.write(
                    to: files.appending(path: "chain.pem"), atomically: true, encoding: .utf8)
                try certificate.key.write(to: files.appending(path: "key.pem"), atomically: true, encoding: .utf8)
                let said = try await ChildProgram.run(
                    "/usr/bin/python3", [Self.script, directory, Executable.path], environment: settings)
                let report = try JSONDecoder().decode(Report.self, from: Data(said.utf8))
                #expect(report.serve.status == (isNamed ? 200 : 503), "\(report.serve.said)")
                #expect(
                    report.doctor.said.contains("1 key, for tokens of storehook-demo") == isNamed,
                    "\(report.doctor.said)")
                #expect(report.doctor.said.contains("what it names cannot be reached") != isNamed)
                #expect(report.apple.status == 1)
                #expect(report.apple.said.contains("no answer (tls)") != isNamed, "\(report.apple.said)")
                // The certificate was good enough for the first one, so it is the name that the other lacks.
                #expect(report.asked.contains(where: \.token) == isNamed)
                #expect(report.asked.isEmpty != isNamed)
            }
        }
    }
}
