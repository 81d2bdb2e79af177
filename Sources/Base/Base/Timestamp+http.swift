extension Timestamp {
    /// Reads a date in a header of HTTP, in any of its three forms (RFC 9110, section 5.6.7):
    /// - `Sun, 06 Nov 1994 08:49:37 GMT`, in which senders have to write it;
    /// - `Sunday, 06-Nov-94 08:49:37 GMT`, of RFC 850;
    /// - `Sun Nov  6 08:49:37 1994`, of C's `asctime`.
    ///
    /// - Parameter now: decides the century of RFC 850's year: the latest one with which the date is not more than 50 years ahead.
    /// - Returns: nil for anything else. Whether the weekday is that of the date does not matter.
    package init?(httpDate text: some StringProtocol, now: Timestamp) {
        var parts = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        // `asctime` pads the day with a space.
        if parts.count == 6, parts[2].isEmpty, parts[3].utf8.count == 1 { parts[2...3] = ["0\(parts[3])"] }
        let weekday = parts[0]
        let date: String? =
            if parts.count == 6, parts[5] == "GMT", Self.weekdays.contains(where: { "\($0.prefix(3))," == weekday }) {
                Self.iso8601(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
            } else if parts.count == 5, Self.weekdays.contains(where: { $0.prefix(3) == weekday }) {
                Self.iso8601(year: parts[4], month: parts[1], day: parts[2], time: parts[3])
            } else if parts.count == 4, parts[3] == "GMT", Self.weekdays.contains(where: { "\($0)," == weekday }) {
                Self.iso8601(rfc850: parts[1], time: parts[2], now: now)
            } else {
                nil
            }
        guard let date else { return nil }
        // A leap second is the one after the second before it.
        let isLeap = date.hasSuffix(":60Z")
        guard let instant = Timestamp(iso8601: isLeap ? "\(date.dropLast(3))59Z" : date) else { return nil }
        self = isLeap ? instant.adding(seconds: 1) : instant
    }

    /// - Parameter date: day, month and a year of two digits.
    private static func iso8601(rfc850 date: String, time: String, now: Timestamp) -> String? {
        let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        let today = now.description
        guard parts.count == 3, parts[2].utf8.count == 2, let thisYear = Int(today.prefix(4)) else { return nil }
        // As texts to the second, so that the 29th of February needs no rule of its own.
        let latest = "\(thisYear + 50)\(today.prefix(19).dropFirst(4))Z"
        return [1, 0, -1].lazy.compactMap {
            iso8601(year: "\(thisYear / 100 + $0)\(parts[2])", month: parts[1], day: parts[0], time: time)
        }.first { $0 <= latest }
    }

    private static func iso8601(year: String, month: String, day: String, time: String) -> String? {
        guard let month = months.firstIndex(of: month), year.utf8.count == 4, day.utf8.count == 2, time.utf8.count == 8
        else { return nil }
        return "\(year)-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(time)Z"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
