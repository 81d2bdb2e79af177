import Crypto

/// P-256 verifications and nothing else: the floor of every verification.
enum BareSignatures {
    /// How many a second one core does, measured now.
    static func rate(milliseconds: Int) -> Double {
        let privateKey = P256.Signing.PrivateKey()
        let key = privateKey.publicKey
        let digest = SHA256.hash(data: Array("storehook".utf8))
        guard let signature = try? privateKey.signature(for: digest) else { return 0 }
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        while clock.now - start < .milliseconds(milliseconds) {
            for _ in 0..<64 where key.isValidSignature(signature, for: digest) { count += 1 }
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }
}
