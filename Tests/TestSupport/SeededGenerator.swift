import Foundation

/// SplitMix64: random numbers that a seed repeats. A test that uses one prints ``seed`` when it fails.
///
/// The algorithm is that of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed it began with.
    public let seed: UInt64
    private var state: UInt64

    /// A generator with this seed; without one, that of the environment's `STOREHOOK_TEST_SEED`, else a new one.
    public init(seed: UInt64? = nil) {
        let fromEnvironment = ProcessInfo.processInfo.environment["STOREHOOK_TEST_SEED"].flatMap { UInt64($0) }
        self.seed = seed ?? fromEnvironment ?? UInt64.random(in: .min ... .max)
        state = self.seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
