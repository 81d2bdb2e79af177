extension Timestamp {
    /// Reads a date in a header of HTTP, in any of its three forms (RFC 9110, section 5.6.7):
    /// - `Sun, 06 Nov 1994 08:49:37 GMT`, in which senders have to write it;
    /// - `Sunday, 06-Nov-94 08:49:37 GMT`, of RFC 850;
    /// - `Sun Nov  6 08:49:37 1994`, of C's `asctime`.
    ///
    /// - Parameter now: decides the century of RFC 850's year: the latest one with which the date is not more than 50 years ahead.
    /// - Returns: nil for anything else. Whether the weekday is that of the date does not matter.
    package init?(httpDate text: some StringProtocol, now: Timestamp) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        if parts.count == 6, parts[5] == "GMT", Self.weekdays.contains(where: { "\($0.prefix(3))," == parts[0] }) {
            self.init(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
        } else if parts.count == 4, parts[3] == "GMT", Self.weekdays.contains(where: { "\($0)," == parts[0] }) {
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
            guard date.count == 3, date[2].utf8.count == 2, date[2].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let year = Int(date[2])
            else { return nil }
            // As texts to the second, so that the 29th of February needs no rule of its own.
            let today = now.description
            guard let thisYear = Int(today.prefix(4)) else { return nil }
            let latest = "\(thisYear + 50)\(today.prefix(19).dropFirst(4))Z"
            let century = thisYear / 100 * 100
            for first in [century + 100, century, century - 100] {
                guard let text = Self.iso8601(year: "\(first + year)", month: date[1], day: date[0], time: parts[2])
                else { return nil }
                if text <= latest {
                    self.init(year: "\(first + year)", month: date[1], day: date[0], time: parts[2])
                    return
                }
            }
            return nil
        } else if parts.count == 5 || parts.count == 6 && parts[2].isEmpty && parts[3].utf8.count == 1,
            Self.weekdays.contains(where: { $0.prefix(3) == parts[0] })
        {
            let day = parts.count == 6 ? "0\(parts[3])" : parts[2]
            self.init(year: parts[parts.count - 1], month: parts[1], day: day, time: parts[parts.count - 2])
        } else {
            return nil
        }
    }

    private init?(year: String, month: String, day: String, time: String) {
        // A leap second is the one after the second before it.
        let isLeap = time.hasSuffix(":60")
        let time = isLeap ? "\(time.dropLast(2))59" : time
        guard let text = Self.iso8601(year: year, month: month, day: day, time: time),
            let date = Timestamp(iso8601: text)
        else { return nil }
        self = isLeap ? date.adding(seconds: 1) : date
    }

    private static func iso8601(year: String, month: String, day: String, time: String) -> String? {
        guard let month = months.firstIndex(of: month), year.utf8.count == 4, day.utf8.count == 2, time.utf8.count == 8
        else { return nil }
        return "\(year)-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(time)Z"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
