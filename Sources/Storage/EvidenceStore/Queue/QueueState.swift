/// The state of queued work. The raw values are stored and sent, so they never change.
package enum QueueState: String, Sendable, Hashable, CaseIterable {
    /// Due now, expired leases included.
    case ready
    /// Waits for its time: put off, or replayed at a rate.
    case scheduled
    /// A worker holds it.
    case leased
    /// Given up; the queue's owner keeps it outside of the queue's table until an operator decides.
    case dead
}
