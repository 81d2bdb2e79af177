package import Accounts
import AppStoreServerAPI
package import AppleRecords
import EvidenceStore
import Foundation
package import Logging
package import Pipeline
import Postgres
import ServiceLifecycle

/// Answers Apple's requests for consumption data by the operator's policy, with the customer's recorded consent, the earliest
/// deadline first, beside a worker. Any number of workers share the requests.
///
/// Without a policy or a key it notes the requests all the same, and what became of them.
package struct ConsumptionDuty: Service {
    private let requests: ConsumptionRequests
    private let policy: ConsumptionPolicy?
    private let catalog: @Sendable () async throws -> ConsumptionPolicy?
    private let clients: AppleClients
    private let owner: String
    private let lease: Duration
    private let interval: Duration
    private let logger: Logger
    private let metrics: AppleSyncMetrics
    private let planned = PlanClock()
    private let planUnheard = PlanClock()
    private let overruled = PlanClock()

    /// When a request is looked at again that lacks a consent or a rule. Whoever records a consent has it looked at at once.
    private static let pause = Duration.seconds(600)
    /// When one is looked at again while an answer about the same transaction is on its way.
    private static let shortPause = Duration.seconds(60)

    /// A duty.
    /// - Parameters:
    ///   - requests: over a connection of its own, so that those who work never wait for it.
    ///   - policy: what the operator has decided in a file of its own; nil: nothing.
    ///   - catalog: what the current catalog says, which counts alone where it says anything: it is on record, and becomes current
    ///     for all workers at one instant, where files may differ from machine to machine. Without either nothing is answered.
    ///   - clients: whoever may be asked; without any, nothing is answered.
    ///   - owner: who holds a request, for people.
    ///   - lease: how long a request is held: recording, one question to Apple, recording.
    ///   - interval: between two looks at what is due.
    package init(
        _ requests: ConsumptionRequests, _ policy: ConsumptionPolicy?,
        catalog: @escaping @Sendable () async throws -> ConsumptionPolicy? = { nil }, _ clients: AppleClients,
        owner: String,
        lease: Duration = .seconds(90), interval: Duration = .seconds(2), logger: Logger, metrics: AppleSyncMetrics
    ) {
        self.requests = requests
        self.policy = policy
        self.catalog = catalog
        self.clients = clients
        self.owner = owner
        self.lease = lease
        self.interval = interval
        self.logger = logger
        self.metrics = metrics
    }

    /// Works until graceful shutdown. An answer that was begun is brought to its end.
    package func run() async throws {
        let loop = DutyLoop(name: "Answering requests for consumption data", interval: interval, logger: logger)
        await cancelWhenGracefulShutdown { await loop.run { try await step() } }
    }

    /// Notes what is new, settles what is over, and looks after one request.
    func step() async throws -> DutyLoop.Step {
        // Asked each time, so that all workers go by a catalog from the moment at which it is current.
        let refunds = try await catalog()
        if refunds != nil, policy != nil { tellOverruled() }
        let policy = refunds ?? policy
        if planned.isDue(every: .seconds(5)) || interval == .zero { try await plan(policy) }
        guard let policy else { return .idle }
        guard let request = try await requests.claim(for: Lease(owner: owner, duration: lease), among: clients.scopes),
            let client = clients.client(of: request.scope)
        else { return .idle }
        do {
            return try await look(after: request, policy, client)
        } catch {
            guard !Task.isCancelled, let postponement = Postponement(error, attempts: request.attempts) else {
                // In a task of its own: this one is cancelled.
                try? await Task { try await requests.giveBack(request) }.value
                throw CancellationError()
            }
            try await requests.putOff(request, for: postponement.delay, reason: postponement.reason)
            return postponement.isGeneral ? .inTrouble(postponement.text) : .worked
        }
    }

    /// Once a day while it is so.
    private func tellOverruled() {
        guard overruled.isDue(every: .seconds(86_400)) else { return }
        logger.warning(
            "The file of STOREHOOK_CONSUMPTION_POLICY does not count, for the current catalog has refunds: unset it, or take refunds out of the catalog"
        )
        overruled.done()
    }

    private func plan(_ policy: ConsumptionPolicy?) async throws {
        // All that was ever heard now and then; it finds something where a database was filled from Apple's history.
        let everything = planUnheard.isDue(every: .seconds(3600)) || interval == .zero
        if planUnheard.isDue(every: .seconds(3600)), policy != nil { try await requests.hasten(clients.scopes) }
        var isNew = false
        while true {
            let (noted, settled) = try await requests.note(
                everything: everything, hasPolicy: policy != nil, keysFor: clients.scopes)
            for settled in settled { tell(settled, about: nil) }
            isNew = isNew || noted > 0
            if noted < ConsumptionRequests.portion { break }
        }
        if policy != nil { try await requests.forgetMissingPolicy(clients.scopes) }
        if isNew || everything { try await explainLackingKeys(policy) }
        if everything { planUnheard.done() }
        for settled in try await requests.expire() { tell(settled, about: nil) }
        planned.done()
    }

    /// Where a key is missing only what the policy would answer waits for it.
    private func explainLackingKeys(_ policy: ConsumptionPolicy?) async throws {
        guard let policy else { return }
        try await requests.explain(
            try await requests.lackingKeys(but: clients.scopes).map { request in
                switch ConsumptionDecision(request, by: policy) {
                case .tell, .wait(.noConsent), .wait(.consentWithdrawn), .wait(.noAccount): (request.id, .noKey)
                case .wait(let reason), .leave(let reason): (request.id, reason)
                }
            })
    }

    private func look(
        after request: ConsumptionRequest, _ policy: ConsumptionPolicy, _ client: AppStoreClient
    ) async throws -> DutyLoop.Step {
        if request.isBegun {
            tell(
                try await requests.settle(request, .unknown, reason: ConsumptionReason.workerGone.rawValue),
                about: request)
            return .worked
        }
        switch ConsumptionDecision(request, by: policy) {
        case .wait(let reason):
            try await wait(request, reason)
            return .worked
        case .leave(let reason):
            tell(try await requests.settle(request, .notAnswered, reason: reason.rawValue), about: request)
            return .worked
        case .tell(let answer, let rule):
            let end = try await ConsumptionSending(requests, client).tell(answer, about: request, rule: rule)
            switch end {
            case .lost: return .worked
            case .settled(let settled):
                tell(settled, about: request)
                return .worked
            case .withheld(.answeredBefore):
                tell(
                    try await requests.settle(
                        request, .notAnswered, reason: ConsumptionReason.answeredBefore.rawValue), about: request)
                return .worked
            case .withheld(let reason):
                try await wait(request, reason)
                return .worked
            case .notTaken(let postponement):
                if postponement.breadth == .scope {
                    try await requests.putOff(
                        requestsOf: request.scope, by: postponement.delay, reason: postponement.reason)
                }
                return postponement.isGeneral ? .inTrouble(postponement.text) : .worked
            }
        }
    }

    private func wait(_ request: ConsumptionRequest, _ reason: ConsumptionReason) async throws {
        let pause = reason == .anotherUnderWay ? Self.shortPause : Self.pause
        try await requests.putOff(request, for: pause, reason: reason.rawValue)
    }

    /// Counts what became of a request, and says what somebody may want to do something about.
    private func tell(_ settled: ConsumptionSettled?, about request: ConsumptionRequest?) {
        guard let settled else { return }
        metrics.consumption(settled)
        guard settled.outcome != .answered, settled.outcome != .notAnswered else { return }
        logger.warning(
            "A request for consumption data was not answered as the policy says; see storehook consumption list",
            metadata: [
                "outcome": "\(settled.outcome.rawValue)", "why": "\(settled.why ?? "-")",
                "environment": "\(settled.environment)", "request": "\(request.map { "\($0.id)" } ?? "-")",
            ])
    }
}
