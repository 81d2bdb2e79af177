/// How many were received and processed in the last minute.
package struct QueueRate: Sendable, Hashable {
    /// Notifications and other evidence stored in the last 60 seconds.
    package var receivedLastMinute: Int64
    /// Evidence recorded in the last 60 seconds, without duplicates.
    package var appliedLastMinute: Int64
}
