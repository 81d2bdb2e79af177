package import Postgres

/// A selection of open dead letters; nil does not restrict.
package struct DeadLetterFilter: Sendable, Hashable {
    /// Only these letters.
    package var ids: [Int64]?
    /// With this reason code.
    package var reason: String?
    /// Of this notification type, as the payloads say.
    package var type: String?
    /// Dead since this instant or later.
    package var since: PostgresTimestamp?
    /// Of this app, as the payloads say.
    package var bundleID: String?
    /// Of one of these apps, likewise: those of the staff who asks.
    package var apps: [String]?
    /// With this text in the type, the reason, the message, the app or the notification's UUID, in any case.
    package var text: String?
    /// Of this piece of evidence, by its number in the outbox, or a newer one: where a count did not look further. See
    /// ``JobStore/Matching/downTo``.
    package var downTo: Int64?

    /// A filter; without arguments, every open letter.
    package init(
        ids: [Int64]? = nil, reason: String? = nil, type: String? = nil, since: PostgresTimestamp? = nil,
        bundleID: String? = nil, apps: [String]? = nil, text: String? = nil, downTo: Int64? = nil
    ) {
        self.ids = ids
        self.reason = reason
        self.type = type
        self.since = since
        self.bundleID = bundleID
        self.apps = apps
        self.text = text
        self.downTo = downTo
    }
}

extension PostgresQuery.StringInterpolation {
    /// The condition that a letter fits a filter. What does not restrict is left out.
    /// - Parameter letter: what the statement calls the letter.
    mutating func appendInterpolation(letter: String, fits filter: DeadLetterFilter) {
        appendLiteral("true")
        if let ids = filter.ids {
            appendLiteral(" and \(letter).id = any(")
            appendInterpolation(ids)
            appendLiteral(")")
        }
        if let reason = filter.reason {
            appendLiteral(" and \(letter).reason = ")
            appendInterpolation(reason)
        }
        if let type = filter.type {
            appendLiteral(" and \(letter).type = ")
            appendInterpolation(type)
        }
        if let since = filter.since {
            appendLiteral(" and \(letter).dead_at >= ")
            appendInterpolation(since)
        }
        if let bundleID = filter.bundleID {
            appendLiteral(" and \(letter).bundle_id = ")
            appendInterpolation(bundleID)
        }
        if let apps = filter.apps {
            appendLiteral(" and \(letter).bundle_id = any(")
            appendInterpolation(apps)
            appendLiteral(")")
        }
        if let downTo = filter.downTo {
            appendLiteral(" and \(letter).outbox_id >= ")
            appendInterpolation(downTo)
        }
        if let text = filter.text {
            // By one collation on both sides: so a letter outside ASCII is found as it stands, whatever the database's own collation is.
            appendLiteral(" and position(lower(")
            appendInterpolation(text)
            appendLiteral(" collate \"C\") in lower(concat_ws(' ', ")
            let columns = ["type", "subtype", "reason", "message", "bundle_id", "notification_uuid::text"]
            appendLiteral(columns.map { "\(letter).\($0)" }.joined(separator: ", "))
            appendLiteral(") collate \"C\")) > 0")
        }
    }
}
