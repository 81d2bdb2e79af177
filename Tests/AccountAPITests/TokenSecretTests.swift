import AccountAPI
import Accounts
import Base
import Crypto
import Foundation
import JWTKit
import TestSupport
import Testing
import _CryptoExtras

@testable import APIKit

@Suite("A secret that tokens are signed with")
struct TokenSecretTests {
    /// What anybody may know, by what it is.
    private func publicTexts(_ signer: TokenSigner) throws -> [(what: String, bytes: [UInt8])] {
        func lines(_ data: Data) -> String {
            data.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        }
        func field(_ bytes: Data) -> Data { withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Data($0) } + bytes }
        let jwks = try signer.jwks()
        let rsa = try _RSA.Signing.PublicKey(pemRepresentation: signer.rsa.publicKey.pemRepresentation)
        let ecdsa = signer.p256.publicKey.derRepresentation
        let ssh = (field(Data("ssh-ed25519".utf8)) + field(signer.ed25519.publicKey.rawRepresentation))
            .base64EncodedString()
        let sshRSA = (field(Data("ssh-rsa".utf8)) + field(Data([1, 0, 1])) + field(Data(repeating: 7, count: 257)))
            .base64EncodedString()
        let certificate = try ServerCertificate().certificate
        let list = jwks.drop { $0 != "[" }.dropLast()
        let texts: [(String, String)] = [
            ("PEM", signer.p256.publicKey.pemRepresentation), ("a certificate", certificate),
            ("PEM of a private key", signer.p256.pemRepresentation),
            ("PEM without its armour", lines(rsa.derRepresentation)),
            ("the same of P-256, on one line", ecdsa.base64EncodedString()),
            ("the same in base64url", ecdsa.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")),
            ("PKCS #1 without its armour", lines(rsa.pkcs1DERRepresentation)),
            ("a certificate without its armour", certificate.split(separator: "\n").dropFirst().dropLast().joined()),
            ("an ssh-rsa line", "ssh-rsa \(sshRSA) root@login\n"), ("an ssh-ed25519 line", "ssh-ed25519 \(ssh)"),
            ("an ssh key without its kind", ssh),
            ("a line of known_hosts", "login.example.com ssh-rsa \(sshRSA)"),
            ("a JWK set", jwks), ("a JWK set behind a byte order mark", "\u{FEFF}" + jwks),
            ("a JWK set behind lines", "\r\n\n  " + jwks), ("a JSON list of keys", String(list)),
            ("half a JWK set", String(jwks.prefix(jwks.count / 2))),
            ("a JWK set in base64", lines(Data(jwks.utf8))), ("PEM in base64", lines(Data(certificate.utf8))),
            ("a page", "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>"),
            ("a page behind a byte order mark", "\u{FEFF}<html><body>Please log in to see this page</body></html>"),
            ("a URL", "https://login.example.com/.well-known/jwks.json"),
        ]
        return texts.map { ($0, Array($1.utf8)) } + [
            ("DER", Array(ecdsa)), ("DER of RSA", Array(rsa.derRepresentation)),
            ("PKCS #1", Array(rsa.pkcs1DERRepresentation)),
            ("DER with a line's end", Array(ecdsa) + [0x0A]),
        ]
    }

    @Test("is none that is public by its form, named as a secret or not")
    func publicTexts() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            for (what, bytes) in try publicTexts(signer) {
                await #expect(throws: TokenKeySet.Fault.self, "\(what)") {
                    try await TokenKeySet(secret: bytes, isPrivate: true)
                }
                // Some of them are keys. A token that is signed with the text itself is refused in any case.
                let file = directory.appending(path: "keys").path
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                let keys = TokenKeys(.file(file), logger: quiet)
                _ = try? await keys.read()
                let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
                for secret in [bytes, Array(bytes.prefix { $0 != 0x0A })] where secret.count >= 32 {
                    let hmac = JWTKeyCollection()
                    await hmac.add(hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256)
                    let forged = try await hmac.sign(TestClaims())
                    await #expect(throws: (any Error).self, "\(what)") { try await check.caller(of: forged) }
                }
            }
        }
    }

    @Test("is taken only where it is named as one, and what it says then says the setting")
    func bare() async throws {
        let secret = Array((0..<48).map { _ in UInt8.random(in: .min ... .max) })
        let text = Array(Data(secret).base64EncodedString().utf8)
        let fault = await #expect(throws: TokenKeySet.Fault.self) { try await TokenKeySet(file: text) }
        #expect(fault?.description.contains("STOREHOOK_JWT_SECRET_FILE") == true)
        #expect(try await TokenKeySet(secret: text, isPrivate: true).count == 1)
    }

    @Test("is taken as people make one, whatever it happens to be")
    func made() async throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 32...64, using: &random)).map { _ in
                UInt8.random(in: 32...126, using: &random)
            }
            let raw = Data((0..<48).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            for secret in [
                Array(raw), Array(raw.base64EncodedString().utf8),
                Array(raw.map { String(format: "%02x", $0) }.joined().utf8),
                [UInt8(ascii: "p")] + bytes,
            ] {
                #expect(
                    try await TokenKeySet(secret: secret, isPrivate: true).count == 1, "seed \(random.seed): \(secret)")
            }
        }
    }

    @Test("has 32 bytes or more and is read by nobody else, and then HS256 alone is taken")
    func file() async throws {
        let text = String(repeating: "s", count: 40)
        #expect(try await TokenKeySet(secret: Array((text + "\n").utf8), isPrivate: true).count == 1)
        for (secret, isPrivate) in [
            (String(text.prefix(31)), true), (String(text.prefix(31)) + "\n\n", true), (text, false),
        ] {
            await #expect(throws: TokenKeySet.Fault.self) {
                try await TokenKeySet(secret: Array(secret.utf8), isPrivate: isPrivate)
            }
        }
        try await withDirectory { directory in
            let file = directory.appending(path: "secret").path
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let keys = TokenKeys(.secret(file), logger: quiet)
            for (mode, isTaken) in [(0o644, false), (0o620, false), (0o600, true), (0o640, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                let fresh = TokenKeys(.secret(file), logger: quiet)
                #expect((try? await fresh.read()) == (isTaken ? 1 : nil), "\(mode)")
            }
            try await keys.read()
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
            let hmac = JWTKeyCollection()
            await hmac.add(hmac: HMACKey(from: Data(text.utf8)), digestAlgorithm: .sha256)
            let token = try await hmac.sign(TestClaims())
            #expect(try await check.caller(of: token).account == "alice")
            let signer = try await TokenSigner(in: directory)
            await #expect(throws: TokenRefusal.self) { try await check.caller(of: signer.token()) }
            // A public text in its place leaves the secret of before.
            try signer.jwks().write(toFile: file, atomically: true, encoding: .utf8)
            await #expect(throws: TokenKeySet.Fault.self) { try await keys.read() }
            #expect(try await check.caller(of: token).account == "alice")
            guard case .stale(1, _, _) = keys.standing else {
                Issue.record("\(keys.standing)")
                return
            }
        }
    }
}
