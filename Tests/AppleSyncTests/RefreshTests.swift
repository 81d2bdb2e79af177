import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import Foundation
import Pipeline
import Postgres
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@testable import AppleSync

@Suite("A purchase that records contradict")
struct RefreshTests {
    @Test("is asked for and healed, and then left alone for a while")
    func healed() async throws {
        try await withSite { site in
            let story = Story(refunding: .first)
            // Whole, to know what it comes to.
            try await site.post(story.notifications.map { $0.signed(by: site.authority) })
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.contradictions") == Int64(0))
        }
        try await withSite { site in
            let story = Story(refunding: .first)
            // The last renewal was lost; a later refund of the first period brings renewal info that names its end.
            var heard = story.notifications
            heard.remove(at: 4)
            try await site.post(heard.map { $0.signed(by: site.authority) })
            try await site.workOff()
            try #require(try await site.value("select count(*) from storehook.contradictions") > Int64(0))
            story.answers(site)
            let duty = try site.refreshing()
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.contradictions") == Int64(0))
            #expect(
                try await site.value(
                    "select count(*) from storehook.records where source = 'api' and outcome = 'applied'")
                    > Int64(0))
            #expect(try await site.isWhole())
            #expect(try await site.value("select outcome from storehook.refreshes") == "refreshed")
            // Were it contradicted still, it would be left alone for a day.
            try await site.pool.query(
                """
                insert into storehook.anomalies (environment, bundle_id, original_transaction_id, kind, signed_at)
                select environment, bundle_id, original_transaction_id, 'period_missing', now() from storehook.refreshes
                """)
            let asked = site.apple.paths.count
            guard case .idle = try await duty.step() else { throw NeverHappened("it is left alone") }
            #expect(site.apple.paths.count == asked)
            try await site.pool.query("update storehook.refreshes set again_at = now()")
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for again") }
            #expect(
                try await site.value(
                    "select again_at between now() + interval '47 hours' and now() + interval '49 hours' from storehook.refreshes"
                ))
        }
    }

    @Test("that Apple does not know is left alone, too, and one that Apple cannot answer for is asked for later")
    func unknown() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.anomalies (environment, bundle_id, original_transaction_id, kind, signed_at)
                values ('Production', \(Site.app.bundleId), '42', 'period_missing', now())
                """)
            let duty = try site.refreshing()
            site.apple.interfere { _ in ScriptedApple.code(5_000_000) }
            guard case .inTrouble = try await duty.step() else { throw NeverHappened("Apple is in trouble") }
            #expect(try await site.value("select last_reason from storehook.refresh_queue") == "general_internal")
            site.apple.interfere(nil)
            try await site.pool.query("update storehook.refresh_queue set due_at = now()")
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
            #expect(try await site.value("select outcome from storehook.refreshes") == "transaction_id_not_found")
            guard case .idle = try await duty.step() else { throw NeverHappened("it is left alone") }
        }
    }

    @Test("is asked for when its period has ended without a word of the renewal, once, before its status stops waiting")
    func awaited() async throws {
        try await withSite { site in
            // A week ended five minutes ago. Of one customer the renewal was lost, another has said that it will not renew.
            let now = ImpatientClock().now().millisecondsSince1970
            let story = Story(weekEnding: now - 300_000)
            try await site.post(story.notifications.prefix(1).map { $0.signed(by: site.authority) })
            var leaver = SimulatedSubscriber(app: Site.app, lane: 8, seed: 8)
            let line = leaver.buy(.basicWeekly, at: now - 7 * 86_400_000 - 300_000)
            leaver.switchAutoRenew(line, on: false, at: now - 86_400_000)
            try await site.post(leaver.takeNotifications().map { $0.signed(by: site.authority) })
            try await site.workOff(policy: .usual)
            story.answers(site)
            func duty(leeway: Duration) throws -> DutyRunner<RefreshDuty> { try site.refreshing(leeway: leeway) }
            // Not where nothing is awaited, nor so soon that it may only be slow.
            for leeway in [Duration.zero, .seconds(3600)] {
                guard case .idle = try await duty(leeway: leeway).step() else { throw NeverHappened("nobody asks") }
            }
            #expect(site.apple.paths.isEmpty)
            let status: PostgresQuery = """
                select status || ' ' || (expires_at > now()) from storehook.subscription_status
                 where original_transaction_id = \(story.original)
                """
            #expect(try await site.value(status) == "active false")
            let duty = try duty(leeway: .seconds(600))
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
            #expect(site.apple.paths.allSatisfy { $0.contains(story.original) })
            try await site.workOff(policy: .usual)
            #expect(try await site.value(status) == "active true")
            // The next end is another.
            guard case .idle = try await duty.step() else { throw NeverHappened("it was asked for") }
        }
    }

    @Test("is asked for at its end also where auto-renew was never heard of")
    func awaitedUnheard() async throws {
        try await withSite { site in
            let now = ImpatientClock().now().millisecondsSince1970
            var customer = SimulatedSubscriber(app: Site.app, lane: 9, seed: 9)
            customer.buy(.basicWeekly, at: now - 7 * 86_400_000 - 300_000)
            var bought = customer.takeNotifications()[0]
            var data = try #require(bought.data)
            (data.renewal, data.status) = (nil, nil)
            bought.part = .data(data)
            try await site.post([bought.signed(by: site.authority)])
            try await site.workOff(policy: .usual)
            #expect(try await site.value("select status from storehook.subscription_status") == "active")
            let duty = try site.refreshing(leeway: .seconds(600))
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
            #expect(!site.apple.paths.isEmpty)
        }
    }

    @Test("of whose renewal Apple knows nothing either is not asked for again at the same end")
    func awaitedInVain() async throws {
        try await withSite { site in
            let now = ImpatientClock().now().millisecondsSince1970
            let story = Story(weekEnding: now - 300_000, isRenewed: false)
            try await site.post(story.notifications.map { $0.signed(by: site.authority) })
            try await site.workOff(policy: .usual)
            story.answers(site)
            let duty = try site.refreshing(leeway: .seconds(600))
            guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
            try await site.workOff(policy: .usual)
            let asked = site.apple.paths.count
            #expect(asked > 0)
            guard case .idle = try await duty.step() else { throw NeverHappened("it was asked for") }
            #expect(site.apple.paths.count == asked)
        }
    }

    @Test("is in grace where Apple gives no date for it, as the lost notification says that Apple lists")
    func undatedGrace() async throws {
        for isListed in [true, false] {
            try await withSite { site in
                let now = ImpatientClock().now().millisecondsSince1970
                let story = Story(weekEnding: now - 300_000, failing: .nullDate)
                try await site.post(story.notifications.prefix(1).map { $0.signed(by: site.authority) })
                try await site.workOff(policy: .usual)
                story.answers(site, signedLater: 60_000, status: 4)
                if isListed {
                    site.apple.list(
                        story.notifications.map { .init(signedDate: $0.signedDate, jws: $0.signed(by: site.authority)) }
                    )
                }
                let duty = try site.refreshing(leeway: .seconds(600))
                guard case .worked = try await duty.step() else { throw NeverHappened("it is asked for") }
                try await site.workOff(policy: .usual)
                // The status that comes with renewal info in an answer is not signed.
                let status: String = try await site.value("select status from storehook.subscription_status")
                #expect(status == (isListed ? "grace_period" : "billing_retry"))
                // What was posted is not stored again.
                #expect(
                    try await site.value("select count(*) from storehook.notifications") == Int64(isListed ? 2 : 1))
            }
        }
    }

    @Test("takes a refund that only Apple's refund history tells of, and nothing twice")
    func refund() async throws {
        try await withSite { site in
            let story = Story(refunding: .latest)
            try await site.post(story.notifications.dropLast().map { $0.signed(by: site.authority) })
            try await site.workOff()
            let revoked: PostgresQuery = "select count(*) from storehook.transactions where revoked_at is not null"
            #expect(try await site.value(revoked) == Int64(0))
            let refund = try #require(story.transactions(of: story.notifications.suffix(1), by: site.authority).first)
            site.apple.answer("/inApps/v2/refund/lookup/", with: Story.page([refund]))
            site.apple.answer("/inApps/v2/history/", with: Story.page([]))
            site.apple.answer("/inApps/v1/subscriptions/", with: #"{"data":[]}"#)
            let refresh = PurchaseRefresh(site.history, try site.client(), priority: .interactive)
            #expect(try await refresh.run(story.original, in: .production).stored == 1)
            try await site.workOff()
            #expect(try await site.value(revoked) == Int64(1))
            let again = try await refresh.run(story.original, in: .production)
            #expect(again.answered == 1)
            #expect(again.stored == 0)
        }
    }

    @Test("is asked for twice and stored once, though Apple signs what it answers anew each time")
    func idempotent() async throws {
        try await withSite { site in
            let story = Story(refunding: .latest)
            let refresh = PurchaseRefresh(site.history, try site.client(), priority: .interactive)
            story.answers(site)
            #expect(try await refresh.run(story.original, in: .production).stored > 0)
            try await site.workOff()
            let records: PostgresQuery = "select count(*) from storehook.outbox"
            let before: Int64 = try await site.value(records)
            let whole = try await site.truth()
            story.answers(site, signedLater: 60_000)
            let again = try await refresh.run(story.original, in: .production)
            #expect(again.answered > 1)
            #expect(again.stored == 0)
            try await site.workOff()
            #expect(try await site.value(records) == before)
            #expect(try await site.truth() == whole)
            // What says something else is news.
            story.answers(site, signedLater: 120_000, changingRenewal: true)
            #expect(try await refresh.run(story.original, in: .production).stored == 1)
        }
    }

    @Test(
        "of which Apple's answers hold what cannot be believed yet is asked for later, and what is not Apple's is told")
    func unbelievable() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.anomalies (environment, bundle_id, original_transaction_id, kind, signed_at)
                values ('Production', \(Site.app.bundleId), '42', 'period_missing', now())
                """)
            let story = Story(refunding: .latest)
            story.answers(site)
            func duty(_ verifier: Verifier) throws -> DutyRunner<RefreshDuty> { try site.refreshing(verifier) }
            let root = Set([Fingerprint(site.authority.rootFingerprint)].compactMap(\.self))
            // Of no certificate it is known whether it was revoked.
            _ = try await duty(site.verifier(trusting: root, RevocationCache())).step()
            #expect(try await site.value("select last_reason from storehook.refresh_queue") == "revocation_unknown")
            #expect(try await site.value("select asked_at is null from storehook.refreshes"))
            try await site.pool.query("update storehook.refresh_queue set due_at = now()")
            // No root is trusted.
            _ = try await duty(site.verifier(trusting: [])).step()
            #expect(try await site.value("select outcome from storehook.refreshes") == "refused")
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(0))
        }
    }
}

