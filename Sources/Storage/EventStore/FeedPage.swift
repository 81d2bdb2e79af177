/// A stretch of the order that all readers follow.
package struct FeedPage: Sendable, Hashable {
    /// The events, in order, without a gap in their positions.
    package var events: [PlacedEvent]
    /// The cursor of the next page.
    package var next: Int64
    /// The last position assigned by then.
    package var newest: Int64
}
