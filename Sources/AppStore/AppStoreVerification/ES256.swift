import Crypto

/// ECDSA on P-256 with SHA-256, as JWS writes its signatures (RFC 7518 section 3.4).
enum ES256 {
    /// The order of P-256's group, most significant byte first (FIPS 186-4, D.1.2.3): r and s lie between 0 and it, neither included.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Whether the signature is 64 bytes, r and s in range, and the key's own over the digest.
    static func isValid(_ signature: [UInt8], digest: SHA256.Digest, key: P256.Signing.PublicKey) -> Bool {
        guard signature.count == 64, isInRange(signature[..<32]), isInRange(signature[32...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }

    private static func isInRange(_ number: ArraySlice<UInt8>) -> Bool {
        number.contains { $0 != 0 } && number.lexicographicallyPrecedes(order)
    }
}
