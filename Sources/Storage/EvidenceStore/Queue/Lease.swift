package import Foundation

/// A worker's right to a batch of rows, until it runs out.
package struct Lease: Sendable, Hashable {
    /// Who holds it, for people: host, process, worker.
    package var owner: String
    /// What settling must name; a new one for each batch.
    package var token: UUID
    /// How long it lasts from the claim on, by the database's clock.
    package var duration: Duration
    /// Until when its holder may count on it, by this machine's clock: it begins to last when the claim reaches the database,
    /// which is after it was made. Nothing but the token decides whether it is still held.
    package let end: ContinuousClock.Instant

    /// A new lease.
    package init(owner: String, token: UUID = UUID(), duration: Duration) {
        self.owner = owner
        self.token = token
        self.duration = duration
        end = .now + duration
    }
}
