/// The positions between which events are kept; both are cursors, after which a reader may go on.
package struct FeedBounds: Sendable, Hashable {
    /// The position before the oldest kept event.
    package var oldest: Int64
    /// The last assigned position.
    package var newest: Int64
}
