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

    /// A filter; without arguments, every open letter.
    package init(
        ids: [Int64]? = nil, reason: String? = nil, type: String? = nil, since: PostgresTimestamp? = nil,
        bundleID: String? = nil, apps: [String]? = nil, text: String? = nil
    ) {
        self.ids = ids
        self.reason = reason
        self.type = type
        self.since = since
        self.bundleID = bundleID
        self.apps = apps
        self.text = text
    }

    /// The columns of a letter in which ``text`` is looked for.
    static let searched = """
        lower(concat_ws(' ', type, subtype, reason, message, bundle_id, notification_uuid::text))
        """
}
