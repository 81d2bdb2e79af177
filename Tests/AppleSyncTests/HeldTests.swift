import AppStorePayloads
import AppleSync
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import Subscriptions
import TestSupport
import Testing

@testable import AppleRecords

@Suite("A notification that Apple lists")
struct HeldTests {
    @Test("is not missing while it waits, nor once it is applied or parked")
    func pendingAndApplied() async throws {
        try await withSite { site in
            var customer = SimulatedSubscriber(app: Site.app, lane: 1, seed: 1)
            let now = ImpatientClock().now().millisecondsSince1970
            let line = customer.buy(.premiumMonthly, at: now - 120_000)
            customer.announce("LATER_INVENTION", nil, line, at: now - 60_000)
            let listed = customer.takeNotifications().map {
                ScriptedApple.Listed(signedDate: $0.signedDate, jws: $0.signed(by: site.authority))
            }
            try #require(listed.count == 2)
            site.apple.list(listed)
            #expect(try await site.check().missingCount == 2)
            try await site.post(listed.map(\.jws))
            #expect(try await site.check().missingCount == 0)
            #expect(try await site.reconcile().recovered == 0)
            try await site.workOff()
            #expect(try await site.check().missingCount == 0)
            #expect(try await site.reconcile(since: .earliest).recovered == 0)
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(2))
        }
    }

    @Test("is looked for among what waits without reading the same row twice, whatever it is")
    func pendingOnce() async throws {
        try await withSite { site in
            let listed = tests(2, by: site.authority)
            try await site.post([listed[0].listed.jws])
            try await site.outbox.store([
                Evidence(.transaction, from: .client, Array(listed[1].listed.jws.utf8)),
                Evidence(.receipt, from: .client, [1, 2, 3]),
            ])
            let letters = listed.map { HistoryPage.Letter(notificationUUID: $0.uuid, bytes: Array($0.listed.jws.utf8)) }
            #expect(try await site.history.missing(letters) == [letters[1]])
            #expect(site.history.pending.remembered == 3)
        }
    }

    @Test("is told to be missing by a check, which stores nothing")
    func check() async throws {
        try await withSite { site in
            let listed = tests(5, by: site.authority)
            site.apple.list(listed.map(\.listed))
            try await site.post([listed[0].listed.jws, listed[3].listed.jws])
            let check = try await site.check()
            #expect(check.listed == 5)
            #expect(check.held == 2)
            #expect(Set(check.missing) == Set([1, 2, 4].map { listed[$0].uuid }))
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(2))
            #expect(try await site.value("select count(*) from storehook.history_windows") == Int64(0))
        }
    }

    @Test("is not missing as a dead letter, open, discarded or dropped, unless what lies there was damaged on its way")
    func dead() async throws {
        try await withSite { site in
            let listed = tests(3, by: site.authority)
            site.apple.list(listed.map(\.listed))
            let damaged = String(listed[1].listed.jws.dropLast(8)) + "AAAAAAAA"
            // From a time when no root was trusted.
            try await site.post([listed[0].listed.jws, damaged, listed[2].listed.jws])
            try await site.workOff(trusting: [])
            let letters = try await site.outbox.deadLetters(DeadLetterFilter(), limit: 10)
            try #require(letters.count == 3)
            #expect(try await site.check().missing == [listed[1].uuid])
            _ = try await site.outbox.discard(letters.map(\.id), by: "test", why: "test")
            #expect(try await site.reconcile().recovered == 1)
            #expect(try await site.check().missingCount == 0)
            // Retention drops closed letters. What did not verify said itself what it was: anybody may have posted it, so what
            // Apple lists is fetched.
            try await site.pool.query("delete from storehook.dead_letters where notification_uuid = \(listed[0].uuid)")
            #expect(try await site.check().missing == [listed[0].uuid])
            // What Apple signed and staff gave up is not fetched again.
            try await site.pool.query(
                "update storehook.dead_letters set category = 'unprocessable', reason = 'wrong_bundle'")
            try await site.pool.query("delete from storehook.dead_letters")
            #expect(try await site.check().missing == [listed[0].uuid])
            try await site.pool.query("update storehook.history_letters set noted_at = now() - interval '179 days'")
            try await site.replan()
            #expect(try await site.check().missing == [listed[0].uuid])
            try await site.pool.query("update storehook.history_letters set noted_at = now() - interval '181 days'")
            try await site.replan()
            #expect(try await site.value("select count(*) from storehook.history_letters") == Int64(0))
        }
    }
}
