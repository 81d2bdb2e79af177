import AppStorePayloads
import Base
import Crypto
import JWTKit
import Simulation
import Testing

@testable import AppStoreServerAPI

@Suite("Access to Apple's servers")
struct AccessTests {
    private struct Claims: JWTPayload {
        var iss: String
        var iat: Int64
        var exp: Int64
        var aud: String
        var bid: String

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    @Test("is by a token that Apple documents: ES256, the key's id, issuer, audience, app, less than an hour")
    func token() async throws {
        let tokens = AccessTokens(try Shop.credentials())
        let token = try await tokens.token(at: Shop.now)
        let text = String(token.headerValue.dropFirst("Bearer ".count))
        let header = try #require(
            JSONDocument(Base64.url.decode(Array(text.split(separator: ".")[0].utf8)) ?? []).object)
        #expect(header.string("alg") == "ES256" && header.string("typ") == "JWT")
        #expect(header.string("kid") == "2X9R4HXF34")
        let publicKey = try P256.Signing.PrivateKey(pemRepresentation: Shop.keyText).publicKey
        let keys = await JWTKeyCollection().add(
            ecdsa: try ES256PublicKey(pem: publicKey.pemRepresentation), kid: "2X9R4HXF34")
        let claims = try await keys.verify(text, as: Claims.self)
        #expect(claims.iss == "57246542-96fe-1a63-e053-0824d011072a" && claims.aud == "appstoreconnect-v1")
        #expect(claims.bid == Shop.app.bundleId)
        #expect(claims.exp - claims.iat <= 3600 && claims.iat * 1000 <= Shop.now.millisecondsSince1970)
        #expect(claims.exp * 1000 == token.expires.millisecondsSince1970)
    }

    @Test("uses a token again until a minute before its end, and not one that Apple has refused")
    func reuse() async throws {
        let tokens = AccessTokens(try Shop.credentials())
        let first = try await tokens.token(at: Shop.now)
        let last = first.expires.adding(milliseconds: -60_001)
        #expect(try await tokens.token(at: last) == first)
        let second = try await tokens.token(at: first.expires.adding(seconds: -60))
        #expect(second != first && second.expires > first.expires)
        await tokens.discard(first)
        #expect(try await tokens.token(at: last) == second)
        await tokens.discard(second)
        #expect(try await tokens.token(at: last) != second)
    }

    @Test("makes one token for many requests")
    func oneToken() async throws {
        let shop = try await Shop { _ in Array(repeating: .code(4_000_006), count: 3) }
        for _ in 0..<3 { _ = try? await shop.client.ask(.transactionInfo("1"), in: .sandbox) }
        #expect(Set(shop.transport.asked.map(\.request.token)).count == 1)
    }

    @Test("shows neither key nor token, however it is printed")
    func secrets() async throws {
        let credentials = try Shop.credentials()
        let token = try await AccessTokens(credentials).token(at: Shop.now)
        let request = TransportRequest(method: .get, url: "https://example.com", token: token, body: nil)
        var text = "\(credentials) \(credentials.key) \(token) \(request)"
        text += String(reflecting: credentials) + String(reflecting: token) + String(reflecting: request)
        dump(credentials, to: &text)
        dump(request, to: &text)
        let key = try P256.Signing.PrivateKey(pemRepresentation: Shop.keyText)
        let secrets =
            Shop.keyText.split(separator: "\n").dropFirst().dropLast().map(String.init) + [
                key.rawRepresentation.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
                String(token.headerValue.split(separator: ".")[1]),
            ]
        for secret in secrets { #expect(!text.contains(secret)) }
        #expect(text.contains("(private key)") && text.contains("(token until"))
    }

    @Test("takes a .p8 file's text for a key, and nothing else, without repeating it")
    func keys() throws {
        _ = try SigningKey(pem: Shop.keyText)
        for text in [
            "", "secret", P384.Signing.PrivateKey().pemRepresentation,
            P256.Signing.PrivateKey().publicKey.pemRepresentation,
        ] {
            let fault = #expect(throws: SigningKey.Fault.self) { _ = try SigningKey(pem: text) }
            #expect(fault?.rawValue.contains("secret") == false)
        }
    }

    @Test("is to Apple over TLS, and to a stand-in on this machine, or over TLS without Production")
    func hosts() throws {
        let both: Set<Environment> = [.production, .sandbox]
        for url in ["http://127.0.0.1:8090", "http://127.1.2.3/", "http://localhost:1", "http://[::1]:8090/a"] {
            _ = try AppStoreHosts(standIn: url, for: both)
        }
        _ = try AppStoreHosts(standIn: "https://store.example.com", for: [.sandbox])
        let refused: [(String, Set<Environment>, AppStoreHosts.Fault)] = [
            ("https://store.example.com", both, .production), ("http://store.example.com", [.sandbox], .insecure),
            ("http://127.0.0.1.example.com", [.sandbox], .insecure), ("http://127.0.0.256", [.sandbox], .insecure),
            ("http://localhost@example.com", both, .malformed), ("http://127.0.0.1?x", both, .malformed),
            ("ftp://127.0.0.1", both, .malformed), ("http://", both, .malformed), ("127.0.0.1:80", both, .malformed),
            ("http://127.0.0.1:99999", both, .malformed), ("http://[::1", both, .malformed),
            ("http://127.0.0.1\\@example.com", both, .malformed),
        ]
        for (url, environments, fault) in refused {
            #expect(throws: fault, "\(url)") { _ = try AppStoreHosts(standIn: url, for: environments) }
        }
        let standIn = try AppStoreHosts(standIn: "http://127.0.0.1:8090/", for: both)
        #expect(
            standIn.url(.refundHistory("1"), in: .sandbox)
                == "http://127.0.0.1:8090/inApps/v2/refund/lookup/1?environment=Sandbox")
        #expect(
            AppStoreHosts.apple.url(.refundHistory("1"), in: .sandbox)
                == "https://api.storekit-sandbox.apple.com/inApps/v2/refund/lookup/1")
    }
}