/// A customer of five months, and what Apple would answer about them.
private struct Story {
    let notifications: [UnsignedNotification]

    enum Refunded { case first, latest }

    init(refunding refunded: Refunded) {
        let now = ImpatientClock().now().millisecondsSince1970
        var customer = SimulatedSubscriber(app: Site.app, lane: 7, seed: 7)
        let line = customer.buy(.premiumMonthly, at: now - 140 * 86_400_000)
        for _ in 0..<4 { customer.renew(line) }
        let item: SimulatedSubscriber.SoldItem = refunded == .first ? .period(line, 0) : customer.latest(of: line)
        customer.refund(item, at: now - 3_600_000)
        notifications = customer.takeNotifications()
    }

    /// A customer of a week that ended at an instant, in milliseconds, and of the week after it.
    init(weekEnding end: Int64, isRenewed: Bool = true) {
        var customer = SimulatedSubscriber(app: Site.app, lane: 7, seed: 7)
        let line = customer.buy(.basicWeekly, at: end - 7 * 86_400_000)
        if isRenewed { customer.renew(line) }
        notifications = customer.takeNotifications()
    }

    /// A customer of a week that ended at an instant, in milliseconds, and whose charge failed then.
    init(weekEnding end: Int64, failing grace: SimulatedSubscriber.Grace) {
        var customer = SimulatedSubscriber(app: Site.app, lane: 7, seed: 7)
        let line = customer.buy(.basicWeekly, at: end - 7 * 86_400_000)
        customer.failToRenew(line, grace: grace)
        notifications = customer.takeNotifications()
    }

