import AppStorePayloads
import Base

/// What `Retry-After` says: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// For how long to wait; nil where the header says nothing that can be read. Never negative.
    static func wait(_ header: String?, now: Timestamp) -> Duration? {
        guard let text = header?.trimmed, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // Longer than anybody heeds; more digits would not fit.
            return text.utf8.count > 9 ? .seconds(999_999_999) : Int64(text).map { .seconds($0) }
        }
        guard let date = date(text) else { return nil }
        return .milliseconds(max(0, date.milliseconds(since: now)))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The one form that senders may write: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: Substring) -> Timestamp? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[1].utf8.count == 2,
            let month = months.firstIndex(of: String(parts[2])), parts[3].utf8.count == 4, parts[4].utf8.count == 8,
            parts[5] == "GMT"
        else { return nil }
        return Timestamp(iso8601: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
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
