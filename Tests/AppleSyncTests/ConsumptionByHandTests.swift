import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import AppleSync

@Suite("An answer about consumption by hand")
struct ConsumptionByHandTests {
    private static let answer = ConsumptionAnswer(deliveryStatus: .delivered, sampleContentProvided: false)
    private static let scope = AppEnvironment(bundleID: "com.example", environment: "Production")

    private func trace(
        consent: Bool? = true, isNoted: Bool = true, isBegun: Bool = false, outcome: ConsumptionOutcome? = nil
    ) -> ConsumptionTrace {
        ConsumptionTrace(
            scope: Self.scope, consent: consent, notificationUUID: UUID(), isNoted: isNoted, isBegun: isBegun,
            outcome: outcome)
    }

    @Test("that names the transaction goes by what is known of it")
    func standing() {
        let open = trace()
        let unknown = trace(isBegun: true, outcome: .unknown)
        #expect(ConsumptionRequestState([]) == .unheardOf)
        #expect(ConsumptionRequestState([ConsumptionTrace(scope: Self.scope)]) == .notAsked)
        #expect(ConsumptionRequestState([trace(isNoted: false)]) == .notNoted)
        #expect(ConsumptionRequestState([open]) == .open(open))
        #expect(ConsumptionRequestState([trace(isBegun: true, outcome: .refused), open]) == .open(open))
        #expect(ConsumptionRequestState([trace(consent: false)]) == .withheld(.consentWithdrawn))
        #expect(ConsumptionRequestState([open, trace(isBegun: true)]) == .withheld(.anotherUnderWay))
        #expect(
            ConsumptionRequestState([open, trace(isBegun: true, outcome: .answered)]) == .withheld(.answeredBefore))
        #expect(ConsumptionRequestState([open, unknown]) == .unknown(unknown))
        #expect(ConsumptionRequestState([trace(outcome: .notAnswered)]) == .settled(.notAnswered))
        var elsewhere = trace()
        elsewhere.scope.environment = "Sandbox"
        #expect(ConsumptionRequestState([open, elsewhere]) == .ambiguous)
    }

    @Test("is told again on record, where nobody knows whether Apple has one, and not against a withdrawal")
    func again() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            site.apple.interfere { number in
                if number == 1 { throw TransportFault.timeout }
                return nil
            }
            try await site.answerAll(try site.consumption())
            #expect(try await site.states(of: refund) == ["unknown unreachable"])
            let traces = try await site.requests.traces(of: refund.transaction, app: nil, environment: nil)
            guard case .unknown(let trace) = ConsumptionRequestState(traces) else {
                throw NeverHappened("it is unknown: \(traces)")
            }
            let notification = try #require(trace.notificationUUID)
            let environment = Environment(rawValue: trace.scope.environment)
            let hand = ConsumptionByHand(site.requests, try site.client(), by: "somebody")
            try await site.consent(refund.account, false)
            let withdrawn = try await hand.sendAgain(
                Self.answer, about: notification, transactionID: refund.transaction, in: environment)
            guard case .notHeld = withdrawn else { throw NeverHappened("it is not sent: \(withdrawn)") }
            #expect(site.apple.told.count == 1)
            try await site.consent(refund.account)
            for _ in 1...2 {
                _ = try await hand.sendAgain(
                    Self.answer, about: notification, transactionID: refund.transaction, in: environment)
            }
            #expect(site.apple.told.count == 2)
            #expect(try await site.states(of: refund) == ["answered"])
            // What was said first is still there.
            #expect(
                try await site.value(
                    """
                    select sent_by = 'somebody' and answer->'before' ? 'delivery_status'
                      from storehook.consumption_answers
                    """))
            #expect(try await site.requests.traces(of: "no such", app: nil, environment: nil).isEmpty)
            // Once the account is erased no name is left, and what was said stays.
            #expect(
                try await EvidencePipeline(site.pool).erase(AccountIdentity(named: refund.account), by: "test") != nil)
            #expect(
                try await site.value(
                    """
                    select sent_by = '-' and began_at is not null and answer->'before' ? 'delivery_status'
                      from storehook.consumption_answers
                    """))
        }
    }
}
