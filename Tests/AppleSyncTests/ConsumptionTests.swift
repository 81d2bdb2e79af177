import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import AppleSync

@Suite("A request for consumption data")
struct ConsumptionTests {
    @Test("without consent is never answered; with it, by the policy, once")
    func consent() async throws {
        try await withSite { site in
            let silent = site.refund(1)
            let subscriber = site.refund(2)
            let buyer = site.refund(3, product: .coins)
            let nobody = site.refund(4, hasAccount: false)
            let changed = site.refund(5)
            try await site.hear([silent, subscriber, buyer, nobody, changed])
            for refund in [subscriber, buyer, changed] { try await site.consent(refund.account) }
            try await site.consent(changed.account, false)
            let duty = try site.consumption()
            for _ in 1...2 { try await site.answerAll(duty) }
            #expect(
                Set(site.apple.told) == [
                    .init(
                        transaction: subscriber.transaction,
                        body:
                            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_PRORATED","sampleContentProvided":true}"#
                    ),
                    .init(
                        transaction: buyer.transaction,
                        body:
                            #"{"consumptionPercentage":100000,"customerConsented":true,"deliveryStatus":"DELIVERED","refundPreference":"DECLINE","sampleContentProvided":false}"#
                    ),
                ])
            #expect(site.apple.told.count == 2)
            #expect(try await site.states(of: silent) == ["open no_consent"])
            #expect(try await site.states(of: nobody) == ["open no_account"])
            #expect(try await site.states(of: changed) == ["open consent_withdrawn"])
            #expect(try await site.states(of: buyer) == ["answered"])
            try await site.passDeadlines()
            try await site.answerAll(duty)
            #expect(try await site.states(of: silent) == ["not_answered no_consent"])
            #expect(try await site.states(of: nobody) == ["not_answered no_account"])
            #expect(try await site.states(of: changed) == ["not_answered consent_withdrawn"])
            #expect(site.apple.told.count == 2)
            #expect(
                try await site.value(
                    """
                    select count(*) = 2 and bool_and(rule = case when answer->>'refund_preference' = 'DECLINE' then '2 used' else '1' end)
                      from storehook.consumption_answers where outcome = 'answered' and consent_id is not null
                    """))
        }
    }

    @Test("of a purchase with the nil UUID is nobody's, whatever consent an earlier release has recorded for it")
    func nilToken() async throws {
        try await withSite { site in
            let (none, posted) = (site.refund(1), site.refund(2))
            try await site.hear([none, posted])
            let id = "00000000-0000-0000-0000-000000000000"
            try await site.pool.query(
                """
                update storehook.transactions set app_account_token = \(UUID(uuidString: id)!)
                 where transaction_id = \(none.transaction)
                """)
            try await site.pool.query(
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                values (\(id), \(UUID(uuidString: id)!), true, 'as it was shown', 'test')
                """)
            try await site.answerAll(try site.consumption())
            #expect(site.apple.told.isEmpty)
            #expect(try await site.states(of: none) == ["open no_account"])
            #expect(
                try await site.value(
                    """
                    select count(*) = 1 and bool_and(app_account_token is null and consent is null)
                      from storehook.consumption_requests where transaction_id = \(none.transaction)
                    """))
        }
    }

    @Test("is answered in the order of deadlines, also once Apple is back")
    func order() async throws {
        try await withSite { site in
            let hours = [3.0, 11, 1, 7, 5]
            let refunds = hours.enumerated().map { site.refund($0.offset + 1, requests: [$0.element]) }
            try await site.hear(refunds)
            for refund in refunds { try await site.consent(refund.account) }
            let wanted = zip(hours, refunds).sorted { $0.0 > $1.0 }.map(\.1.transaction)
            let duty = try site.consumption()
            site.apple.interfere { number in number <= 2 ? ScriptedApple.code(5_000_000) : nil }
            for _ in 1...2 {
                guard case .inTrouble = try await duty.step() else { throw NeverHappened("Apple is away") }
            }
            // The first two were put off.
            #expect(site.apple.told.map(\.transaction) == Array(wanted.prefix(2)))
            try await site.answerAll(duty)
            #expect(site.apple.told.dropFirst(2).map(\.transaction) == wanted)
            #expect(try await site.value("select count(*) from storehook.consumption_queue") == Int64(0))
        }
    }

    @Test("is answered once, however many workers share the requests")
    func shared() async throws {
        try await withSite { site in
            let refunds = (1...12).map { site.refund($0, requests: [Double($0) / 2, 0.1]) }
            try await site.hear(refunds)
            for refund in refunds { try await site.consent(refund.account) }
            let duties = try (1...3).map { try site.consumption(named: "worker \($0)") }
            // One answer a transaction, though Apple has asked twice about each.
            for _ in 1...3 {
                try await site.makeDue()
                try await withThrowingTaskGroup { group in
                    for duty in duties { group.addTask { try await site.answerAll(duty, now: false) } }
                    try await group.waitForAll()
                }
            }
            #expect(site.apple.told.map(\.transaction).sorted() == refunds.map(\.transaction).sorted())
            for refund in refunds {
                #expect(
                    try await site.states(of: refund).sorted() == ["answered", "not_answered answered_before"])
            }
        }
    }

    @Test("that is heard twice, rebuilt or out of order has one row and one answer")
    func repeated() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.consent(refund.account)
            try await site.post(refund.texts.reversed() + refund.texts)
            try await site.workOff()
            let duty = try site.consumption()
            try await site.answerAll(duty)
            try await site.post(refund.texts)
            try await site.workOff()
            try await site.answerAll(duty)
            #expect(site.apple.told.count == 1)
            #expect(try await site.value("select count(*) from storehook.consumption_answers") == Int64(1))
        }
    }

    @Test("that is heard of after its deadline is never answered, and is late only where Apple has posted it of late")
    func late() async throws {
        try await withSite { site in
            let posted = site.refund(1, requests: [13])
            let fresh = site.refund(2, requests: [11.9])
            let silent = site.refund(3, requests: [14])
            let listed = site.refund(4, requests: [15])
            for refund in [posted, fresh, listed] { try await site.consent(refund.account) }
            try await site.hear([posted, fresh, silent, listed])
            try await site.pool.query(
                """
                update storehook.notifications set source = 'history'
                 where transaction_id = \(listed.transaction) and type = 'CONSUMPTION_REQUEST'
                """)
            try await site.answerAll(try site.consumption())
            #expect(site.apple.told.map(\.transaction) == [fresh.transaction])
            #expect(try await site.states(of: posted) == ["late heard_late"])
            #expect(try await site.states(of: silent) == ["not_answered heard_late"])
            #expect(try await site.states(of: listed) == ["not_answered heard_late"])
        }
    }

    @Test("waits for a key and for a policy, each of which is named, and is answered when both are there")
    func keys() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            let unwanted = site.refund(2, product: .coins)
            try await site.hear([refund, unwanted])
            for refund in [refund, unwanted] { try await site.consent(refund.account) }
            try await site.answerAll(try site.consumption(nil))
            #expect(try await site.states(of: refund) == ["open no_policy"])
            // No policy says that it is to be answered.
            #expect(try await site.requests.statuses().one().wanted == 0)
            let subscriptions =
                "rules: [{types: [auto_renewable], answer: {delivery_status: DELIVERED, sample_content_provided: true}}]"
            try await site.answerAll(try site.consumption(subscriptions, hasKey: false))
            #expect(try await site.states(of: refund) == ["open no_key"])
            // A request that is not to be answered lacks no key.
            #expect(try await site.states(of: unwanted) == ["open no_rule"])
            let status = try await site.requests.statuses().one()
            #expect(status.open == 2 && status.wanted == 1 && status.why == "no_key")
            let left = try #require(status.timeLeft)
            #expect(left > .seconds(10 * 3600) && left < .seconds(12 * 3600))
            #expect(site.apple.told.isEmpty)
            try await site.answerAll(try site.consumption(), now: false)
            #expect(try await site.states(of: refund) == ["answered"])
            #expect(try await site.states(of: unwanted) == ["answered"])
            #expect(try await site.requests.statuses().isEmpty == true)
        }
    }

    @Test("that a worker without a policy has noted is missed and late all the same where another worker has one")
    func mixedWorkers() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            try await site.answerAll(try site.consumption(nil))
            #expect(try await site.states(of: refund) == ["open no_policy"])
            // The worker that has one cannot look at it for now.
            try await site.requests.putOff(
                requestsOf: Site.scope, by: .seconds(3600), reason: "rate_limit_exceeded")
            let duty = try site.consumption()
            try await site.answerAll(duty, now: false)
            #expect(site.apple.told.isEmpty)
            #expect(try await site.requests.statuses().one().wanted == 1)
            try await site.passDeadlines()
            try await site.answerAll(duty, now: false)
            #expect(try await site.states(of: refund) == ["late not_looked_at"])
        }
    }

    @Test("that has a consent and a rule and lacks a key is late at its deadline, one without a rule is not answered")
    func unanswered() async throws {
        try await withSite { site in
            // What Apple says of the key puts off what comes after it.
            let keyless = site.refund(1, requests: [1])
            let unasked = site.refund(2, requests: [2], product: .coins)
            let left = site.refund(3, requests: [3], reason: "LEGAL")
            try await site.hear([keyless, unasked, left])
            for refund in [keyless, unasked, left] { try await site.consent(refund.account) }
            let policy = """
                rules:
                  - reasons: [LEGAL]
                    answer: leave_to_apple
                  - types: [auto_renewable]
                    answer: {delivery_status: DELIVERED, sample_content_provided: false}
                """
            site.apple.interfere { _ in TransportAnswer(status: 401) }
            let duty = try site.consumption(policy)
            try await site.answerAll(duty)
            #expect(try await site.states(of: left) == ["not_answered left_to_apple"])
            #expect(try await site.states(of: unasked) == ["open no_rule"])
            #expect(try await site.states(of: keyless) == ["open unauthorized"])
            try await site.passDeadlines()
            try await site.answerAll(duty)
            #expect(try await site.states(of: unasked) == ["not_answered no_rule"])
            #expect(try await site.states(of: keyless) == ["late unauthorized"])
            #expect(try await site.requests.statuses().one().late == 1)
        }
    }

    @Test("of what a family shares is not answered: Apple takes none")
    func family() async throws {
        try await withSite { site in
            let refund = site.refund(1, ownership: .familyShared)
            try await site.hear([refund])
            try await site.consent(refund.account)
            try await site.answerAll(try site.consumption())
            #expect(try await site.states(of: refund) == ["not_answered not_purchased"])
            #expect(site.apple.told.isEmpty)
        }
    }

    @Test("that Apple refuses is refused with Apple's code, and is not sent again")
    func refused() async throws {
        try await withSite { site in
            let refund = site.refund(1, requests: [2])
            try await site.hear([refund])
            try await site.consent(refund.account)
            site.apple.interfere { _ in ScriptedApple.code(4_000_047) }
            let duty = try site.consumption()
            for _ in 1...2 { try await site.answerAll(duty) }
            #expect(try await site.states(of: refund) == ["refused invalid_transaction_type_not_supported"])
            #expect(site.apple.told.count == 1)
        }
    }
}
