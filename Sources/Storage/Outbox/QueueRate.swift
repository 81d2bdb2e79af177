/// What came in and what was done in the last minute.
public struct QueueRate: Sendable, Hashable {
    /// Notifications stored in the last 60 seconds.
    public var receivedLastMinute: Int64
    /// Notifications recorded in the last 60 seconds, duplicates not counted.
    public var appliedLastMinute: Int64
}
