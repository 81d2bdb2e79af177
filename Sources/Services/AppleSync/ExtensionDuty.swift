import AppStoreServerAPI
package import AppleRecords
import EvidenceStore
package import Logging
package import Pipeline
import ServiceLifecycle

/// Follows extensions of renewal dates beside a worker, whoever recorded them: until Apple was asked, until it is known what it
/// did, until that is applied. Any number of workers share them.
package struct ExtensionDuty: Service {
    private let extensions: RenewalExtensions
    private let steps: ExtensionSteps
    private let clients: AppleClients
    private let owner: String
    private let interval: Duration
    private let logger: Logger

    /// How long an extension is held: a few questions to Apple with all their repetitions.
    static let lease = Duration.seconds(180)

    /// A duty.
    /// - Parameters:
    ///   - extensions: over a connection of its own, so that those who work never wait for it.
    ///   - owner: who holds an extension, for people.
    ///   - interval: between two looks at what is due.
    package init(
        _ extensions: RenewalExtensions, _ steps: ExtensionSteps, _ clients: AppleClients, owner: String,
        interval: Duration = .seconds(5), logger: Logger
    ) {
        self.extensions = extensions
        self.steps = steps
        self.clients = clients
        self.owner = owner
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown; the extension in hand is then given back.
    package func run() async throws {
        let loop = DutyLoop(name: "The extension of renewal dates", interval: interval, logger: logger)
        await cancelWhenGracefulShutdown { await loop.run { try await step() } }
    }

    /// Looks after one extension.
    func step() async throws -> DutyLoop.Step {
        let lease = Lease(owner: owner, duration: Self.lease)
        guard let held = try await extensions.claim(for: lease, among: clients.scopes),
            let client = clients.client(of: held.record.scope)
        else { return .idle }
        do {
            try await steps.take(held, client, .background)
            return .worked
        } catch {
            return try await .after(
                error, of: (held.record.id, held.record.scope, held.attempts, held.lease), in: extensions.queue)
        }
    }
}
