/// The model's only source of chance: splitmix64, so that a seed tells the whole life.
package struct ModelRandom: Sendable {
    private var state: UInt64

    /// Starts the sequence that belongs to the seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from the lower to the upper bound, both included; the lower one if the range is empty.
    package mutating func between(_ lower: Int64, _ upper: Int64) -> Int64 {
        guard upper > lower else { return lower }
        return lower + Int64(next() % UInt64(upper - lower + 1))
    }

    /// True in so many of a hundred cases.
    package mutating func chance(_ percent: Int64) -> Bool {
        between(0, 99) < percent
    }

    /// One of the choices, which must not be empty.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int(between(0, Int64(choices.count) - 1))]
    }

    /// A UUID of version 4 in lower case.
    package mutating func uuid() -> String {
        let high = (next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        let low = (next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        let digits = Array(Self.hex(high) + Self.hex(low))
        let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
        return groups.map { String($0) }.joined(separator: "-")
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
