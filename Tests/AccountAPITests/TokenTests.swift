import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Crypto
import Foundation
import JWTKit
import TestSupport
import Testing

@testable import APIKit

@Suite("An app's token")
struct TokenTests {
    @Test(
        "of each kind of key is taken, and names the account and what to buy with",
        arguments: ["p256", "ed25519", "rsa"])
    func good(kind: String) async throws {
        try await withAPI { api in
            let token = try await api.signer.token(TestClaims(sub: "user-42"), key: .init(string: kind))
            // The second time from what is kept.
            for _ in 0..<2 {
                let answer = try await api.get("/v1/account", token: token)
                #expect(answer.status == 200)
                #expect(answer.object?.string("id") == "user-42")
                #expect(
                    answer.object?.string("appAccountToken")
                        == AccountToken.of("user-42").description)
                #expect(answer.header("Cache-Control") == "no-store")
            }
        }
    }

    @Test("names a UUID in lower case, which is the token to buy with itself")
    func uuid() async throws {
        try await withAPI { api in
            let token = try await api.signer.token(of: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
            let answer = try await api.get("/v1/account", token: token)
            #expect(answer.object?.string("id") == "6f9619ff-8b86-d011-b42d-00cf4fc964ff")
            #expect(answer.object?.string("appAccountToken") == "6f9619ff-8b86-d011-b42d-00cf4fc964ff")
        }
    }

    @Test("is taken with one of several audiences, with a fraction of a second, and within a minute of its ends")
    func tolerance() async throws {
        try await withAPI { api in
            let now = Date().timeIntervalSince1970
            let claims = [
                TestClaims(aud: .some(["other", "store"])), TestClaims(exp: now + 100.5),
                TestClaims(exp: now - 40), TestClaims(nbf: now + 40),
            ]
            for claims in claims {
                let answer = try await api.get("/v1/account", token: api.signer.token(claims))
                #expect(answer.status == 200, "\(claims)")
            }
        }
    }

    @Test("that is missing, or no bearer's, is 401, and says what is wanted")
    func missing() async throws {
        try await withAPI { api in
            let bare = try await api.get("/v1/account")
            #expect(bare.status == 401 && bare.code == "token_missing")
            #expect(bare.header("WWW-Authenticate") == #"Bearer realm="storehook""#)
            #expect(bare.header("Content-Type") == "application/problem+json")
            let good = try await api.signer.token()
            for value in ["Basic YTpi", "Bearer", "Bearer ", good, "Bearer a b"] {
                let answer = try await api.get("/v1/account", [("Authorization", value)])
                #expect(answer.status == 401 && answer.code == "token_invalid", "\(value.prefix(10))")
                #expect(answer.header("WWW-Authenticate")?.contains(#"error="invalid_token""#) == true)
            }
            let key = try await api.serverKey().key
            for (value, isGood) in [
                (good, true), ("Token \(good)", true), ("JWT \(good)", true), (key.text, true), ("Basic YTpi", false),
                ("Bearer \(good.dropLast(700))", false), ("a.b.c", false),
            ] {
                let said = try await api.get("/v1/account", [("Authorization", value)]).object?.string("detail") ?? ""
                #expect(said.contains("write Bearer before it") == isGood, "\(value.prefix(10)): \(said)")
            }
            let twice = try await api.get(
                "/v1/account", [("Authorization", "Bearer \(good)"), ("Authorization", "Bearer \(good)")])
            #expect(twice.status == 401)
            #expect(try await api.get("/v1/account", [("Authorization", "bearer  \(good)")]).status == 200)
        }
    }

    @Test("whose claims are not the app's is 401, with a code that tells a token that has expired from others")
    func claims() async throws {
        try await withAPI { api in
            let now = Date().timeIntervalSince1970
            let bad: [(TestClaims, String)] = [
                (TestClaims(iss: "https://evil.example.com"), "token_invalid"), (TestClaims(iss: nil), "token_invalid"),
                (TestClaims(aud: .one("other")), "token_invalid"), (TestClaims(aud: .some([])), "token_invalid"),
                (TestClaims(aud: nil), "token_invalid"), (TestClaims(exp: nil), "token_invalid"),
                (TestClaims(exp: now - 61), "token_expired"), (TestClaims(exp: 1e300), "token_invalid"),
                (TestClaims(exp: -1), "token_invalid"), (TestClaims(nbf: now + 120), "token_invalid"),
                (TestClaims(sub: nil), "token_invalid"), (TestClaims(sub: ""), "token_invalid"),
                (TestClaims(sub: String(repeating: "a", count: 201)), "token_invalid"),
                (TestClaims(sub: "a b"), "token_invalid"), (TestClaims(sub: "a\r\nX-Evil: 1"), "token_invalid"),
                (TestClaims(sub: "héhé"), "token_invalid"),
                (TestClaims(sub: "00000000-0000-0000-0000-000000000000"), "token_invalid"),
            ]
            for (claims, code) in bad {
                let answer = try await api.get("/v1/account", token: api.signer.token(claims))
                #expect(answer.status == 401 && answer.code == code, "\(claims)")
            }
        }
    }

    @Test("that nobody has signed, or that claims another algorithm than the key's, is 401")
    func confusion() async throws {
        try await withAPI { api in
            let claims =
                #"{"sub":"alice","iss":"https://login.example.com","aud":"store","exp":\#(Int(Date().timeIntervalSince1970) + 600)}"#
            func forged(_ header: String, _ sign: (Data) throws -> [UInt8]) rethrows -> String {
                let signed = TokenSigner.token(header: header, claims: claims, signature: []).dropLast()
                return "\(signed).\(TokenSigner.text(try sign(Data(signed.utf8))[...]))"
            }
            // The public key, which everybody knows, as a shared secret.
            let secrets = [
                Data(api.signer.p256.publicKey.pemRepresentation.utf8), api.signer.p256.publicKey.rawRepresentation,
                Data(api.signer.rsa.publicKey.pemRepresentation.utf8), Data(try api.signer.jwks().utf8),
                // Of the set's own entry for a shared secret.
                Data(repeating: 0, count: 32),
            ]
            var tokens = ["p256", "rsa", "ed25519", "secret", "other"].flatMap { kid in
                secrets.map { secret in
                    forged(#"{"alg":"HS256","kid":"\#(kid)"}"#) {
                        Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret)))
                    }
                }
            }
            for algorithm in ["none", "None", "NONE", "", "HS512", "RS384", "PS256", "ES384", "ES256K"] {
                tokens.append(forged(#"{"alg":"\#(algorithm)","kid":"p256"}"#) { _ in [] })
                tokens.append(
                    try forged(#"{"alg":"\#(algorithm)"}"#) {
                        try Array(api.signer.p256.signature(for: $0).rawRepresentation)
                    })
            }
            // Signed, by a key of the set, under another's name, or as another kind.
            let ownSignature = { (data: Data) in try Array(api.signer.p256.signature(for: data).rawRepresentation) }
            tokens.append(try forged(#"{"alg":"ES256","kid":"rsa"}"#, ownSignature))
            tokens.append(try forged(#"{"alg":"RS256","kid":"p256"}"#, ownSignature))
            tokens.append(try forged(#"{"alg":"EdDSA","kid":"p256"}"#, ownSignature))
            tokens.append(try forged(#"{"alg":"ES256","kid":"p256","crit":["exp"]}"#, ownSignature))
            tokens.append(try forged(#"{"alg":"ES256","alg":"none","kid":"p256"}"#, ownSignature))
            // By a stranger's key, which the token brings along.
            let stranger = P256.Signing.PrivateKey()
            let jwk =
                #"{"kty":"EC","crv":"P-256","x":"\#(TokenSigner.text(Array(stranger.publicKey.rawRepresentation)[..<32]))"}"#
            for kid in ["p256", "../../dev/null", "' or 1=1"] {
                tokens.append(
                    try forged(
                        #"{"alg":"ES256","kid":"\#(kid)","jwk":\#(jwk),"jku":"http://127.0.0.1/","x5u":"http://127.0.0.1/"}"#
                    ) {
                        try Array(stranger.signature(for: $0).rawRepresentation)
                    })
            }
            for token in tokens {
                let answer = try await api.get("/v1/account", token: token)
                #expect(answer.status == 401 && answer.code == "token_invalid", "\(token)")
            }
        }
    }

    @Test("with a bit turned over, cut, or put together out of two is 401")
    func changed() async throws {
        try await withAPI { api in
            let token = try await api.signer.token()
            let other = try await api.signer.token(of: "bob")
            let (parts, others) = (token.split(separator: "."), other.split(separator: "."))
            var changed = [
                "\(parts[0]).\(others[1]).\(parts[2])", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "..",
                ".",
                "\(token).", "\(token).x", "\(token)=", token.uppercased(), String(token.dropLast()),
                "\(parts[0]).\(parts[1])=.\(parts[2])",
            ]
            for index in stride(from: 0, to: token.utf8.count, by: 7) {
                var bytes = Array(token.utf8)
                bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                changed.append(String(decoding: bytes, as: UTF8.self))
            }
            for text in changed where text != token {
                #expect(try await api.get("/v1/account", token: text).status == 401, "\(text)")
            }
            #expect(try await api.get("/v1/account", token: token).status == 200)
        }
    }

    @Test("of 9 kB or of a megabyte is 401 without being looked at")
    func long() async throws {
        try await withAPI { api in
            let text = String(repeating: "a", count: 9000)
            #expect(try await api.get("/v1/account", token: text).status == 401)
            let port = api.port
            let answer = try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                let head = "GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                // It may be answered, and closed, before all of it is sent.
                try? socket.send(head + String(repeating: "a", count: 1 << 20))
                return socket.receiveToEnd()
            }
            #expect(answer.hasPrefix("HTTP/1.1 401 ") || answer.isEmpty, "\(answer.prefix(100))")
            #expect(try await api.get("/healthz").status == 200)
        }
    }

    @Test("is good for no longer than it says, though it was kept")
    func expires() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let clock = ManualClock(millisecondsSince1970: 1_790_000_000_000)
            let keys = TokenKeys(.file(signer.file), logger: quiet)
            try await keys.read()
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet)) {
                Timestamp(millisecondsSince1970: clock.millisecondsSince1970)
            }
            let token = try await signer.token(TestClaims(exp: 1_790_000_100))
            #expect(try await check.caller(of: token).account == "alice")
            clock.advance(by: .seconds(159))
            #expect(try await check.caller(of: token).account == "alice")
            clock.advance(by: .seconds(1))
            await #expect(throws: TokenRefusal.expired) { try await check.caller(of: token) }
        }
    }
}
