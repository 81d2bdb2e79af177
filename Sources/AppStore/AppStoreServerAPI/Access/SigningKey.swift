import JWTKit

/// The private key of an In-App Purchase key (a `.p8` file): signs tokens, and never shows itself.
public struct SigningKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Why a text is no such key. What the text says is in none of them.
    public enum Fault: String, Error, Sendable {
        /// Something else, or a key of another kind.
        case notAKey = "it holds no P-256 private key in PKCS#8 PEM, as App Store Connect gives it"
    }

    let key: ES256PrivateKey

    /// Reads a key.
    ///
    /// - Parameter pem: the `.p8` file's text.
    public init(pem: String) throws(Fault) {
        do {
            key = try ES256PrivateKey(pem: pem)
        } catch {
            // The library's own words may quote the text.
            throw .notAKey
        }
    }

    /// Nothing of what it holds.
    public var description: String { "(private key)" }

    /// Nothing of what it holds.
    public var debugDescription: String { description }

    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
