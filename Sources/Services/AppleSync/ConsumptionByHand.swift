package import Accounts
import AppStorePayloads
package import AppStoreServerAPI
package import AppleRecords
package import Base
import EvidenceStore
package import Foundation

/// Answers a request for consumption data by hand, as workers do: once, on record, and not if the customer has refused.
/// The person who sends it answers for the consent where none is recorded.
package struct ConsumptionByHand: Sendable {
    /// What came of it.
    package enum Outcome: Sendable {
        /// It was sent, and this is what it came to.
        case settled(ConsumptionSettlement)
        /// No worker has noted it, it is settled, or another process holds it at this moment.
        case notHeld
        /// It must not be sent.
        case withheld(ConsumptionReason)
        /// Apple has not taken it, for this reason; workers go on.
        case notTaken(String)
    }

    private let requests: ConsumptionRequests
    private let client: AppStoreClient
    private let person: String

    /// Answers as this person.
    package init(_ requests: ConsumptionRequests, _ client: AppStoreClient, by person: String) {
        self.requests = requests
        self.client = client
        self.person = person
    }

    /// Sends Apple this answer to the request of a notification.
    package func send(_ answer: ConsumptionAnswer, about notificationUUID: UUID) async throws -> Outcome {
        let lease = Lease(owner: person, duration: .seconds(90))
        guard let request = try await requests.claim(notificationUUID, for: lease) else { return .notHeld }
        if request.isBegun {
            let left = ConsumptionReason.workerGone
            return try await requests.settle(request, .unknown, reason: left.rawValue).map { .settled($0) } ?? .notHeld
        }
        switch try await ConsumptionSending(requests, client).send(answer, about: request, rule: nil, sentBy: person) {
        case .settled(let settled?): return .settled(settled)
        case .settled(nil), .lost: return .notHeld
        case .notTaken(let postponement): return .notTaken(postponement.text)
        case .withheld(let reason):
            try await requests.queue.giveBack(request.claim)
            return .withheld(reason)
        }
    }
    /// Sends Apple this answer about a transaction whose earlier answer ended as `unknown`. It may be the second
    /// answer: only where a person has decided so.
    /// - Parameters:
    ///   - transactionID: what the request of the notification is about.
    ///   - environment: where.
    package func sendAgain(
        _ answer: ConsumptionAnswer, about notificationUUID: UUID, transactionID: String, in environment: Environment
    ) async throws -> Outcome {
        guard let question = ServerRequest.consumptionInformation(transactionID, answer.informationWithConsent) else {
            return .withheld(.unfitAnswer)
        }
        guard try await requests.beginAgain(notificationUUID, answer, sentBy: person) else { return .notHeld }
        do {
            _ = try await client.trying(.once).ask(question, in: environment)
        } catch let failure as AppStoreFailure {
            // Whatever became of this answer, whether Apple has the earlier one is still unknown.
            guard ConsumptionFailure(failure, attempts: 1) == .unknown else { return .notTaken(failure.description) }
            return try await requests.settleAgain(notificationUUID, isTaken: false, reason: failure.code)
                .map { .settled($0) } ?? .notHeld
        }
        return try await requests.settleAgain(notificationUUID, isTaken: true).map { .settled($0) } ?? .notHeld
    }
}
