/// One state of the queue: how many rows are in it, and since when the oldest.
public struct QueueDepth: Sendable, Hashable {
    /// `ready`, `scheduled`, `leased` or `dead`.
    public var state: String
    /// Rows in that state.
    public var count: Int64
    /// Seconds since the oldest of them was received; 0 where there is none.
    public var oldestAgeSeconds: Double
}
