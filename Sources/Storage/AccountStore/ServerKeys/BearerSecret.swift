import AppStorePayloads
import Crypto

/// A secret that identifies a caller of an API, as a text: a prefix and 256 random bits.
///
/// It is shown once, when it is made. Only its ``digest`` is stored.
package struct BearerSecret<Bearer: SecretBearer>: Sendable, Hashable {
    /// The whole text. A secret.
    package let text: String

    /// The prefix, for people and for scanners of secrets.
    package static var prefix: String { Bearer.prefix }

    /// A new one.
    package init() {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        text = Self.prefix + String(decoding: Base64.url.encode(bytes), as: UTF8.self)
    }

    /// Reads a secret's text; nil where it cannot be one.
    package init?(_ text: some StringProtocol) {
        let rest = Array(text.utf8.dropFirst(Self.prefix.utf8.count))
        guard text.hasPrefix(Self.prefix), rest.count == 43, Base64.url.decode(rest) != nil else { return nil }
        self.text = String(text)
    }

    /// SHA-256 of the text, which is stored and looked up.
    package var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}

extension BearerSecret: CustomStringConvertible, CustomReflectable {
    /// Never the secret.
    package var description: String { Self.prefix + "…" }
    /// Never the secret, not in a dump either.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
