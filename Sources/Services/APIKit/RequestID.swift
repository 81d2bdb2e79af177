package import HTTPTypes
import Synchronization

/// What a request is called in its answer and in logs, so that both can be found by what a client has written down.
package enum RequestID {
    /// That of the request that is being answered.
    @TaskLocal package static var current: String?

    /// The header that has it; nil for no name of a header, which it is.
    package static let header = HTTPField.Name("X-Request-ID")

    /// The one that came with it, where that is plain: 1 to 64 letters, digits, `-`, `_`, `.` and `:`. Else a new one.
    package static func of(_ headers: HTTPFields) -> String {
        if let header, let given = headers[header], (1...64).contains(given.utf8.count), given.utf8.allSatisfy(isPlain)
        {
            return given
        }
        let number = requests.add(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 32) { text in
            for (half, bits) in [process, number].enumerated() {
                for digit in 0..<16 {
                    text[half * 16 + digit] = digits[Int(truncatingIfNeeded: bits >> (60 - 4 * UInt64(digit)) & 15)]
                }
            }
            return 32
        }
    }

    /// Unique to this process; drawn once, as each draw is a call of the kernel.
    private static let process = UInt64.random(in: .min ... .max)
    private static let requests = Atomic<UInt64>(0)
    private static let digits = Array("0123456789abcdef".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
