import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Postgres
import StandInSupport
import TestSupport
import Testing

@testable import AppleSync

@Suite("Extending all subscriptions to a product")
struct MassExtensionTests {
    private static let everybody = RenewalExtension.Subject.all(productID: ExtensionShop.monthly, storefronts: [])

    /// Customers; Apple extends the first of them no more.
    private func customers(_ shop: ExtensionShop) async throws -> [String] {
        var ids: [String] = []
        for _ in 0..<4 { ids.append(try await shop.buy()) }
        for _ in 0..<2 {
            _ = try await shop.standIn.client.ask(
                .extendRenewalDate(
                    ids[0], byDays: 1, reason: .other, requestIdentifier: UUID().uuidString), in: .production)
        }
        try await shop.deliver("RENEWAL_EXTENDED", 2)
        return ids
    }

    @Test("is followed until all is known: how many were extended, and each that was not")
    func followed() async throws {
        try await ExtensionShop.with { shop in
            let ids = try await customers(shop)
            let accepted = try await shop.hand().extend(shop.wish(Self.everybody, days: 2))
            #expect(accepted.state == .accepted)
            try await shop.deliver("SUMMARY")
            try await shop.step(shop.duty())
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.succeeded == 3 && done?.failed == 1 && done?.failuresHeard == 1)
            #expect(done?.completedAt != nil && done?.notificationUUID != nil)
            let failures = try await shop.extensions.failures(of: accepted.id, limit: 10)
            #expect(failures.map(\.originalTransactionID) == [ids[0]])
            #expect(try await shop.done("massExtension") == 1)
        }
    }

    @Test("whose failures are lost is held against Apple's count, and waits for them")
    func lostFailures() async throws {
        try await ExtensionShop.with { shop in
            _ = try await customers(shop)
            let accepted = try await shop.hand().extend(shop.wish(Self.everybody, days: 2))
            let all = Counted()
            try await shop.deliver("SUMMARY") { payload in
                if payload.contains("\"FAILURE\"") { all.value += 1 }
                return !payload.contains("\"FAILURE\"") && !payload.contains("\"SUMMARY\"")
            }
            #expect(all.value == 1)
            let duty = try shop.duty()
            try await shop.step(duty)
            try await shop.step(duty)
            let completed = try await shop.extensions.find(accepted.id)
            #expect(completed?.state == .completed && completed?.failed == 1 && completed?.failuresHeard == 0)
            #expect(completed?.waitingFor == "failures")
            let open = try await shop.extensions.open()
            #expect(open.map(\.state) == [.completed] && open.map(\.kind) == ["all"])
            // Apple tries again, or reconciliation fetches them.
            let again = shop.standIn.receiver.requests.map(\.text).compactMap {
                $0.firstMatch(of: /"signedPayload":"([^"]+)"/).map { String($0.1) }
            }
            try await shop.site.post(again)
            try await shop.site.workOff(trusting: shop.standIn.trustedRoots)
            try await shop.step(duty)
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.failuresHeard == 1 && done?.notificationUUID != nil)
        }
    }

    @Test(
        "whose answer was lost, or whose asker was killed, is found out by its name and not asked for again",
        arguments: [LossyTransport.Loss.answer, .asker])
    func lostAnswer(_ loss: LossyTransport.Loss) async throws {
        try await ExtensionShop.with { shop in
            _ = try await shop.buy()
            let lossy = LossyTransport(base: shop.standIn.transport, method: "POST", part: "/extend/mass", loss: loss)
            let number = try await shop.extensions.record(shop.wish(Self.everybody))
            do {
                _ = try await shop.duty("killed", over: lossy).step()
            } catch is CancellationError {
                // Killed: nothing of it was written down.
            }
            #expect(try await shop.extensions.find(number)?.state == .unknown)
            let duty = try shop.duty()
            try await shop.step(duty)
            #expect(try await shop.extensions.find(number)?.state == .accepted)
            try await shop.deliver("SUMMARY")
            try await shop.step(duty)
            #expect(try await shop.extensions.find(number)?.state == .extended)
            #expect(try await shop.done("massExtension") == 1)
        }
    }

    @Test("that Apple never heard of is found out, and asked for again by the same name")
    func neverHeard() async throws {
        try await ExtensionShop.with { shop in
            let number = try await shop.extensions.record(shop.wish(Self.everybody))
            let held = try #require(
                try await shop.extensions.claim(
                    for: Lease(owner: "killed", duration: .milliseconds(1)), among: [Site.scope]))
            #expect(try await shop.extensions.begin(held, nil))
            try await shop.site.pool.query("update storehook.extension_queue set due_at = now() - interval '1 second'")
            _ = try await shop.duty().step()
            #expect(try await shop.extensions.find(number)?.state == .unknown)
            let duty = try shop.duty("later", ExtensionShop.impatient)
            try await shop.step(duty)
            let again = try await shop.extensions.find(number)
            #expect(again?.state == .requested && again?.askedAgain == 1)
            #expect(try await shop.done("massExtension") == 0)
            try await shop.step(duty)
            let accepted = try await shop.extensions.find(number)
            #expect(accepted?.state == .accepted && accepted?.requestIdentifier == again?.requestIdentifier)
            #expect(try await shop.done("massExtension") == 1)
        }
    }

    @Test("that Apple refuses says why")
    func refused() async throws {
        try await ExtensionShop.with { shop in
            let refused = try await shop.hand().extend(
                shop.wish(.all(productID: "com.example.nothing", storefronts: [])))
            #expect(refused.state == .refused && refused.refusal?.code == "invalid_product_id")
            let nowhere = try await shop.hand().extend(shop.wish(Self.everybody, "no UUID"))
            #expect(nowhere.refusal?.code == "invalid_request_identifier")
        }
    }

    @Test("in some countries counts the failures of these alone")
    func countries() async throws {
        try await ExtensionShop.with { shop in
            let ids = try await customers(shop)
            let country: String = try await shop.site.value(
                """
                select t.storefront from storehook.transactions t
                 where t.original_transaction_id = \(ids[0]) order by signed_at desc limit 1
                """)
            let here = try await shop.hand().extend(
                shop.wish(.all(productID: ExtensionShop.monthly, storefronts: [country])))
            let elsewhere = try await shop.hand().extend(
                shop.wish(.all(productID: ExtensionShop.monthly, storefronts: ["XXX"])))
            try await shop.deliver("SUMMARY", 2)
            for _ in 0..<4 { _ = try? await shop.step(shop.duty()) }
            #expect(try await shop.extensions.find(here.id)?.failuresHeard == 1)
            let other = try await shop.extensions.find(elsewhere.id)
            #expect(other?.state == .extended && other?.failuresHeard == 0)
        }
    }

    @Test("is not recorded beside what moves some of the same dates: an overlapping one, or one of a subscription")
    func overlapping() async throws {
        try await ExtensionShop.with { shop in
            let id = try await shop.buy()
            try await shop.deliver("SUBSCRIBED")
            func within(_ countries: [String]) -> RenewalExtension.Subject {
                .all(productID: ExtensionShop.monthly, storefronts: countries)
            }
            let one = try await shop.extensions.record(shop.wish(.one(originalTransactionID: id)))
            await #expect(throws: RenewalExtensions.Conflict.overlaps(one)) {
                try await shop.extensions.record(shop.wish(Self.everybody))
            }
            #expect(try await shop.extensions.close(one, by: "somebody", why: "a test"))
            let two = try await shop.extensions.record(shop.wish(within(["USA", "FRA"])))
            let rivals: [RenewalExtension.Subject] = [
                .one(originalTransactionID: id), Self.everybody, within(["DEU", "USA"]),
            ]
            for subject in rivals {
                await #expect(throws: RenewalExtensions.Conflict.overlaps(two)) {
                    try await shop.extensions.record(shop.wish(subject))
                }
            }
            await #expect(throws: RenewalExtensions.Conflict.underWay(two)) {
                try await shop.extensions.record(shop.wish(within(["FRA", "USA"])))
            }
            // What has nothing to do with it.
            _ = try await shop.extensions.record(shop.wish(within(["DEU"])))
            _ = try await shop.extensions.record(shop.wish(.all(productID: "com.example.other", storefronts: [])))
            _ = try await shop.extensions.record(shop.wish(.one(originalTransactionID: "4711")))
        }
    }

    @Test("does not count failures that Apple signed before it was asked, and remembers the summary meanwhile")
    func earlierFailures() async throws {
        try await ExtensionShop.with { shop in
            _ = try await customers(shop)
            let accepted = try await shop.hand().extend(shop.wish(Self.everybody, days: 2))
            try await shop.deliver("SUMMARY")
            try await shop.site.pool.query(
                "update storehook.notifications set signed_at = signed_at - interval '1 hour' where subtype = 'FAILURE'"
            )
            try await shop.step(shop.duty())
            let completed = try await shop.extensions.find(accepted.id)
            #expect(completed?.state == .completed && completed?.failed == 1 && completed?.failuresHeard == 0)
            #expect(completed?.waitingFor == "failures")
            // The summary is not looked for again: it is known by its name.
            try await shop.site.pool.query(
                "update storehook.notifications set applied_at = applied_at - interval '1 day' where subtype = 'SUMMARY'"
            )
            try await shop.site.pool.query(
                "update storehook.notifications set signed_at = signed_at + interval '1 hour' where subtype = 'FAILURE'"
            )
            try await shop.step(shop.duty())
            let done = try await shop.extensions.find(accepted.id)
            #expect(done?.state == .extended && done?.failuresHeard == 1)
            #expect(done?.notificationUUID != nil && done?.notificationUUID == completed?.notificationUUID)
        }
    }

    @Test("that Apple has done without saying when is done by Apple's answer")
    func undated() async throws {
        try await ExtensionShop.with { shop in
            _ = try await customers(shop)
            let accepted = try await shop.hand().extend(shop.wish(Self.everybody, days: 2))
            try await shop.deliver("SUMMARY") { _ in false }
            let undated = UndatedTransport(base: shop.standIn.transport)
            try await shop.step(shop.duty(over: undated))
            let completed = try await shop.extensions.find(accepted.id)
            #expect(completed?.state == .completed && completed?.completedAt != nil && completed?.failed == 1)
        }
    }
}
