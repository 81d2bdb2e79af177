import Crypto

/// P-256 verifications and nothing else: the floor of every verification.
enum BareSignatures {
    /// Signatures per second of CPU time on one core, measured now; other load on the machine does not count.
    static func rate(milliseconds: Int) -> Double {
        let privateKey = P256.Signing.PrivateKey()
        let key = privateKey.publicKey
        let digest = SHA256.hash(data: Array("storehook".utf8))
        guard let signature = try? privateKey.signature(for: digest) else { return 0 }
        let start = ProcessTimes.ownCPUSeconds
        var count = 0
        while ProcessTimes.ownCPUSeconds - start < Double(milliseconds) / 1000 {
            for _ in 0..<64 where key.isValidSignature(signature, for: digest) { count += 1 }
        }
        return Double(count) / (ProcessTimes.ownCPUSeconds - start)
    }
}
