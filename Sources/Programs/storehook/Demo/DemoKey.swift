import AccountAPI
import AppStorePayloads
import Crypto
import Foundation
import JWTKit

#if canImport(Glibc)
    import Glibc
#endif

/// The key of a demonstration's tokens: a private one in a file that is its owner's alone, and the public half beside it.
struct DemoKey {
    private let key: P256.Signing.PrivateKey

    /// Where the private half of a JWKS is: `jwt.json` goes with `jwt-key.pem`.
    static func file(ofJWKS jwks: String) -> String {
        URL(fileURLWithPath: jwks).deletingLastPathComponent().appending(path: "jwt-key.pem").path
    }

    /// Where the public half of it is.
    static func jwks(ofFile file: String) -> String {
        URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: "jwt.json").path
    }

    /// Reads the key; nil where there is none.
    static func load(file: String) throws -> DemoKey? {
        guard let data = FileManager.default.contents(atPath: file) else { return nil }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: data, as: UTF8.self)) else {
            throw CommandFailure("\(file) holds no P-256 key in PEM; move it away", status: .usage)
        }
        return DemoKey(key: key)
    }

    /// Reads the key, or makes one; writes its JWKS where there is none, or another.
    static func loadOrMake(file: String) throws -> DemoKey {
        let demoKey: DemoKey
        if let kept = try load(file: file) {
            demoKey = kept
        } else {
            demoKey = DemoKey(key: P256.Signing.PrivateKey())
            try write(demoKey.key.pemRepresentation + "\n", to: file)
        }
        let jwks = jwks(ofFile: file)
        if FileManager.default.contents(atPath: jwks) != Data(demoKey.jwks.utf8) {
            do {
                try demoKey.jwks.write(toFile: jwks, atomically: true, encoding: .utf8)
            } catch {
                throw CommandFailure("cannot write \(jwks)")
            }
        }
        return demoKey
    }

    /// Readable by its owner alone from the start. Never overwrites a file that another process has created meanwhile.
    private static func write(_ text: String, to file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("cannot write \(file): \(String(cString: strerror(errno)))")
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        } catch {
            unlink(file)
            throw CommandFailure("cannot write \(file)")
        }
    }

    private static let identifier = "demo"

    private var jwks: String {
        let raw = Array(key.publicKey.rawRepresentation)
        func text(_ bytes: ArraySlice<UInt8>) -> String {
            String(decoding: Base64.url.encode(Array(bytes)), as: UTF8.self)
        }
        return """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"\(Self.identifier)","use":"sig","alg":"ES256",\
            "x":"\(text(raw.prefix(32)))","y":"\(text(raw.dropFirst(32)))"}]}

            """
    }

    /// A token of an account, as the settings say what the account API takes.
    func token(of account: String, hours: Int64, role: String? = nil, _ settings: Settings) async throws -> String {
        let rules = try settings.tokenRules()
        guard rules.accountClaim == "sub" else {
            throw CommandFailure(
                "STOREHOOK_JWT_ACCOUNT_CLAIM is another than sub, which is not signed here", status: .usage)
        }
        let now = Int64(Date().timeIntervalSince1970)
        return try await sign(
            DemoClaims(
                sub: account, iss: rules.issuer, aud: rules.audience, iat: now, exp: now + hours * 3600, role: role))
    }

    /// Where the key is whose public half the settings name.
    static func file(of settings: Settings) throws -> String {
        let source = try settings.tokenKeys()
        guard case .file(let jwks) = source else {
            throw CommandFailure("STOREHOOK_JWT_KEYS is a URL; say --key FILE", status: .usage)
        }
        return file(ofJWKS: jwks)
    }

    func sign(_ claims: DemoClaims) async throws -> String {
        let keys = JWTKeyCollection()
        let identifier = JWKIdentifier(string: Self.identifier)
        await keys.add(ecdsa: try ES256PrivateKey(pem: key.pemRepresentation), kid: identifier)
        return try await keys.sign(claims, kid: identifier)
    }
}
