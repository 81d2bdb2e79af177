import Base
import PurchaseStore
import Subscriptions

/// The story of a purchase, as a member of the staff sees it.
struct ShownStory: Sendable {
    /// The purchase.
    let purchase: PurchaseKey
    /// What happened, in the order of signing.
    let entries: [Entry]

    /// One thing that happened.
    struct Entry: Sendable {
        /// What, and how it came here.
        let entry: RecordedStory.Entry
        /// The events that it caused, each with where it was delivered.
        let events: [ShownCustomerEvent]

        /// Its notification's UUID, as paths take it.
        var notification: String? { entry.recorded.notificationUUID?.description.lowercased() }
    }

    /// - Parameter events: by the notification that caused them.
    init(_ story: RecordedStory, _ events: [String: [ShownCustomerEvent]]) {
        purchase = story.purchase
        entries = story.entries.map { entry in
            let cause = entry.recorded.notificationUUID?.description.lowercased()
            return Entry(entry: entry, events: cause.flatMap { events[$0] } ?? [])
        }
    }
}

/// A recorded notification with what it says.
struct ShownNotification: Sendable {
    /// The notification.
    let notification: RecordedNotification
    /// What it says.
    let content: DecodedJWS
}
