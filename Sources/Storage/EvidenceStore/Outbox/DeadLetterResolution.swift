/// What became of a dead letter. The raw values are names that others build on: they never change.
package enum DeadLetterResolution: String, Sendable, Hashable, CaseIterable {
    /// It waits for somebody.
    case open
    /// Its notification was put back on the queue.
    case replayed
    /// Somebody gave it up.
    case discarded
}
