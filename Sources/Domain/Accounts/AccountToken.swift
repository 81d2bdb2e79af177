import AppStorePayloads
public import Base
import Crypto

/// The appAccountToken that an account buys with: an app passes it to StoreKit, and Apple then signs it into
/// the purchases.
///
/// ``AccountIDRule`` decides whether it is the account's id or the hash of that. Apps may compute it themselves, so neither the
/// namespace nor the hash ever changes.
public enum AccountToken {
    /// The namespace of ids that are hashed: 45f55b13-241a-42e7-9499-38fb335afb69, drawn once for storehook.
    public static let namespace = UniqueIdentifier(high: 0x45f5_5b13_241a_42e7, low: 0x9499_38fb_335a_fb69)

    /// The token of an id that is hashed: a version 5 UUID (RFC 9562, section 5.5) of its UTF-8 bytes in ``namespace``.
    public static func hash(of id: String) -> UniqueIdentifier { version5(of: id, in: namespace) }

    /// A version 5 UUID: the first 128 bits of SHA-1 over namespace and name, with version and variant in six of them.
    package static func version5(of name: String, in namespace: UniqueIdentifier) -> UniqueIdentifier {
        var hash = Insecure.SHA1()
        for half in [namespace.high, namespace.low] {
            withUnsafeBytes(of: half.bigEndian) { hash.update(bufferPointer: $0) }
        }
        hash.update(data: Array(name.utf8))
        let digest = Array(hash.finalize())
        func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return UniqueIdentifier(
            high: half(digest[0..<8]) & 0xFFFF_FFFF_FFFF_0FFF | 0x5000,
            low: half(digest[8..<16]) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
