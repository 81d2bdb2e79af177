import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads and writes the instants of HTTP and of the account API.
enum ServerDates {
    /// An instant of RFC 3339, with or without fractions of a second; nil of anything else.
    static func instant(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle()
        return (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }

    /// An instant as the server reads it, with milliseconds.
    static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The instant of a `Date` header (RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`); nil of anything else.
    static func header(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }

    /// In how many seconds to ask again, by an answer's `Retry-After`: a number of seconds, or a date, which the answer's own `Date` is
    /// taken from. Nil where it says nothing, or nothing that can be.
    static func wait(_ head: HTTPURLResponse) -> TimeInterval? {
        guard let text = head.value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = TimeInterval(text) { return seconds >= 0 && seconds.isFinite ? seconds : nil }
        let now = head.value(forHTTPHeaderField: "Date").flatMap(header) ?? Date()
        return header(text).map { max(0, $0.timeIntervalSince(now)) }
    }

    /// What reads the server's answers.
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = instant(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no instant of RFC 3339"))
            }
            return date
        }
        return decoder
    }
}
