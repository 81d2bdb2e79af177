import HTTPTypes

/// What a request is called in its answer and in logs, so that both can be found by what a client has written down.
enum RequestID {
    static let header = HTTPField.Name("X-Request-ID")

    /// The one that came with it, where that is plain: 1 to 64 letters, digits, `-`, `_`, `.` and `:`. Else a new one.
    static func of(_ headers: HTTPFields) -> String {
        if let header, let given = headers[header], (1...64).contains(given.utf8.count), given.utf8.allSatisfy(isPlain)
        {
            return given
        }
        let (high, low) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

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
