import AppStorePayloads
import Crypto
import Foundation
package import Staff
import _CryptoExtras

/// A password as it is stored: what scrypt (RFC 7914) makes of it, with its salt and its cost.
package struct PasswordHash: Sendable, Hashable {
    /// What working one out costs.
    package struct Cost: Sendable, Hashable {
        /// The binary logarithm of scrypt's N.
        package var logRounds: Int
        /// scrypt's r: a block has 128 r bytes, and there are N of them in memory.
        package var blockSize: Int
        /// scrypt's p: how often that is done, one after the other.
        package var repetitions: Int

        /// 32 MiB of memory, three times over: as dear as what OWASP's Password Storage Cheat Sheet has first, in a quarter of the memory.
        package static let usual = Cost(logRounds: 15, blockSize: 8, repetitions: 3)

        /// A cost.
        package init(logRounds: Int, blockSize: Int, repetitions: Int) {
            self.logRounds = logRounds
            self.blockSize = blockSize
            self.repetitions = repetitions
        }

        /// Whether a hash of it is worked out here: nothing that is stored may take more memory than 128 MiB.
        fileprivate var isBearable: Bool {
            (1...16).contains(logRounds) && (1...16).contains(blockSize) && (1...16).contains(repetitions)
        }
    }

    private let cost: Cost
    private let salt: [UInt8]
    private let key: [UInt8]

    /// How long salts are, in bytes.
    private static let saltLength = 16
    /// How long keys are, in bytes.
    private static let keyLength = 32

    /// The hash of a new password, with a salt of its own. Takes about a fifth of a second.
    /// - Throws: what the library throws where it has no memory.
    package init(of password: StaffPassword, cost: Cost = .usual) throws {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        key = try Self.key(of: password, salt, cost)
        self.salt = salt
        self.cost = cost
    }

    /// Reads what ``text`` wrote; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let cost = Self.cost(parts[2]),
            let salt = Self.bytes(parts[3]), salt.count == Self.saltLength, let key = Self.bytes(parts[4]),
            key.count == Self.keyLength
        else { return nil }
        (self.cost, self.salt, self.key) = (cost, salt, key)
    }

    /// As a PHC string: `$scrypt$ln=15,r=8,p=3$…$…`.
    package var text: String {
        "$scrypt$ln=\(cost.logRounds),r=\(cost.blockSize),p=\(cost.repetitions)$\(Self.text(salt))$\(Self.text(key))"
    }

    /// Whether it is the hash of this password. Takes as long as the cost says, whatever the answer.
    package func matches(_ password: StaffPassword) -> Bool {
        guard let other = try? Self.key(of: password, salt, cost) else { return false }
        // Digests are compared in constant time.
        return SHA256.hash(data: other) == SHA256.hash(data: key)
    }

    private static func key(of password: StaffPassword, _ salt: [UInt8], _ cost: Cost) throws -> [UInt8] {
        // The same characters on every keyboard (RFC 8265, 4.2). Never empty, which the library does not take.
        let typed = Array(password.text.precomposedStringWithCanonicalMapping.utf8)
        return try KDF.Scrypt.deriveKey(
            from: typed, salt: salt, outputByteCount: keyLength, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
            parallelism: cost.repetitions
        ).withUnsafeBytes { Array($0) }
    }

    private static func cost(_ text: Substring) -> Cost? {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part -> (Substring, Int)? in
            let parts = part.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = Int(parts[1]) else { return nil }
            return (parts[0], number)
        }
        guard numbers.count == 3, let rounds = numbers[0], let block = numbers[1], let repetitions = numbers[2],
            rounds.0 == "ln", block.0 == "r", repetitions.0 == "p"
        else { return nil }
        let cost = Cost(logRounds: rounds.1, blockSize: block.1, repetitions: repetitions.1)
        return cost.isBearable ? cost : nil
    }

    /// Base64 without padding, as PHC strings have it.
    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.standard.encode(bytes).filter { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.utf8.count % 4) % 4)
        return Base64.standard.decode(Array(text.utf8) + padding)
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    /// Never the hash: passwords can be guessed against it.
    package var description: String { "scrypt …" }
    /// Likewise in a dump.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
