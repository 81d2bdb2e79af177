/// Between which positions events are kept; both are cursors, after which a reader may go on.
package struct FeedBounds: Sendable, Hashable {
    /// The one before the oldest that is kept.
    package var oldest: Int64
    /// The last that was given.
    package var newest: Int64
}