    var original: String { notifications[0].transaction?.originalTransactionId ?? "" }

    /// The transactions in notifications, as they were signed within.
    func transactions(
        of notifications: some Collection<UnsignedNotification>, by authority: SimulatedAuthority
    ) -> [String] {
        notifications.flatMap { nested(in: $0, by: authority).filter { $0.text.contains("purchaseDate") }.map(\.jws) }
    }

    private func nested(
        in notification: UnsignedNotification, by authority: SimulatedAuthority, signedLater later: Int64 = 0
    ) -> [(text: String, jws: String)] {
        var nested: [(text: String, jws: String)] = []
        _ = notification.json { payload in
            let text = String(decoding: payload, as: UTF8.self).replacing(/"signedDate":([0-9]+)/) { match in
                "\"signedDate\":\((Int64(match.output.1) ?? 0) + later)"
            }
            let payload = Array(text.utf8)
            let jws = authority.sign(payload)
            nested.append((String(decoding: payload, as: UTF8.self), jws))
            return jws
        }
        return nested
    }

    static func page(_ transactions: [String]) -> String {
        let list = transactions.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"signedTransactions":[\#(list)],"hasMore":false}"#
    }

    /// What Apple holds of it: the latest record of each thing.
    func answers(_ site: Site, signedLater later: Int64 = 0, changingRenewal: Bool = false, status: Int = 1) {
        let records = notifications.flatMap { nested(in: $0, by: site.authority, signedLater: later) }
        var latest: [String: String] = [:]
        for record in records {
            guard record.text.contains("purchaseDate"),
                let id = record.text.firstMatch(of: /"transactionId":"([^"]+)"/)?.output.1
            else { continue }
            latest[String(id)] = record.jws
        }
        site.apple.answer("/inApps/v2/history/", with: Self.page(latest.sorted { $0.key < $1.key }.map(\.value)))
        site.apple.answer("/inApps/v2/refund/lookup/", with: Self.page([]))
        let transaction = records.last { $0.text.contains("purchaseDate") }?.jws ?? ""
        var renewal = records.last { $0.text.contains("autoRenewStatus") }?.jws ?? ""
        if changingRenewal, let text = records.last(where: { $0.text.contains("autoRenewStatus") })?.text {
            renewal = site.authority.sign(
                text.replacing(/"autoRenewStatus":([01])/) { "\"autoRenewStatus\":\($0.output.1 == "1" ? 0 : 1)" })
        }
        site.apple.answer(
            "/inApps/v1/subscriptions/",
            with: """
                {"environment":"Production","bundleId":"\(Site.app.bundleId)","data":[{"subscriptionGroupIdentifier":"1",\
                "lastTransactions":[{"status":\(status),"originalTransactionId":"\(original)",\
                "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}]}]}
                """)
    }
}
