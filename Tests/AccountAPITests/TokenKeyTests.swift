import AccountAPI
import Accounts
import AppStorePayloads
import Crypto
import Foundation
import HTTPTypes
import JWTKit
import Synchronization
import TestSupport
import Testing
import _CryptoExtras

@testable import APIKit

@Suite("The keys of tokens")
struct TokenKeyTests {
    /// A clock that stands until it is moved.
    private final class Clock: Sendable {
        private let instant = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { instant.withLock { $0 } }
        func advance(by duration: Duration) { instant.withLock { $0 += duration } }
    }

    private func set(_ text: String) async throws -> TokenKeySet { try await TokenKeySet(file: Array(text.utf8)) }

    @Test("at a URL are asked for once a minute at most, however many tokens name a key that is not known")
    func flood() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let old = try signer.jwks(only: ["p256"]), new = try signer.jwks(only: ["p256", "rsa"])
            let served = Mutex(old)
            let provider = try ScriptedServer { _ in .json(200, served.withLock { $0 }) }
            defer { provider.stop() }
            let clock = Clock()
            let keys = TokenKeys(
                try TokenKeySource("http://127.0.0.1:\(provider.port)/jwks.json"), logger: quiet, clock: { clock.now })
            try await keys.read()
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
            let (known, unknown) = (try await signer.token(), try await signer.token(key: "rsa"))
            func flood() async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let header = #"{"alg":"ES256","kid":"made-up-\#(number)"}"#
                            let token = TokenSigner.token(
                                header: header, claims: "{}", signature: Array(repeating: 1, count: 64))
                            await #expect(throws: TokenRefusal.unknownKey) { try await check.caller(of: token) }
                        }
                        group.addTask {
                            let caller = try await check.caller(of: known)
                            #expect(caller.account == "alice")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await flood()
            #expect(provider.requests.count == 1)
            // The provider has a new key: it is found with the first token that names it, once a minute has passed.
            served.withLock { $0 = new }
            await #expect(throws: TokenRefusal.unknownKey) { try await check.caller(of: unknown) }
            clock.advance(by: .seconds(61))
            #expect(try await check.caller(of: unknown).account == "alice")
            try await flood()
            #expect(provider.requests.count == 2)
            clock.advance(by: .seconds(61))
            try await flood()
            #expect(provider.requests.count == 3)
        }
    }

    @Test("that a provider has withdrawn are good for nothing, for tokens that were kept too")
    func withdrawn() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let served = Mutex(try signer.jwks())
            let provider = try ScriptedServer { _ in .json(200, served.withLock { $0 }) }
            defer { provider.stop() }
            let keys = TokenKeys(try TokenKeySource("http://127.0.0.1:\(provider.port)/"), logger: quiet)
            try await keys.read()
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
            let token = try await signer.token()
            #expect(try await check.caller(of: token).account == "alice")
            try served.withLock { $0 = try signer.jwks(only: ["rsa"]) }
            try await keys.read()
            await #expect(throws: TokenRefusal.self) { try await check.caller(of: token) }
        }
    }

    @Test(
        "stay where their provider does not answer, answers something else, or sends away",
        arguments: [
            "500", "html", "redirect", "list", "keyless", "long", "gone",
        ])
    func away(how: String) async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let isAway = Atomic(false)
            let jwks = try signer.jwks()
            let provider = try ScriptedServer { _ in
                guard isAway.load(ordering: .relaxed) else { return .json(200, jwks) }
                return switch how {
                case "500": .json(500, "{}")
                case "html": .json(200, "<html>")
                case "redirect": .json(302, "", "Location: http://127.0.0.1:1/\r\n")
                case "long": .json(200, jwks + String(repeating: " ", count: 2 << 20))
                case "gone": .bytes("")
                case "list": .json(200, #"[{"keys":[]}]"#)
                default: .json(200, #"{"keys":{}}"#)
                }
            }
            defer { provider.stop() }
            let keys = TokenKeys(try TokenKeySource("http://127.0.0.1:\(provider.port)/"), logger: quiet)
            try await keys.read()
            isAway.store(true, ordering: .relaxed)
            await #expect(throws: TokenKeySet.Fault.self) { try await keys.read() }
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
            #expect(try await check.caller(of: signer.token()).account == "alice")
            #expect(keys.whyNone == nil)
        }
    }

    @Test("that were never to be had are no reason to send anybody away for good: 503, and not 401")
    func never() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let keys = TokenKeys(.file(directory.appending(path: "nothing").path), logger: quiet)
            let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
            let problem = await #expect(throws: APIProblem.self) { try await check.caller(of: signer.token()) }
            #expect(problem?.code == .unavailable && problem?.headers[.retryAfter] != nil)
            #expect(keys.whyNone != nil)
        }
    }

    @Test("in a file are read again when it has changed")
    func file() async throws {
        try await withAPI { api in
            let token = try await api.signer.token()
            #expect(try await api.get("/v1/account", token: token).status == 200)
            try api.signer.jwks(only: ["rsa"]).write(toFile: api.signer.file, atomically: true, encoding: .utf8)
            try await eventually("the key that is gone is refused") {
                try await api.get("/v1/account", token: token).status == 401
            }
            let other = try await api.signer.token(key: "rsa")
            #expect(try await api.get("/v1/account", token: other).status == 200)
            // A file that is no good changes nothing.
            try "nonsense".write(toFile: api.signer.file, atomically: true, encoding: .utf8)
            #expect(try await api.get("/v1/account", token: other).status == 200)
        }
    }

    @Test("of a JWK set are those for the signatures that are taken here, and of a private key its public part")
    func jwks() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let point = Array(signer.p256.publicKey.rawRepresentation)
            let (x, y) = (TokenSigner.text(point[..<32]), TokenSigner.text(point[32...]))
            func jwks(_ member: String, kid: String = "p256") -> String {
                #"{"keys":[{"kty":"EC","crv":"P-256","kid":"\#(kid)","x":"\#(x)","y":"\#(y)",\#(member)}]}"#
            }
            let secret = TokenSigner.text(Array(signer.p256.rawRepresentation)[...])
            let file = directory.appending(path: "one.json").path
            for member in [
                #""d":"\#(secret)""#, #""d":"AAAA","p":"AAAA","q":"AAAA""#, #""use":"sig""#, #""alg":"ES256""#,
                #""key_ops":["verify"]"#, #""alg":null"#, #""x5c":["AAAA"]"#,
            ] {
                try jwks(member).write(toFile: file, atomically: true, encoding: .utf8)
                let keys = TokenKeys(.file(file), logger: quiet)
                try await keys.read()
                let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
                #expect(try await check.caller(of: signer.token()).account == "alice", "\(member)")
            }
            for member in [
                #""use":"enc""#, #""alg":"ES384""#, #""alg":"RS256""#, #""alg":"none""#, #""key_ops":["sign"]"#,
                #""crv":"P-256""#,
            ] {
                // The last of them names a member twice, and is no JSON.
                #expect((try? await set(jwks(member)).count) ?? 0 == 0, "\(member)")
            }
            let long = jwks(#""use":"sig""#, kid: String(repeating: "k", count: 1001))
            #expect(try await set(long).count == 0)
        }
    }

    @Test("are read out of PEM, of each kind and several at once; a private key is not taken")
    func pem() async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let pems = [
                signer.p256.publicKey.pemRepresentation, signer.rsa.publicKey.pemRepresentation,
                signer.ed25519.publicKey.pemRepresentation,
            ]
            #expect(try await set(pems.joined(separator: "\n")).count == 3)
            let file = directory.appending(path: "keys.pem").path
            for (pem, kind) in zip(pems, ["p256", "rsa", "ed25519"]) {
                try pem.write(toFile: file, atomically: true, encoding: .utf8)
                let keys = TokenKeys(.file(file), logger: quiet)
                try await keys.read()
                let check = TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock)
                #expect(try await check.caller(of: signer.token(key: JWKIdentifier(string: kind))).account == "alice")
                // The public key as a secret is no secret.
                let hmac = JWTKeyCollection()
                await hmac.add(hmac: HMACKey(from: Data(pem.utf8)), digestAlgorithm: .sha256)
                let forged = try await hmac.sign(TestClaims())
                await #expect(throws: TokenRefusal.algorithm) { try await check.caller(of: forged) }
            }
            for bad in [
                signer.p256.pemRepresentation, "-----BEGIN PUBLIC KEY-----\n",
                "-----BEGIN X-----\nAA==\n-----END X-----\n",
            ] {
                await #expect(throws: TokenKeySet.Fault.self) { try await set(bad) }
            }
        }
    }

    @Test("come from https, or from this machine, and from nowhere else")
    func urls() throws {
        for good in [
            "https://login.example.com/jwks.json", "http://127.0.0.1:8/x", "http://localhost/x", "http://[::1]:8/",
        ] {
            let source = try TokenKeySource(good)
            #expect(source == .url(good))
        }
        for bad in [
            "http://login.example.com/jwks.json", "http://127.0.0.1.example.com/", "ftp://127.0.0.1/x", "https://",
            "https://user:secret@example.com/", "http://localhost.example.com/", "http://127.0.0.1@example.com/",
        ] { #expect(throws: TokenKeySet.Fault.self, "\(bad)") { try TokenKeySource(bad) } }
        let file = try TokenKeySource("/etc/storehook/jwks.json")
        #expect(file == .file("/etc/storehook/jwks.json"))
        let secret = try TokenKeySource("secret:/etc/storehook/jwt-secret")
        #expect(secret == .secret("/etc/storehook/jwt-secret"))
    }
}
