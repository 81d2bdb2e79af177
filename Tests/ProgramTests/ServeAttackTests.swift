import Crypto
import Foundation
import TestSupport
import Testing

@testable import storehook

@Suite("Tokens that nobody should take, sent to storehook serve")
struct ServeAttackTests {
    /// Makes tokens of any kind, with the key that the served JWKS holds or with others.
    private struct Forge {
        let key: P256.Signing.PrivateKey
        let kid: String
        let jwks: String

        init(_ settings: [String: String]) throws {
            let file = try #require(settings["STOREHOOK_JWT_KEYS"])
            jwks = try String(contentsOfFile: file, encoding: .utf8)
            key = try P256.Signing.PrivateKey(
                pemRepresentation: String(
                    contentsOfFile: file.replacing("jwt.json", with: "jwt-key.pem"), encoding: .utf8))
            let set = try JSONSerialization.jsonObject(with: Data(jwks.utf8)) as? [String: [[String: String]]]
            kid = try #require(set?["keys"]?.first?["kid"])
        }

        static func text(_ bytes: some DataProtocol) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }

        func token(
            header: [String: String] = [:], claims changes: [String: Any] = [:],
            signing sign: ((Data) throws -> Data)? = nil
        ) throws -> String {
            let now = Int(Date().timeIntervalSince1970)
            let claims: [String: Any] = [
                "sub": "mallory", "iss": "storehook-demo", "aud": "storehook", "exp": now + 600, "iat": now,
            ]
            let parts = [
                try JSONSerialization.data(withJSONObject: ["alg": "ES256", "kid": kid].merging(header) { $1 }),
                try JSONSerialization.data(withJSONObject: claims.merging(changes) { $1 }),
            ].map { Self.text($0) }.joined(separator: ".")
            let signature = try sign?(Data(parts.utf8)) ?? key.signature(for: Data(parts.utf8)).rawRepresentation
            return parts + "." + Self.text(signature)
        }

        /// Each attack by its name.
        func attacks() throws -> [(name: String, token: String)] {
            let now = Int(Date().timeIntervalSince1970)
            let stranger = P256.Signing.PrivateKey()
            func hmac(_ secret: Data) -> (Data) -> Data {
                { Data(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret))) }
            }
            let publicPEM = Data(key.publicKey.pemRepresentation.utf8)
            return [
                ("none", try token(header: ["alg": "none"]) { _ in Data() }),
                ("None, with a signature", try token(header: ["alg": "None"])),
                ("another key", try token { try stranger.signature(for: $0).rawRepresentation }),
                ("the public key as a secret", try token(header: ["alg": "HS256"], signing: hmac(publicPEM))),
                (
                    "the key's bytes as a secret",
                    try token(header: ["alg": "HS256"], signing: hmac(key.publicKey.rawRepresentation))
                ),
                ("the key set as a secret", try token(header: ["alg": "HS256"], signing: hmac(Data(jwks.utf8)))),
                ("another algorithm's name", try token(header: ["alg": "RS256"])),
                ("expired", try token(claims: ["exp": now - 120])),
                ("not yet valid", try token(claims: ["nbf": now + 300])),
                ("another audience", try token(claims: ["aud": "another"])),
                ("another issuer", try token(claims: ["iss": "https://evil.example.com"])),
                ("a key that nobody knows", try token(header: ["kid": "made-up"])),
                ("no end", try token(claims: ["exp": NSNull()])),
                ("nobody's", try token(claims: ["sub": ""])),
            ]
        }
    }

    @Test(
        "are each 401, the provider of keys is asked for none of them, and a good one is taken before, between and after"
    )
    func attacks() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let forge = try Forge(settings)
                let provider = try ScriptedServer { _ in .json(200, forge.jwks) }
                defer { provider.stop() }
                let more = settings.merging([
                    "STOREHOOK_JWT_KEYS": "http://127.0.0.1:\(provider.port)/jwks.json",
                    "STOREHOOK_REQUESTS_PER_ADDRESS": "1000000",
                ]) { $1 }
                try await site.with(["serve", "--port", "0"], more) { program in
                    let api = ServedAPI(port: try #require(program.port))
                    let good = try forge.token()
                    try await eventually("the keys are there") {
                        try await api.send("/v1/account", token: good).status == 200
                    }
                    // The set may have been asked for once more since, as it is every few minutes.
                    let begun = ContinuousClock.now
                    for (name, token) in try forge.attacks() {
                        for path in ["/v1/account", "/v1/guard", "/subscription/status"] {
                            #expect(try await api.send(path, token: token).status == 401, "\(name) \(path)")
                        }
                    }
                    try await Self.flood(api, forge, good)
                    let minutes = Int((ContinuousClock.now - begun) / .seconds(60))
                    #expect(provider.requests.count <= 2 + minutes, "\(provider.requests.count)")
                    let port = api.port
                    let answer = try await onThread {
                        let socket = try TCPSocket(port: port)
                        defer { socket.close() }
                        // It may be answered, and closed, before all of it is sent.
                        try? socket.send(
                            "GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                                + String(repeating: "a", count: 1 << 20))
                        return socket.receiveToEnd()
                    }
                    #expect(answer.hasPrefix("HTTP/1.1 401 ") || answer.isEmpty, "\(answer.prefix(100))")
                    #expect(try await api.send("/v1/account", token: good).status == 200)
                    #expect(!program.errors.contains(good) && !program.errors.contains("mallory"))
                }
            }
        }
    }

    /// Hundreds of tokens at once; each names a key of its own.
    private static func flood(_ api: ServedAPI, _ forge: Forge, _ good: String) async throws {
        let made = try (0..<300).map { try forge.token(header: ["kid": "made-up-\($0)"]) }
        try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for token in made {
                group.addTask {
                    (try await api.send("/v1/account", token: token).status, 401)
                }
            }
            for _ in 0..<50 {
                group.addTask { (try await api.send("/v1/account", token: good).status, 200) }
            }
            for try await (status, expected) in group { #expect(status == expected) }
        }
    }
}
