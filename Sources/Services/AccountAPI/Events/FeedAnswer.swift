import APIKit
import Base
package import EventStore

/// A page of the feed, written: `{"events":[…],"next":…,"newest":…}`.
package struct FeedAnswer: Sendable {
    /// The body.
    package let bytes: [UInt8]
    /// Whether there is no event in it.
    package let isEmpty: Bool
    /// After which position to go on.
    package let next: Int64

    /// The answer that a page is.
    package init(_ page: FeedPage) {
        var bytes = Array(#"{"events":["#.utf8)
        for (place, event) in page.events.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += event.listed.utf8
        }
        bytes += #"],"next":\#(page.next),"newest":\#(page.newest)}"#.utf8
        self.bytes = bytes
        isEmpty = page.events.isEmpty
        next = page.next
    }

    /// What `/openapi.json` says of it.
    static let schema = ValueSchema.named(
        "EventPage",
        .object([
            .required("events", .array(event, most: 1000), "In order."),
            .required("next", .integer(0...Int64.max), "The after of the next request."),
            .required("newest", .integer(0...Int64.max), "The cursor of the last event that there is."),
        ]))

    private static let event = ValueSchema.named(
        "Event",
        .object([
            .required("id", .text, "Its name, under which it is delivered as well: webhook-id."),
            .required("cursor", .integer(1...Int64.max), "Its place in this feed: one more than that before it."),
            .required("type", .text, "What it tells: subscription.renewed, account.access_changed, …"),
            .required("timestamp", .time, "When that came to be."),
            .required("data", data),
        ]))

    private static let data = ValueSchema.object([
        .required("app", .nullable(.text), "The bundle id; null for what is no app's."),
        .required("environment", .text),
        .required("account", .nullable(.text), "Null for a purchase of no account."),
        .required("version", .nullable(.integer()), "The account's by then: every later read shows at least this one."),
        .required("sequence", .integer(1...Int64.max), "Its number among the account's events, or the purchase's."),
        .required("previousSequence", .nullable(.integer()), "That of the one before it; null for the first."),
        .optional("subscription", .object([]), "What it is now. Likewise: purchase, access, consumption."),
        .optional("previous", .object([]), "What it was before."),
        .optional("cause", .object([.required("kind", .text)]), "Why that is known."),
        .optional("late", .boolean, "Whether it is told well after it came to be."),
        .optional("correction", .boolean, "Whether it takes the place of something that was told and was not so."),
    ])
}
