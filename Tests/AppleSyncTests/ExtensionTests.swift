import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

@testable import AppleSync

@Suite("Extending a subscription's renewal date")
struct ExtensionTests {
    @Test("is recorded, asked for once, and followed until RENEWAL_EXTENDED is applied")
    func followed() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            try await shop.deliver("SUBSCRIBED")
            let before = try await shop.expiry(of: id)
            let accepted = try await shop.hand().extend(shop.wish(.one(originalTransactionID: id)))
            #expect(accepted.state == .accepted && accepted.requestedBy == "somebody" && accepted.why == "outage")
            #expect(accepted.effectiveAt == before.adding(.seconds(7 * 86_400)))
            #expect(accepted.before?.renewsAt == before)
            // Apple's notification is on its way.
            let duty = try shop.duty()
            try await shop.step(duty)
            #expect(try await shop.extensions.find(accepted.id)?.state == .accepted)
            try await shop.deliver("RENEWAL_EXTENDED")
            try await shop.step(duty)
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.settledAt != nil)
            #expect(
                try await shop.site.value(
                    "select type from storehook.notifications where notification_uuid = \(done?.notificationUUID)")
                    == "RENEWAL_EXTENDED")
            #expect(try await shop.expiry(of: id) == accepted.effectiveAt)
            #expect(try await shop.done("extension") == 1)
            guard case .idle = try await duty.step() else { throw NeverHappened("nothing is left to do") }
        }
    }

    @Test("that Apple refuses says why and what to do, and is not asked for again")
    func refused() async throws {
        try await ExtensionShop.with { shop in
            let desk = try shop.hand()
            func refusal(_ id: String) async throws -> String? {
                let record = try await desk.extend(shop.wish(.one(originalTransactionID: id)))
                #expect(record.state == (record.refusal == nil ? .accepted : .refused))
                #expect(record.refusal.map { !$0.message.isEmpty } ?? true)
                return record.refusal?.code
            }
            // Apple extends twice a year.
            let id = try await shop.buy()
            for _ in 0..<2 {
                #expect(try await refusal(id) == nil)
                try await shop.deliver("RENEWAL_EXTENDED")
                try await shop.step(shop.duty())
            }
            #expect(try await refusal(id) == "subscription_max_extension")
            #expect(try await refusal(shop.buy(offer: "trial")) == "subscription_extension_ineligible")
            let shared = try await shop.standIn.shop("family", #"{"originalTransactionId":"\#(id)"}"#)
            #expect(
                try await refusal(shared.string("originalTransactionId") ?? "")
                    == "family_shared_subscription_extension_ineligible")
            #expect(try await refusal("4711") == "transaction_id_not_found")
            #expect(try await shop.done("extension") == 2)
            #expect(try await shop.site.value("select count(*) from storehook.extension_queue") == Int64(0))
        }
    }

    @Test(
        "whose answer was lost, or whose asker was killed, is found out and not asked for again",
        arguments: [LossyTransport.Loss.answer, .asker])
    func lostAnswer(_ loss: LossyTransport.Loss) async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let lossy = LossyTransport(base: shop.standIn.transport, method: "PUT", part: "/extend/", loss: loss)
            let number = try await shop.extensions.record(shop.wish(.one(originalTransactionID: id)))
            do {
                _ = try await shop.duty("killed", over: lossy).step()
            } catch is CancellationError {
                // Killed: nothing of it was written down.
            }
            #expect(try await shop.extensions.find(number)?.state == .unknown)
            let duty = try shop.duty()
            try await shop.step(duty)
            let found = try await shop.extensions.find(number)
            #expect(
                found?.state == .accepted && found?.effectiveAt == found?.before?.renewsAt.adding(.seconds(604_800)))
            try await shop.deliver("RENEWAL_EXTENDED")
            try await shop.step(duty)
            #expect(try await shop.extensions.find(number)?.state == .extended)
            #expect(try await shop.done("extension") == 1)
        }
    }

    @Test("whose period has ended by the time it is found out is settled by that period's end, and by no later one's")
    func renewedMeanwhile() async throws {
        try await ExtensionShop.with(behind: 45 * 86_400_000) { shop in
            let id = try await shop.buy()
            let lossy = LossyTransport(base: shop.standIn.transport, method: "PUT", part: "/extend/", loss: .answer)
            let number = try await shop.extensions.record(shop.wish(.one(originalTransactionID: id)))
            _ = try await shop.duty("killed", over: lossy).step()
            #expect(try await shop.extensions.find(number)?.state == .unknown)
            try await shop.standIn.shop("clock", #"{"advanceSeconds":3456000}"#)
            // A later period of the same subscription ends later without any extension.
            let statuses = try await shop.standIn.client.ask(.subscriptionStatuses(id), in: .production).value
            let later = try #require(statuses.groups.first?.lastTransactions.first?.transaction?.payload.transactionId)
            #expect(later != id)
            let swapping = SwappingTransport(base: shop.standIn.transport, asked: id, answered: later)
            try await shop.step(shop.duty("deceived", over: swapping))
            let doubted = try await shop.extensions.find(number)
            #expect(doubted?.state == .unknown && doubted?.waitingFor == "mismatched_parts")
            try await shop.step(shop.duty())
            let found = try await shop.extensions.find(number)
            #expect(
                found?.state == .accepted && found?.effectiveAt == found?.before?.renewsAt.adding(.seconds(604_800)))
        }
    }

    @Test(
        "whose worker is killed before Apple hears of it is asked for again once it is found out that nothing was done"
    )
    func killedBefore() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let number = try await shop.extensions.record(shop.wish(.one(originalTransactionID: id)))
            let held = try #require(
                try await shop.extensions.claim(
                    for: Lease(owner: "killed", duration: .milliseconds(1)), among: [Site.scope]))
            let statuses = try await shop.standIn.client.ask(.subscriptionStatuses(id), in: .production).value
            let latest = try #require(statuses.groups.first?.lastTransactions.first?.transaction?.payload)
            let end = try #require(latest.expiresDate)
            let standing = SubscriptionStanding(
                period: latest.transactionId,
                renewsAt: PostgresTimestamp(millisecondsSince1970: end.millisecondsSince1970),
                signedAt: PostgresTimestamp(millisecondsSince1970: latest.signedDate.millisecondsSince1970))
            #expect(try await shop.extensions.begin(held, standing))
            try await shop.site.pool.query("update storehook.extension_queue set due_at = now() - interval '1 second'")
            // It may still be under way to Apple.
            _ = try await shop.duty("next").step()
            #expect(try await shop.extensions.find(number)?.state == .unknown)
            let duty = try shop.duty("later", ExtensionShop.impatient)
            try await shop.step(duty)
            let again = try await shop.extensions.find(number)
            #expect(again?.state == .requested && again?.askedAt == nil && again?.askedAgain == 1)
            #expect(again?.waitingFor == "not_done")
            #expect(try await shop.done("extension") == 0)
            try await shop.step(duty)
            #expect(try await shop.extensions.find(number)?.state == .accepted)
            #expect(try await shop.done("extension") == 1)
            // Who was killed can settle nothing, should it go on.
            #expect(try await !shop.extensions.accepted(held, effective: nil))
            #expect(try await !shop.extensions.settle(held, .extended))
        }
    }

    @Test("that Apple certainly has not heard of is asked for later, and once")
    func unheard() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let lossy = LossyTransport(base: shop.standIn.transport, method: "PUT", part: "/extend/", loss: .request)
            let waiting = try await shop.hand(over: lossy).extend(shop.wish(.one(originalTransactionID: id)))
            #expect(waiting.state == .requested && waiting.waitingFor == "unreachable" && waiting.askedAt == nil)
            try await shop.standIn.shop(
                "errors", #"{"code":4290000,"count":9,"path":"/inApps/v1/subscriptions/extend"}"#)
            _ = try await shop.duty().step()
            #expect(try await shop.extensions.find(waiting.id)?.state == .requested)
            try await shop.standIn.shop("errors", #"{"code":5000001,"count":1,"path":"/inApps/v1/subscriptions"}"#)
            try await eventually("Apple is asked") {
                try await shop.site.pool.query(
                    "update storehook.extension_queue set due_at = now() where lease_token is null")
                _ = try await shop.duty().step()
                return try await shop.extensions.find(waiting.id)?.state == .accepted
            }
            #expect(try await shop.done("extension") == 1)
        }
    }

    @Test("is not sent by an asker who was suspended for long, and is asked for later")
    func suspended() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            var patience = ExtensionDuty.Patience()
            patience.sending = .seconds(-1)
            let number = try await shop.extensions.record(shop.wish(.one(originalTransactionID: id)))
            _ = try await shop.duty("suspended", patience).step()
            let waiting = try await shop.extensions.find(number)
            #expect(waiting?.state == .requested && waiting?.waitingFor == "unreachable")
            #expect(try await shop.done("extension") == 0)
            try await shop.step(shop.duty())
            #expect(try await shop.extensions.find(number)?.state == .accepted)
        }
    }

    @Test("that something between here and Apple answered is found out, and asked for again twice at most")
    func proxied() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let lossy = LossyTransport(base: shop.standIn.transport, method: "PUT", part: "/extend/", loss: .proxy)
            let unknown = try await shop.hand(over: lossy).extend(shop.wish(.one(originalTransactionID: id)))
            #expect(unknown.state == .unknown && unknown.waitingFor == "unexpected_status")
            // Apple never hears of it, however often it is asked.
            let duty = try shop.duty("later", ExtensionShop.impatient, over: lossy)
            for time in 1...2 {
                try await shop.step(duty)
                let again = try await shop.extensions.find(unknown.id)
                #expect(again?.state == .requested && again?.askedAgain == Int64(time))
                try await shop.step(duty)
                #expect(try await shop.extensions.find(unknown.id)?.state == .unknown)
            }
            try await shop.step(duty)
            let done = try await shop.extensions.find(unknown.id)
            #expect(done?.state == .notExtended && done?.askedAgain == 2)
            #expect(try await shop.done("extension") == 0)
        }
    }

    @Test("is asked for once by three workers and whoever wants it, all at once; a second one for the same waits")
    func shared() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let wish = shop.wish(.one(originalTransactionID: id))
            let desk = try shop.hand()
            let duties = try (1...3).map { try shop.duty("worker \($0)") }
            let record = try await withThrowingTaskGroup(of: RenewalExtension?.self) { group in
                group.addTask { try await desk.extend(wish) }
                for duty in duties {
                    group.addTask {
                        for _ in 0..<20 { _ = try await duty.step() }
                        return nil
                    }
                }
                var record: RenewalExtension?
                for try await one in group { record = one ?? record }
                return record
            }
            #expect(record?.state == .accepted)
            #expect(try await shop.done("extension") == 1)
            await #expect(throws: RenewalExtensions.Conflict.underWay(record?.id ?? 0)) {
                try await desk.extend(shop.wish(.one(originalTransactionID: id)))
            }
            await #expect(throws: RenewalExtensions.Conflict.nameTaken(record?.id ?? 0)) {
                try await desk.extend(wish)
            }
            #expect(try await shop.extensions.close(record?.id ?? 0, by: "somebody", why: "never arrived"))
            #expect(try await !shop.extensions.close(record?.id ?? 0, by: "somebody", why: "twice"))
            #expect(try await desk.extend(shop.wish(.one(originalTransactionID: id))).state == .accepted)
        }
    }

    @Test("whose notification is lost is finished once reconciliation has fetched it")
    func reconciled() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            try await shop.deliver("SUBSCRIBED")
            let accepted = try await shop.hand().extend(shop.wish(.one(originalTransactionID: id)))
            try await shop.deliver("RENEWAL_EXTENDED") { _ in false }
            try await shop.step(shop.duty())
            #expect(try await shop.extensions.find(accepted.id)?.state == .accepted)
            // As an hour later: Apple's list goes up to the second before the one that its answers name.
            let clients = AppleClients([shop.standIn.client], in: [.production])
            let history = DutyRunner(
                HistoryDuty(shop.site.history, sharing: nil, logger: quiet, metrics: AppleSyncMetrics()), clients,
                owner: "test")
            try await eventually("it is listed and fetched") {
                try await shop.site.pool.query("delete from storehook.history_windows")
                try await shop.site.pool.query(
                    """
                    with made as (
                        insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at)
                        values ('Production', \(Site.app.bundleId), now() - interval '1 hour', now() - interval '1 second')
                        returning id
                    )
                    insert into storehook.history_queue (id, received_at, due_at) select id, now(), now() from made
                    """)
                _ = try await history.next(of: [Site.scope])
                return try await shop.site.value("select count(*) > 0 from storehook.outbox_queue")
            }
            try await shop.site.workOff(trusting: shop.standIn.trustedRoots)
            try await shop.step(shop.duty())
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.notificationUUID != nil)
            #expect(
                try await shop.site.value("select source from storehook.notifications where type = 'RENEWAL_EXTENDED'")
                    == "history")
        }
    }

    @Test("whose notification never comes is finished by Apple's status, and the state follows")
    func byStatus() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            try await shop.deliver("SUBSCRIBED")
            let accepted = try await shop.hand().extend(shop.wish(.one(originalTransactionID: id)))
            try await shop.deliver("RENEWAL_EXTENDED") { _ in false }
            #expect(try await shop.expiry(of: id) == accepted.before?.renewsAt)
            let duty = try shop.duty("test", ExtensionShop.impatient)
            try await shop.step(duty)
            #expect(try await shop.extensions.find(accepted.id)?.confirmedAt != nil)
            try await shop.step(duty)
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.notificationUUID == nil)
            try await shop.site.workOff(trusting: shop.standIn.trustedRoots)
            #expect(try await shop.expiry(of: id) == accepted.effectiveAt)
        }
    }

    @Test("is not taken for done by a notification about an earlier extension that comes late")
    func late() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            let first = try await shop.hand().extend(shop.wish(.one(originalTransactionID: id)))
            try await shop.deliver("RENEWAL_EXTENDED") { _ in false }
            let late = try #require(shop.standIn.receiver.requests.last)
            #expect(try await shop.extensions.close(first.id, by: "somebody", why: "a test"))
            let second = try await shop.hand().extend(shop.wish(.one(originalTransactionID: id)))
            let jws = try #require(late.text.firstMatch(of: /"signedPayload":"([^"]+)"/))
            try await shop.site.post([String(jws.1)])
            try await shop.site.workOff(trusting: shop.standIn.trustedRoots)
            try await shop.step(shop.duty())
            #expect(try await shop.extensions.find(second.id)?.state == .accepted)
        }
    }

    @Test("that Apple never heard of is not taken for done by what another one by fewer days posts or shows")
    func another() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            try await shop.deliver("SUBSCRIBED")
            let lossy = LossyTransport(base: shop.standIn.transport, method: "PUT", part: "/extend/", loss: .proxy)
            let unknown = try await shop.hand(over: lossy).extend(shop.wish(.one(originalTransactionID: id)))
            #expect(unknown.state == .unknown)
            // As by hand, or of a mass extension.
            _ = try await shop.standIn.client.ask(
                .extendRenewalDate(id, byDays: 2, reason: .other, requestIdentifier: UUID().uuidString),
                in: .production)
            try await shop.deliver("RENEWAL_EXTENDED")
            try await shop.step(shop.duty())
            #expect(try await shop.extensions.find(unknown.id)?.state == .unknown)
            let duty = try shop.duty("later", ExtensionShop.impatient)
            try await shop.step(duty)
            #expect(try await shop.extensions.find(unknown.id)?.state == .requested)
            try await shop.step(duty)
            let accepted = try await shop.extensions.find(unknown.id)
            #expect(accepted?.state == .accepted)
            #expect(accepted?.effectiveAt == unknown.before?.renewsAt.adding(.seconds(9 * 86_400)))
            try await shop.deliver("RENEWAL_EXTENDED")
            try await shop.step(shop.duty())
            #expect(try await shop.extensions.find(unknown.id)?.state == .extended)
        }
    }
}
