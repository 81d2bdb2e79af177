package import Foundation

/// A worker's right to a batch of rows, until it runs out.
package struct Lease: Sendable, Hashable {
    /// The holder, for people: host, process, worker.
    package var owner: String
    /// The fencing token that settling must name; a new one for each batch.
    package var token: UUID
    /// How long it lasts from the claim on, by the database's clock.
    package var duration: Duration
    /// Until when its holder may rely on it, by this machine's clock. The lease starts when the claim reaches the
    /// database, which is later than this object's creation. Only the token decides whether it is still held.
    package let end: ContinuousClock.Instant

    /// A new lease.
    package init(owner: String, token: UUID = UUID(), duration: Duration) {
        self.owner = owner
        self.token = token
        self.duration = duration
        end = .now + duration
    }
}
