import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Logging
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import AppleSync

@Suite("A request for consumption data that waits")
struct ConsumptionWaitingTests {
    @Test("is looked at again as soon as the customer consents")
    func woken() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            let duty = try site.consumption()
            try await site.answerAll(duty)
            try await site.answerAll(duty, now: false)
            #expect(site.apple.told.isEmpty)
            try await site.consent(refund.account)
            try await site.answerAll(duty, now: false)
            #expect(try await site.states(of: refund) == ["answered"])
        }
    }

    @Test("is answered by the current catalog alone where that has refunds, whatever a file says, which is told once")
    func catalogsRefunds() async throws {
        try await withSite { site in
            let refunds = [site.refund(1), site.refund(2)]
            try await site.hear(refunds)
            try await site.consent(refunds[0].account)
            let current = Mutex<ConsumptionPolicy?>(nil)
            let log = RecordedLog()
            // The file leaves everything to Apple.
            let duty = try site.consumption(
                "rules:\n  - answer: leave_to_apple", catalog: { current.withLock(\.self) }, logger: log.logger)
            current.withLock { $0 = try? ConsumptionPolicy(yaml: Site.answersAll) }
            try await site.answerAll(duty)
            try await site.answerAll(duty)
            // The first is answered, and the second waits for a consent, as the catalog's rules have it.
            #expect(try await site.states(of: refunds[0]) == ["answered"])
            #expect(try await site.states(of: refunds[1]) == ["open no_consent"])
            #expect(log.lines.filter { $0.message.contains("STOREHOOK_CONSUMPTION_POLICY") }.map(\.level) == [.warning])
            // What waited meanwhile is looked at by the file, once the catalog says nothing.
            current.withLock { $0 = nil }
            try await site.answerAll(duty)
            #expect(try await site.states(of: refunds[1]).first?.hasPrefix("not_answered") == true)
        }
    }

    @Test("that a worker holds while the customer consents is looked at again at once, too")
    func wokenWhileHeld() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            _ = try await site.requests.note(everything: true, hasPolicy: true, keysFor: [Site.scope])
            let lease = Lease(owner: "slow", duration: .seconds(60))
            let held = try #require(try await site.requests.claim(for: lease, among: [Site.scope]))
            #expect(held.consent == nil)
            try await site.consent(refund.account)
            try await site.requests.putOff(held, for: .seconds(600), reason: ConsumptionReason.noConsent.rawValue)
            try await site.answerAll(try site.consumption(), now: false)
            #expect(try await site.states(of: refund) == ["answered"])
        }
    }

    @Test("is tried until the deadline while Apple is away, and not before the instant that Apple names")
    func away() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let duty = try site.consumption()
            let soon = ImpatientClock().now().millisecondsSince1970 + 1_800_000
            for answer in [
                ScriptedApple.code(5_000_001), TransportAnswer(status: 503),
                TransportAnswer(
                    status: 429, retryAfter: "\(soon)", body: ScriptedApple.code(4_290_000).body),
            ] {
                site.apple.interfere { _ in answer }
                try await site.makeDue()
                _ = try await duty.step()
                #expect(try await site.states(of: refund).first?.hasPrefix("open ") == true)
            }
            #expect(
                try await site.value(
                    """
                    select due_at > now() + interval '25 minutes' and last_reason = 'rate_limit_exceeded'
                      from storehook.consumption_queue
                    """))
            site.apple.interfere(nil)
            // Another budget: the first one's is blocked until then.
            try await site.answerAll(try site.consumption())
            #expect(try await site.states(of: refund) == ["answered"])
            #expect(site.apple.told.count == 4)
        }
    }

    @Test("is tried again before its deadline where Apple refuses the key, and so are those that wait for the same key")
    func refusedKey() async throws {
        try await withSite { site in
            let refunds = [site.refund(1, requests: [11.9]), site.refund(2, requests: [11.95])]
            try await site.hear(refunds)
            for refund in refunds { try await site.consent(refund.account) }
            site.apple.interfere { _ in TransportAnswer(status: 401) }
            let duty = try site.consumption()
            _ = try await duty.step()
            #expect(
                try await site.value(
                    """
                    select count(*) = 2 and bool_and(q.last_reason = 'unauthorized' and q.due_at < a.deadline)
                      from storehook.consumption_queue q join storehook.consumption_answers a using (id)
                    """))
        }
    }
}
