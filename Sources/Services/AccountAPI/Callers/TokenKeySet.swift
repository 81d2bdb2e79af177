import AppStorePayloads

/// The keys that app tokens are checked with, as they were read at one moment.
package struct TokenKeySet: Sendable {
    /// Why something holds no keys: one line, with nothing of the contents.
    package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// One line for people.
        package let description: String

        /// Why a set without keys is none to begin with.
        package static let empty = Fault(
            description:
                "holds no key that tokens are checked with here; wanted is at least one public key of RSA with 2048 to 8192 bits "
                + "(RS256), P-256 (ES256) or Ed25519 (EdDSA), as your login's JWK set has it: {\"keys\": [{\"kty\": \"RSA\", \"n\": …, "
                + "\"e\": …}]}, with no other use than sig"
        )
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

    /// A JWK set (RFC 7517): those of its keys that are for signatures which are taken here; none where there are none. What a provider
    /// does not list is not good any more.
    package init(jwks bytes: [UInt8]) async throws(Fault) {
        guard let set = try? JSONDocument(bytes).object, let objects = set.objects("keys") else {
            throw Fault(
                description:
                    "is no JWK set; wanted is JSON with a list of public keys, {\"keys\": [{\"kty\": \"RSA\", …}]}, as a login publishes it, "
                    + "often at /.well-known/jwks.json")
        }
        guard objects.count <= Self.most else { throw Fault(description: "holds more than \(Self.most) keys") }
        var keys: [TokenKey] = []
        for object in objects {
            if let key = await TokenKey(jwk: object) { keys.append(key) }
        }
        self.init(keys)
    }

    /// What a file holds: a JWK set, or public keys or certificates in PEM.
    package init(file bytes: [UInt8]) async throws(Fault) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let first = bytes.first(where: { !Self.isSpace($0) }), first == UInt8(ascii: "{") {
            self = try await TokenKeySet(jwks: bytes)
        } else if text.contains("-----BEGIN ") {
            self = try await TokenKeySet(pem: text)
        } else if PublicText(bytes) == .der {
            throw Fault(
                description:
                    "looks like a key in DER, or in PEM without its first and last line; write it as PEM: openssl pkey -pubin -inform DER "
                    + "-in FILE")
        } else {
            throw Fault(
                description:
                    "is neither a JWK set nor PEM; a secret for HS256 is named as one: STOREHOOK_JWT_SECRET_FILE")
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

    /// A secret for HS256.
    /// - Parameter isPrivate: whether only the file's owner, and its group at most, can read it: it has to be.
    package init(secret bytes: [UInt8], isPrivate: Bool) async throws(Fault) {
        if let text = PublicText(bytes) {
            throw Fault(
                description:
                    "is \(text.rawValue), and no secret: who knows it could sign tokens of any account; keys belong into "
                    + "STOREHOOK_JWT_KEYS")
        }
        // A line end that an editor appended is not part of the secret.
        var secret = bytes
        while let last = secret.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { secret.removeLast() }
        guard secret.count >= 32 else {
            throw Fault(description: "has less than 32 bytes, too few for a secret: openssl rand -base64 48")
        }
        guard isPrivate else {
            throw Fault(description: "holds a secret that others can read: chmod 600 or 640")
        }
        guard let key = await TokenKey(secret: secret) else { throw Fault(description: "holds no secret") }
        self.init([key])
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
