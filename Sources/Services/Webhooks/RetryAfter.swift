import AppStorePayloads
import Base

/// The value of `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait; nil where the header is unreadable. Never negative.
    static func wait(_ header: String?, now: Timestamp) -> Duration? {
        guard let text = header?.trimmed, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // Longer than any limit here; more digits would not fit.
            return text.utf8.count > 9 ? .seconds(999_999_999) : Int64(text).map { .seconds($0) }
        }
        guard let date = Timestamp(httpDate: text) else { return nil }
        return .milliseconds(max(0, date.milliseconds(since: now)))
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
