import AppStorePayloads
import AppStoreServerAPI
package import AppleRecords
import EvidenceStore
package import Pipeline

/// Extends renewal dates at somebody's wish: records it, asks Apple at once, and leaves the rest to the workers.
package struct ExtensionDesk: Sendable {
    private let extensions: RenewalExtensions
    private let steps: ExtensionSteps
    private let clients: AppleClients
    private let owner: String

    /// How long somebody else may be at it before who asked is told how it stands.
    private static let looks = 240
    private static let betweenLooks = Duration.milliseconds(250)

    /// A desk.
    /// - Parameter owner: who holds an extension while Apple is asked, for people.
    package init(_ extensions: RenewalExtensions, _ steps: ExtensionSteps, _ clients: AppleClients, owner: String) {
        self.extensions = extensions
        self.steps = steps
        self.clients = clients
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
                try await ask(held)
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

    private func ask(_ held: HeldExtension) async throws {
        guard let client = clients.client(of: held.record.scope) else {
            return try await extensions.queue.giveBack(held.record.id, held.lease)
        }
        do {
            try await steps.take(held, client, .interactive)
        } catch {
            _ = try await DutyLoop.Step.after(
                error, of: (held.record.id, held.record.scope, held.attempts, held.lease), in: extensions.queue)
        }
    }

    /// Nobody deletes one.
    private struct Vanished: Error, CustomStringConvertible {
        let description = "the extension is gone from the database"
    }
}
