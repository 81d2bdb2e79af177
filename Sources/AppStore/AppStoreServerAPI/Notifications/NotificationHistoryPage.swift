import AppStorePayloads

/// One page of Apple's list of notifications.
public struct NotificationHistoryPage: AnswerPage {
    /// The notifications that are Apple's.
    public let notifications: [ListedNotification]
    /// Why others are not here: what does not verify is left out.
    public let refused: [RefusedRecord]
    /// Whether there is another page.
    public let hasMore: Bool
    /// What asks for it (`paginationToken`).
    public let nextPage: String?
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        let object = reader.object
        let hasMore = try reader.hasMore(after: "notificationHistory")
        // Apple's own libraries take the list for optional.
        let items = object.has("notificationHistory") ? object.objects("notificationHistory") : []
        guard let items else { throw .unreadable("notificationHistory is no list of objects") }
        try reader.require(items.count, upTo: AnswerBounds.records)
        var notifications: [ListedNotification] = []
        for item in items {
            guard let jws = item.string("signedPayload") else {
                throw .unreadable("a notification has no signedPayload")
            }
            guard let record = reader.notification(jws) else { continue }
            notifications.append(ListedNotification(record: record, sendAttempts: try SendAttempt.list(in: item)))
        }
        self.notifications = notifications
        refused = reader.refused
        self.hasMore = hasMore
        nextPage = try reader.text(.paginationToken)
        unknownFields = object.members(except: ["notificationHistory", "hasMore", "paginationToken"])
    }
}
