/// The events after a cursor are unknown: going on from elsewhere would miss events unnoticed.
package enum FeedRefusal: Error, Sendable, Hashable {
    /// The next events are no longer kept; the kept ones come after this position.
    case gone(oldest: Int64)
    /// No such position was assigned: the cursor is of another database, or of one that was restored from a backup.
    case ahead(newest: Int64)
}
