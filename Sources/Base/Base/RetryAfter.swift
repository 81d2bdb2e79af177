/// A value of the header `Retry-After`: a number, or a date (RFC 9110, section 10.2.3).
package enum RetryAfter: Sendable, Hashable {
    /// Seconds; in Apple's Server API an instant, in milliseconds since 1970. A number that does not fit is the greatest.
    case number(Int64)
    /// An instant.
    case date(Timestamp)

    /// The longest wait: longer than any limit here.
    private static let longest: Int64 = 999_999_999

    /// Reads a header.
    /// - Parameter now: see ``Timestamp/init(httpDate:now:)``.
    /// - Returns: nil where there is none, and for what is no value of this header.
    package init?(_ header: String?, now: Timestamp) {
        guard let header else { return nil }
        var text = header[...]
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        if text.isEmpty { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .number(Int64(text) ?? .max)
        } else if let date = Timestamp(httpDate: text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// How long to wait, where a number is seconds; never negative.
    package func wait(from now: Timestamp) -> Duration {
        switch self {
        case .number(let seconds): .seconds(min(seconds, Self.longest))
        case .date(let date): .milliseconds(max(0, date.milliseconds(since: now)))
        }
    }
}
