/// What comes after a cursor is not known: going on from elsewhere would miss events without anybody's knowing.
package enum FeedRefusal: Error, Sendable, Hashable {
    /// What came next is not kept any more; what is kept comes after this.
    case gone(oldest: Int64)
    /// No such position was given: the cursor is of another database, or of one that was restored from a backup.
    case ahead(newest: Int64)
}
