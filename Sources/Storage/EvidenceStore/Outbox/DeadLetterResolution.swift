/// How a dead letter was resolved. The raw values are stored and sent, so they never change.
package enum DeadLetterResolution: String, Sendable, Hashable, CaseIterable {
    /// It waits for an operator.
    case open
    /// Its notification was put back on the queue.
    case replayed
    /// An operator discarded it.
    case discarded
}
