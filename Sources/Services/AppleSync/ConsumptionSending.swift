import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Postgres

/// Answers Apple about a claimed request once: records the answer, sends it, and records Apple's response.
///
/// Once begun it is brought to its end, even if the task that started it is cancelled: stopping in between would leave
/// it unknown whether Apple has the answer.
struct ConsumptionSending: Sendable {
    /// What became of it.
    enum Outcome: Sendable {
        /// It was answered, or Apple has refused, or that is not known; nil where another process has taken it over
        /// meanwhile.
        case settled(ConsumptionSettlement?)
        /// It was not sent, and why.
        case withheld(ConsumptionReason)
        /// Apple has not taken it; it is put off.
        case notTaken(Postponement)
        /// Another process holds it.
        case lost
    }

    private let requests: ConsumptionRequests
    private let client: AppStoreClient

    /// How long may go by between reading the consent and sending.
    private static let haste = Duration.seconds(5)

    /// Sends answers as this client.
    init(_ requests: ConsumptionRequests, _ client: AppStoreClient) {
        self.requests = requests
        // Each request that goes out comes after a look at the consent of its own.
        self.client = client.trying(.once)
    }

    /// Sends Apple this answer.
    /// - Parameter person: the person who sends it by hand and answers for the consent.
    /// - Throws: `PostgresError` where nothing was sent, and where what was sent could not be recorded while it was held.
    func send(
        _ answer: ConsumptionAnswer, about request: ConsumptionRequest, rule: String?, sentBy person: String? = nil
    ) async throws -> Outcome {
        try await Task { try await run(answer, request, rule, person) }.value
    }

    private func run(
        _ answer: ConsumptionAnswer, _ request: ConsumptionRequest, _ rule: String?, _ person: String?
    ) async throws -> Outcome {
        let information = answer.informationWithConsent
        guard information.fault(for: request.subject.type) == nil, let transactionID = request.transactionID,
            let question = ServerRequest.consumptionInformation(transactionID, information)
        else { return .withheld(.unfitAnswer) }
        let lookedAt: ContinuousClock.Instant
        switch try await begin(answer, request, rule, person) {
        case .lost: return .lost
        case .withheld(let reason): return .withheld(reason)
        case .begun(let instant): lookedAt = instant
        }
        guard ContinuousClock.now - lookedAt < Self.haste else {
            try await takeBack(request, for: .seconds(5), reason: ConsumptionReason.stoodStill.rawValue)
            return .lost
        }
        do {
            _ = try await client.ask(question, in: Environment(rawValue: request.scope.environment))
            return .settled(try await settle(request, .answered))
        } catch let failure as AppStoreFailure {
            switch ConsumptionFailure(failure, attempts: request.claim.attempts) {
            case .refused: return .settled(try await settle(request, .refused, reason: failure.code))
            case .unknown: return .settled(try await settle(request, .unknown, reason: failure.code))
            case .notTaken:
                guard let postponement = Postponement(failure, attempts: request.claim.attempts) else { return .lost }
                try await takeBack(
                    request, for: Self.delay(postponement, failure, request), reason: postponement.reason)
                return .notTaken(postponement)
            }
        }
    }

    /// Not beyond the deadline while there is time, unless Apple itself has said when.
    private static func delay(
        _ postponement: Postponement, _ failure: AppStoreFailure, _ request: ConsumptionRequest
    ) -> Duration {
        if case .rateLimited = failure.reason { return postponement.delay }
        return min(postponement.delay, max(.seconds(5), request.timeLeft / 2))
    }

    /// Where it is not known whether it was recorded, nothing is sent, and it is taken back.
    private func begin(
        _ answer: ConsumptionAnswer, _ request: ConsumptionRequest, _ rule: String?, _ person: String?
    ) async throws -> ConsumptionRequests.Beginning {
        do {
            return try await requests.begin(request, answer, rule: rule, sentBy: person)
        } catch {
            try? await takeBack(request, for: .seconds(5), reason: "database")
            throw error
        }
    }

    private func settle(
        _ request: ConsumptionRequest, _ outcome: ConsumptionOutcome, reason: String? = nil
    ) async throws -> ConsumptionSettlement? {
        try await insist(request) { try await requests.settle(request, outcome, reason: reason) }
    }

    private func takeBack(_ request: ConsumptionRequest, for delay: Duration, reason: String) async throws {
        try await insist(request) { try await requests.takeBack(request, for: delay, reason: reason) }
    }

    /// A database that is away comes back: what Apple said is not to be lost for it while the request is held.
    private func insist<T>(_ request: ConsumptionRequest, _ body: () async throws -> T) async throws -> T {
        let end = ContinuousClock.now + request.claim.lease.duration
        var failures = 0
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.isTransient && ContinuousClock.now < end {
                failures += 1
                try await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            }
        }
    }

    private static let backoff = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(5))
}
