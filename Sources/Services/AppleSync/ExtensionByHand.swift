import AppStoreServerAPI
package import AppleRecords
import EvidenceStore
package import Pipeline

/// Extends renewal dates on request: records it, asks Apple at once, and leaves the rest to the workers.
package struct ExtensionByHand: Sendable {
    private let extensions: RenewalExtensions
    private let runner: DutyRunner<ExtensionDuty>
    private let owner: String

    /// How often it looks whether a worker that holds the extension is done, before the caller gets its present state.
    private static let looks = 240
    private static let betweenLooks = Duration.milliseconds(250)

    /// Extends by this duty, without waiting for what is asked in the background.
    /// - Parameter owner: the name, for people, of the holder of an extension while Apple is asked.
    package init(_ extensions: RenewalExtensions, _ duty: ExtensionDuty, _ clients: AppleClients, owner: String) {
        self.extensions = extensions
        var duty = duty
        duty.priority = .interactive
        runner = DutyRunner(duty, clients, owner: owner)
        self.owner = owner
    }

    /// Records a wish, and asks Apple unless a worker already does.
    /// - Returns: how it stands then. It is `requested` where Apple could not be asked, for the reason that it waits for, and
    ///   `unknown` where its answer was lost: workers go on with both.
    /// - Throws: `RenewalExtensions.Conflict`, `PostgresError`, or `CancellationError`.
    package func extend(_ wish: RenewalExtensions.Wish) async throws -> RenewalExtension {
        let id = try await extensions.record(wish)
        for _ in 0..<Self.looks {
            if let held = try await extensions.claim(
                for: Lease(owner: owner, duration: ExtensionDuty.lease), among: [wish.scope], id: id)
            {
                _ = try await runner.work(held)
                break
            }
            // A worker was faster, or has put it off by now.
            if let record = try await extensions.find(id), record.state != .requested || record.waitingFor != nil {
                break
            }
            try await Task.sleep(for: Self.betweenLooks)
        }
        guard let record = try await extensions.find(id) else { throw Vanished() }
        return record
    }

    /// Extensions are never deleted.
    private struct Vanished: Error, CustomStringConvertible {
        let description = "the extension is gone from the database"
    }
}
