import AppStorePayloads
import Base

extension Timestamp {
    /// Reads the header `Date` in the form that senders have to use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    ///
    /// - Returns: nil for any other form.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[0].utf8.count == 4, parts[0].hasSuffix(","),
            let month = Self.months.firstIndex(of: parts[2])
        else { return nil }
        self.init(iso8601: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
