import AppStorePayloads
import Base
import PurchaseStore
import Subscriptions

extension AdminShapes {
    /// The stories of the purchases with one number.
    static let stories = ValueSchema.named(
        "PurchaseStories", .object([.required("purchases", .array(story.schema))]))

    /// What happened to a purchase.
    static let story = Shape<ShownStory, Void>(
        "PurchaseStory",
        [
            .init("originalTransactionId") { $0.purchase.originalTransactionID },
            .init("bundleId") { $0.purchase.bundleID },
            .init("environment", Environment.schema) { .string($0.purchase.environment) },
            .list("entries", storyEntry, about: "In the order in which Apple signed it.") { $0.entries },
        ])

    private static let storyEntry = Shape<ShownStory.Entry, Void>(
        "StoryEntry",
        [
            .init("notification", "For GET /admin/notifications/{uuid}; null of a record that came by itself.") {
                $0.notification
            },
            .init("type", "In Apple's word.") { $0.entry.recorded.type?.rawValue },
            .init("subtype") { $0.entry.recorded.subtype?.rawValue },
            .init("transactionId") { $0.entry.recorded.transactionID },
            .init("signedAt") { $0.entry.recorded.signedAt },
            .init("words", "What it changed, for people.") { $0.entry.recorded.words },
            .init("statusBefore", "By all that is known now; null where there was none.") {
                $0.entry.recorded.before?.rawValue
            },
            .init("statusAfter", "Likewise; null of what is no subscription.") {
                $0.entry.recorded.after?.status.rawValue
            },
            .init("kind", "What came.") { $0.entry.learned?.kind.rawValue },
            .init("source", "Which way it came first.") { $0.entry.learned?.source.rawValue },
            .init("receivedAt") { $0.entry.learned?.receivedAt }, .init("appliedAt") { $0.entry.learned?.appliedAt },
            .init("outcome") { $0.entry.learned?.outcome.rawValue },
            .list("events", customerEvent, about: "Those that it caused, of the latest 500 of the account.") {
                $0.events
            },
        ])

    /// A recorded notification with what it says.
    static let notification = Shape<ShownNotification, Void>(
        "RecordedNotification",
        [
            .init("notificationUUID") { $0.notification.uuid },
            .init("type", "In Apple's word.") { $0.notification.type },
            .init("subtype") { $0.notification.subtype },
            .init("environment", "Apple's name of it.") { $0.notification.environment },
            .init("bundleId") { $0.notification.bundleID },
            .init("originalTransactionId", "The purchase it is about.") { $0.notification.originalTransactionID },
            .init("source", "Which way it came first.") { $0.notification.source.rawValue },
            .init("outcome", "applied; parked where this release does not know its type.") {
                $0.notification.outcome.rawValue
            },
            .init("signedAt") { $0.notification.signedAt }, .init("receivedAt") { $0.notification.receivedAt },
            .init("appliedAt") { $0.notification.appliedAt },
            .init("header", letterJSON, "Of its JWS; null where it cannot be decoded.") { $0.content.header },
            .init("payload", letterJSON, "What it says; null where it cannot be decoded.") { $0.content.payload },
            .list("parts", letterPart, about: "The JWS within its payload, decoded.") { $0.content.parts },
            .init("jws", "The bytes as they came.") { $0.content.text },
            .init("unreadable", "Why there are none, such as retention; null where there are.") {
                $0.content.unreadable
            },
        ])
}
