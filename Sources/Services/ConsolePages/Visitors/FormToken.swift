import AppStorePayloads
import Crypto

/// By what a form shows that it stands on a page of ours: it follows from a secret in a cookie, which other sites can neither read nor set.
struct FormToken: Sendable, Hashable {
    /// As forms carry it.
    let text: String

    /// That of a cookie's value.
    init(of secret: String) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("storehook console form".utf8), using: SymmetricKey(data: Array(secret.utf8)))
        text = String(decoding: Base64.url.encode(Array(code)), as: UTF8.self)
    }

    /// Whether a form has it. Takes as long whatever it has.
    func matches(_ given: String?) -> Bool {
        guard let given else { return false }
        // Digests are compared in constant time.
        return SHA256.hash(data: Array(given.utf8)) == SHA256.hash(data: Array(text.utf8))
    }
}
