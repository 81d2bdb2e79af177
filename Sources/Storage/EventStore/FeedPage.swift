/// A stretch of the order that all readers follow.
package struct FeedPage: Sendable, Hashable {
    /// In order, one position after the other.
    package var events: [PlacedEvent]
    /// After which position to go on.
    package var next: Int64
    /// The last position that was given by then.
    package var newest: Int64
}
