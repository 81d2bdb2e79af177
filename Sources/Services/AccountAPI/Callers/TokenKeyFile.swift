import Base

/// A file with keys, as it stood when it was looked at.
struct TokenKeyFile: Sendable {
    /// The most bytes that are read: a hundred keys take less.
    static let most = 1 << 20

    let stamp: PlainFile.Stamp
    let bytes: [UInt8]
    /// Whether only its owner and its group can read it.
    let isPrivate: Bool

    /// Reads it.
    /// - Throws: `TokenKeySet.Fault`.
    init(path: String) throws(TokenKeySet.Fault) {
        let file: PlainFile
        do { file = try PlainFile(path, upTo: Self.most) } catch {
            throw TokenKeySet.Fault(description: error.predicate)
        }
        guard !file.bytes.isEmpty else {
            throw TokenKeySet.Fault(description: "is empty; wanted is a JWK set, public keys in PEM, or a secret")
        }
        (stamp, bytes) = (file.stamp, file.bytes)
        isPrivate = file.permissions & 0o027 == 0
    }
}
