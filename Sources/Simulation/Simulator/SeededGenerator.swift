/// The simulator's random numbers: SplitMix64, so that the same seed gives the same lives on every machine.
///
/// The constants are those of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014). It is not, and need
/// not be, fit for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable, Codable {
    private var state: UInt64

    /// Starts the sequence that belongs to `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A whole number in `range`.
    mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range, using: &self)
    }

    /// True in `percent` of a hundred draws.
    mutating func chance(_ percent: Int64) -> Bool {
        number(in: 0...99) < percent
    }

    /// True in `percent` of a hundred draws, to a hundredth of a percent.
    mutating func chance(percent: Double) -> Bool {
        Double(number(in: 0...9999)) < percent * 100
    }

    /// A version 4 UUID in the lower case that Apple writes.
    mutating func uuid() -> String {
        let high = next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for byte in 0..<16 {
                // Groups of 4, 2, 2, 2 and 6 bytes.
                if byte == 4 || byte == 6 || byte == 8 || byte == 10 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = byte < 8 ? high : low
                let value = Int(truncatingIfNeeded: word >> UInt64(56 - 8 * (byte % 8))) & 0xFF
                buffer[position] = digits[value >> 4]
                buffer[position + 1] = digits[value & 0xF]
                position += 2
            }
            return position
        }
    }
}
