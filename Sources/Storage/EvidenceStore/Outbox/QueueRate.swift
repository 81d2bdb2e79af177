/// What came in and what was done in the last minute.
package struct QueueRate: Sendable, Hashable {
    /// Notifications and other evidence stored in the last 60 seconds.
    package var receivedLastMinute: Int64
    /// Of it recorded in the last 60 seconds, duplicates not counted.
    package var appliedLastMinute: Int64
}
