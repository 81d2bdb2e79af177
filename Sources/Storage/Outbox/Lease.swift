public import Foundation

/// A worker's right to a batch of rows, until it runs out.
public struct Lease: Sendable, Hashable {
    /// Who holds it, for people: host, process, worker.
    public var owner: String
    /// What settling must name; a new one for each batch.
    public var token: UUID
    /// How long it lasts, in seconds from the claim, by the database's clock.
    public var seconds: Int

    /// A new lease.
    public init(owner: String, token: UUID = UUID(), seconds: Int) {
        self.owner = owner
        self.token = token
        self.seconds = seconds
    }
}
