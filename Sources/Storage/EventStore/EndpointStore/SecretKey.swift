import Crypto
import Events
import Foundation

/// The key that encrypts stored webhook secrets: AES-GCM, with the endpoint's number as associated data, so that one
/// endpoint's secret cannot be put into another's row.
///
/// Descriptions and dumps do not show it.
package struct SecretKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// How many bytes it has.
    package static let size = 32

    private let key: SymmetricKey

    /// A key of 32 bytes; nil for any other number.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        key = SymmetricKey(data: Array(bytes))
    }

    /// Reads a key file: 32 bytes, or their 64 hexadecimal digits or base64 with white space around them.
    /// Otherwise nil.
    package init?(file bytes: [UInt8]) {
        if bytes.count == Self.size {
            self.init(bytes: bytes)
            return
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if text.utf8.count == 2 * Self.size, text.allSatisfy(\.isHexDigit) {
            let digits = Array(text.utf8)
            self.init(
                bytes: stride(from: 0, to: digits.count, by: 2).compactMap {
                    UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
                })
            return
        }
        guard let data = Data(base64Encoded: text) else { return nil }
        self.init(bytes: data)
    }

    /// Encrypts an endpoint's secret: nonce, ciphertext and tag.
    func seal(_ secret: WebhookSecret, of endpointID: Int64) throws -> [UInt8] {
        let sealed = try AES.GCM.seal(secret.bytes, using: key, authenticating: Self.data(endpointID))
        guard let combined = sealed.combined else { throw UnreadableSecret(endpointID: endpointID) }
        return Array(combined)
    }

    /// Decrypts an endpoint's secret.
    /// - Throws: ``UnreadableSecret`` where it was encrypted with another key, or for another endpoint.
    func open(_ sealed: [UInt8], of endpointID: Int64) throws(UnreadableSecret) -> WebhookSecret {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Self.data(endpointID)),
            let secret = WebhookSecret(bytes: Array(bytes))
        else { throw UnreadableSecret(endpointID: endpointID) }
        return secret
    }

    private static func data(_ endpointID: Int64) -> [UInt8] { Array("endpoint \(endpointID)".utf8) }

    /// Nothing of the key.
    package var description: String { "a key" }
    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An endpoint's secret cannot be decrypted with this key.
package struct UnreadableSecret: Error, Sendable, Hashable, CustomStringConvertible {
    /// The endpoint.
    package var endpointID: Int64

    /// The error for this endpoint.
    package init(endpointID: Int64) { self.endpointID = endpointID }

    /// What it is, and what to do.
    package var description: String {
        "the secret of endpoint \(endpointID) was encrypted with another key: set STOREHOOK_SECRET_KEY_FILE to that one, or type "
            + "storehook endpoints rotate \(endpointID) --at-once and give the receiver the new secret"
    }
}
