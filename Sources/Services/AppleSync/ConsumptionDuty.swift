package import Accounts
package import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
package import Logging

/// Answers Apple's requests for consumption data by the operator's policy, with the customer's recorded consent, the earliest
/// deadline first, beside a worker. Any number of workers share the requests.
///
/// Without a policy or a key it notes the requests all the same, and what became of them.
package struct ConsumptionDuty: AppleDuty {
    package static let name = "Answering requests for consumption data"
    package static let interval = Duration.seconds(2)
    package static let planning: Duration? = .seconds(5)

    /// A claimed request, and the policy that was current when it was claimed.
    package struct Row: ScopedRow {
        let request: ConsumptionRequest
        let policy: ConsumptionPolicy

        package var claim: ScopedClaim { request.claim }
    }

    /// Recording, one question to Apple, recording.
    package static let lease = Duration.seconds(90)
    package let logger: Logger
    private let requests: ConsumptionRequests
    private let policy: ConsumptionPolicy?
    private let catalog: @Sendable () async throws -> ConsumptionPolicy?
    private let isThorough: Bool
    private let metrics: AppleSyncMetrics
    private let planUnheard = PlanClock()
    private let overruled = PlanClock()

    /// When a request is looked at again that lacks a consent or a rule. Recording a consent makes it due at once.
    private static let pause = Duration.seconds(600)
    /// When one is looked at again while an answer about the same transaction is on its way.
    private static let shortPause = Duration.seconds(60)

    /// A duty.
    /// - Parameters:
    ///   - requests: over a connection of its own, so that workers never wait for it.
    ///   - policy: what the operator has decided in a file of its own; nil: nothing.
    ///   - catalog: what the current catalog says, which counts alone where it says anything: it is on record, and becomes current
    ///     for all workers at one instant, where files may differ from machine to machine. Without either nothing is answered.
    ///   - isThorough: looks at all requests ever heard at each planning, rather than once an hour.
    package init(
        _ requests: ConsumptionRequests, _ policy: ConsumptionPolicy?,
        catalog: @escaping @Sendable () async throws -> ConsumptionPolicy? = { nil }, isThorough: Bool = false,
        logger: Logger, metrics: AppleSyncMetrics
    ) {
        self.requests = requests
        self.policy = policy
        self.catalog = catalog
        self.isThorough = isThorough
        self.logger = logger
        self.metrics = metrics
    }

    package var queue: ScopedQueue { requests.queue }

    /// Read each time, so that all workers go by a catalog from the moment at which it is current.
    private func currentPolicy() async throws -> ConsumptionPolicy? {
        guard let refunds = try await catalog() else { return policy }
        if policy != nil { reportOverruled() }
        return refunds
    }

    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Row? {
        guard let policy = try await currentPolicy() else {
            return try await requests.claimDecided(for: lease, among: scopes)
                .map { Row(request: $0, policy: ConsumptionPolicy(rules: [])) }
        }
        return try await requests.claim(for: lease, among: scopes).map { Row(request: $0, policy: policy) }
    }

    /// Once a day while it is so.
    private func reportOverruled() {
        guard overruled.isDue(every: .seconds(86_400)) else { return }
        logger.warning(
            "The file of STOREHOOK_CONSUMPTION_POLICY does not count, for the current catalog has refunds: unset it, or take refunds out of the catalog"
        )
        overruled.done()
    }

    /// Notes what is new, and settles what is over.
    package func plan(for scopes: [AppEnvironment]) async throws {
        let policy = try await currentPolicy()
        // All that was ever heard now and then; it finds something where a database was filled from Apple's history.
        let isHourly = planUnheard.isDue(every: .seconds(3600))
        let everything = isHourly || isThorough
        if isHourly, policy != nil { try await requests.requeueNow(scopes) }
        var isNew = false
        while true {
            let (noted, settled) = try await requests.note(
                everything: everything, hasPolicy: policy != nil, keysFor: scopes)
            for settled in settled { report(settled, about: nil) }
            isNew = isNew || noted > 0
            if noted < ConsumptionRequests.portion { break }
        }
        if policy != nil { try await requests.forgetMissingPolicy(scopes) }
        if isNew || everything { try await explainLackingKeys(policy, but: scopes) }
        if everything { planUnheard.done() }
        for settled in try await requests.expire() { report(settled, about: nil) }
    }

    /// Where a key is missing only what the policy would answer waits for it.
    private func explainLackingKeys(_ policy: ConsumptionPolicy?, but scopes: [AppEnvironment]) async throws {
        guard let policy else { return }
        try await requests.explain(
            try await requests.lackingKeys(but: scopes).map { request in
                switch ConsumptionDecision(request, by: policy) {
                case .send, .wait(.noConsent), .wait(.consentWithdrawn), .wait(.noAccount), .wait(.refundPending):
                    (request.id, .noKey)
                case .wait(let reason), .leave(let reason): (request.id, reason)
                }
            })
    }

    package func take(_ row: Row, _ client: AppStoreClient) async throws -> Postponement? {
        let request = row.request
        if request.isBegun {
            try await settle(request, .unknown, .workerGone)
            return nil
        }
        switch ConsumptionDecision(request, by: row.policy) {
        case .wait(let reason): try await wait(request, reason)
        case .leave(let reason): try await settle(request, .notAnswered, reason)
        case .send(let answer, let rule):
            switch try await ConsumptionSending(requests, client).send(answer, about: request, rule: rule) {
            case .lost: break
            case .settled(let settled): report(settled, about: request)
            case .withheld(.answeredBefore): try await settle(request, .notAnswered, .answeredBefore)
            case .withheld(let reason): try await wait(request, reason)
            case .notTaken(let postponement):
                if postponement.scope == .appEnvironment {
                    try await requests.putOff(
                        requestsOf: request.scope, by: postponement.delay, reason: postponement.reason)
                }
                return postponement
            }
        }
        return nil
    }

    package func putOff(_ row: Row, _ postponement: Postponement) async throws {
        try await requests.putOff(row.request, for: postponement.delay, reason: postponement.reason)
    }

    private func settle(
        _ request: ConsumptionRequest, _ outcome: ConsumptionOutcome, _ reason: ConsumptionReason
    ) async throws {
        report(try await requests.settle(request, outcome, reason: reason.rawValue), about: request)
    }

    private func wait(_ request: ConsumptionRequest, _ reason: ConsumptionReason) async throws {
        let pause =
            switch reason {
            case .anotherUnderWay: Self.shortPause
            case .refundDecided: Duration.zero
            // A decision makes it due at once; without one the policy answers while there is time.
            case .refundPending: min(Self.pause, request.timeLeft - RefundDecision.patience)
            default: Self.pause
            }
        try await requests.putOff(request, for: pause, reason: reason.rawValue)
    }

    /// Counts what became of a request, and logs what an operator may have to act on.
    private func report(_ settled: ConsumptionSettlement?, about request: ConsumptionRequest?) {
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
