/// The header segment of Apple's JWS: algorithm and certificates, some 4.4 kB of base64url, unchanged for months.
package struct SignatureHeader: Sendable, Hashable {
    /// The SHA-256 of ``text``, 32 bytes: its name in packed bytes. PostgreSQL computes it.
    package var digest: [UInt8]
    /// The segment as in the JWS, without the dot after it.
    package var text: [UInt8]

    /// A header under its digest.
    package init(digest: [UInt8], text: [UInt8]) {
        self.digest = digest
        self.text = text
    }

    /// The longest header that is kept, in bytes; the schema checks the same number.
    static let maximumSize = 16_384
    /// The length of a SHA-256, in bytes.
    static let digestSize = 32
}
