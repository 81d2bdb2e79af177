extension Timestamp {
    /// Reads a date in a header of HTTP, in the form that senders have to use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    ///
    /// - Returns: nil for any other form.
    package init?(httpDate text: some StringProtocol) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[0].utf8.count == 4, parts[0].hasSuffix(","),
            parts[1].utf8.count == 2, let month = Self.months.firstIndex(of: String(parts[2])),
            parts[3].utf8.count == 4, parts[4].utf8.count == 8
        else { return nil }
        self.init(iso8601: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
