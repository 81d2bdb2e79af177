import AppStorePayloads

/// The keys that app tokens are checked with, as they were read at one moment.
package struct TokenKeySet: Sendable {
    /// Why something holds no keys: one line, with nothing of the contents.
    package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// One line for people.
        package let description: String
    }

    /// How many keys are taken at most; providers have two or three.
    package static let most = 100

    let keys: [TokenKey]

    private init(_ keys: [TokenKey]) { self.keys = keys }

    /// How many there are.
    package var count: Int { keys.count }

    /// The keys that may have signed a token of this name and algorithm.
    ///
    /// Several keys may share a name, or names may be missing. Only a few are tried: otherwise the sender of a token
    /// could choose how much work it causes.
    func candidates(_ identifier: String?, _ algorithm: TokenKey.Algorithm) -> [TokenKey] {
        Array(
            keys.filter {
                $0.algorithm == algorithm
                    && ($0.identifier == identifier || $0.identifier == nil || identifier == nil)
            }.prefix(8))
    }

    /// A JWK set (RFC 7517): those of its keys that are for signatures which are taken here.
    package init(jwks bytes: [UInt8]) async throws(Fault) {
        guard let set = try? JSONDocument(bytes).object, let objects = set.objects("keys") else {
            throw Fault(description: "is no JWK set: JSON with a list of objects as \"keys\" is meant")
        }
        guard objects.count <= Self.most else { throw Fault(description: "holds more than \(Self.most) keys") }
        var keys: [TokenKey] = []
        for object in objects {
            if let key = await TokenKey(jwk: object) { keys.append(key) }
        }
        guard !keys.isEmpty else {
            throw Fault(
                description:
                    "holds no key that tokens can be signed with here: RSA of 2048 to 8192 bits (RS256), P-256 (ES256), "
                    + "Ed25519 (EdDSA)")
        }
        self.init(keys)
    }

    /// What a file holds: a JWK set, public keys or certificates in PEM, or a secret.
    /// - Parameter isPrivate: whether only the file's owner, and its group at most, can read it: a secret has to be.
    package init(file bytes: [UInt8], isPrivate: Bool) async throws(Fault) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let first = bytes.first(where: { !Self.isSpace($0) }), first == UInt8(ascii: "{") {
            self = try await TokenKeySet(jwks: bytes)
        } else if text.contains("-----BEGIN ") {
            self = try await TokenKeySet(pem: text)
        } else {
            self = try await TokenKeySet(secret: bytes, isPrivate: isPrivate)
        }
    }

    private init(pem text: String) async throws(Fault) {
        guard !text.contains("PRIVATE KEY-----") else {
            throw Fault(
                description: "holds a private key, which is whose who signs tokens; give its public key: "
                    + "openssl pkey -in FILE -pubout")
        }
        var keys: [TokenKey] = []
        for block in Self.blocks(text).prefix(Self.most) {
            guard let key = await TokenKey(pem: block) else {
                throw Fault(
                    description:
                        "holds a PEM block that is no public key or certificate of RSA (2048 bits or more), P-256 or "
                        + "Ed25519")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw Fault(description: "holds no whole PEM block") }
        self.init(keys)
    }

    private init(secret bytes: [UInt8], isPrivate: Bool) async throws(Fault) {
        // DER of a public key: used as a secret, it would let anyone sign.
        guard !Self.looksLikeDER(bytes) else {
            throw Fault(
                description: "looks like a key in DER; write it as PEM: openssl pkey -pubin -inform DER -in FILE")
        }
        // A line end that an editor appended is not part of the secret.
        var secret = bytes
        while let last = secret.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { secret.removeLast() }
        guard secret.count >= 32 else {
            throw Fault(
                description: "is no JWK set and no PEM, and as a secret for HS256 it has less than 32 bytes: "
                    + "openssl rand -base64 48")
        }
        guard isPrivate else {
            throw Fault(description: "holds a secret that others can read: chmod 600 or 640")
        }
        guard let key = await TokenKey(secret: secret) else { throw Fault(description: "holds no secret") }
        self.init([key])
    }

    /// A sequence that fills the file, and is no text.
    private static func looksLikeDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2, bytes[0] == 0x30 else { return false }
        return ((0x81...0x84).contains(bytes[1]) || Int(bytes[1]) == bytes.count - 2)
            && bytes.contains { $0 < 0x09 || $0 > 0x7E }
    }

    /// From each BEGIN to its END.
    private static func blocks(_ text: String) -> [String] {
        var blocks: [String] = []
        var lines: [Substring]?
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN ") { lines = [] }
            lines?.append(line)
            if line.hasPrefix("-----END "), let block = lines {
                blocks.append(block.joined(separator: "\n") + "\n")
                lines = nil
            }
        }
        return blocks
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t")].contains(byte)
    }
}
