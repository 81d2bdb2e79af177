import APIKit
import Base
package import EventStore
import Events

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
            .required("type", EventKind.schema, "What it reports."),
            .required("timestamp", .time, "When that came to be."),
            .required("data", EventKind.Payload.anyData, "What an event of its type carries."),
        ]))
}
