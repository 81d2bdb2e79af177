/// Where what is to be done stands. The raw values are names that others build on: they never change.
package enum QueueState: String, Sendable, Hashable, CaseIterable {
    /// Due now, expired leases included.
    case ready
    /// Waits for its time: put off, or replayed at a rate.
    case scheduled
    /// A worker has it.
    case leased
    /// Given up, and kept outside of the queue's table by its owner until somebody decides.
    case dead
}
