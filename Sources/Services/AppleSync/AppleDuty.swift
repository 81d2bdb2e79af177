package import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
package import Logging

/// One kind of thing that Apple is asked beside the worker. What is to be asked are rows of a queue, which any number of workers
/// share.
///
///     plan ──▶ claim ──▶ take: ask Apple, apply its answer ──▶ settled, or put off until its next turn
///                         └─ fails ──▶ settled, where that failure is Apple's answer; else put off
///
/// ``DutyRunner`` does all that is the same for each: when to plan, leases, failures, pauses. What a duty writes about a row is fenced by
/// ``AppleRecords/ScopedQueue``.
package protocol AppleDuty: Sendable {
    associatedtype Row: ScopedRow

    /// What logs call it.
    static var name: String { get }
    /// The usual time between two looks where nothing is due.
    static var interval: Duration { get }
    /// How often it is planned; nil: as often as is looked where nothing is due.
    static var planning: Duration? { get }
    /// How long a row is held: as long as one turn may take, with all repetitions of what is asked.
    static var lease: Duration { get }

    /// Where its rows wait.
    var queue: ScopedQueue { get }
    /// Where it logs what an operator may have to act on.
    var logger: Logger { get }

    /// Queues what there is to ask. Safe to run from many machines at once.
    /// - Parameter scopes: the app environments that this process has API keys for.
    func plan(for scopes: [AppEnvironment]) async throws

    /// Claims the row that is to be worked first; nil if none is due.
    func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Row?

    /// Takes a row a turn on: afterwards it is settled, or put off until its next turn.
    /// - Returns: nil, or why Apple has not taken what was sent: then the duty itself has put off what would fail the same way.
    /// - Throws: any error. The row is then settled or put off by it.
    func take(_ row: Row, _ client: AppStoreClient) async throws -> Postponement?

    /// Settles a row, if the failure is permanent.
    /// - Returns: whether it did.
    func settle(_ row: Row, by failure: AppStoreFailure) async throws -> Bool

    /// Puts a row off, and with it all that would fail the same way.
    func putOff(_ row: Row, _ postponement: Postponement) async throws
}

extension AppleDuty {
    package static var planning: Duration? { nil }

    package func plan(for scopes: [AppEnvironment]) {}

    package func settle(_ row: Row, by failure: AppStoreFailure) -> Bool { false }

    package func putOff(_ row: Row, _ postponement: Postponement) async throws {
        try await queue.putOff(row.claim, postponement)
    }
}
