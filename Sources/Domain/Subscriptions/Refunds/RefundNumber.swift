/// The number of a refund request as people write it: `RF-001`, four digits from RF-1000 on.
public struct RefundNumber: Sendable, Hashable, CustomStringConvertible {
    /// The place in the one sequence, from 1 on.
    public let value: Int64

    /// The number of a request.
    public init(_ value: Int64) { self.value = value }

    /// Reads what ``description`` writes, in either letter case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let match = String(text).wholeMatch(of: /(?i:RF)-([0-9]{3,18})/), let value = Int64(match.output.1),
            value > 0, match.output.1.count == 3 || match.output.1.first != "0"
        else { return nil }
        self.value = value
    }

    /// `RF-001`.
    public var description: String {
        let digits = String(value)
        return "RF-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}
