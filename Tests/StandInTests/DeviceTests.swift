import Base
import Foundation
import TestSupport
import Testing

@testable import Simulation

@Suite("What a customer's device holds in the stand-in's shop")
struct DeviceTests {
    private static let authority = Task { try SimulatedAuthority.generate() }
    private static let prefix = "com.example.storehook."

    /// A shop in which nothing fails by chance, at an hour that is set by hand.
    private struct Shop {
        let shop: KeptShop
        let clock: ManualClock

        init() async throws {
            clock = ManualClock()
            let configuration = StandInConfiguration(speed: .times(20_160), failurePercent: 0, refundPercent: 0)
            shop = try await KeptShop(configuration, try await DeviceTests.authority.value, clock)
        }

        /// Buys for anna, and returns the transaction's id.
        func buy(_ product: String) async throws -> String {
            let bought = await shop.shop("purchases", body(["productId": prefix + product, "customer": "anna"]))
            return try #require(text(bought.dictionary["transactionId"]))
        }

        /// What anna's device holds under a name: of each transaction its signed payload, and that of its renewal info.
        func held(_ name: String) async throws -> [(transaction: [String: JSONValue], renewal: [String: JSONValue]?)] {
            let device = await shop.shop("customers/anna").dictionary
            guard case .array(let list)? = device[name] else {
                Issue.record("no \(name): \(device.keys)")
                return []
            }
            return try list.map(\.dictionary).map { held in
                (try #require(held["signedTransactionInfo"]).dictionary, held["signedRenewalInfo"]?.dictionary)
            }
        }

        func ids(_ name: String) async throws -> [String] {
            try await held(name).compactMap { text($0.transaction["transactionId"]) }
        }

        @discardableResult
        func finish(_ id: String) async -> JSONValue {
            await shop.shop("finish", body(["customer": "anna", "transactionId": id]))
        }

        func body(_ members: [String: String]) -> String {
            JSONValue.members(members.mapValues { .string($0) }).text
        }
    }

    private static func text(_ value: JSONValue?) -> String? { if case .string(let text) = value { text } else { nil } }

    @Test("is handed out at each look until it is finished, renewals too, with the renewal info of a subscription")
    func unfinished() async throws {
        let shop = try await Shop()
        let coins = try await shop.buy("coins.100")
        shop.clock.advance(by: .seconds(1))
        let weekly = try await shop.buy("basic.weekly")
        for _ in 0..<2 { #expect(try await shop.ids("unfinished") == [coins, weekly]) }
        let renewals = try await shop.held("unfinished").map { Self.text($0.renewal?["originalTransactionId"]) }
        #expect(renewals == [nil, weekly])
        #expect(await shop.finish(coins).dictionary["unfinished"] == .integer(1))
        #expect(try await shop.ids("unfinished") == [weekly])
        #expect(await shop.finish(weekly).dictionary["unfinished"] == .integer(0))
        #expect(await shop.finish(weekly).dictionary["unfinished"] == .integer(0))
        #expect(try await shop.ids("unfinished") == [])
        // A week takes thirty seconds.
        shop.clock.advance(by: .seconds(40))
        let renewed = try await shop.held("unfinished")
        #expect(renewed.count == 1)
        #expect(renewed.first?.transaction["originalTransactionId"] == .string(weekly))
        #expect(renewed.first?.transaction["transactionReason"] == "RENEWAL")
    }

    @Test("is handed out once more when it is refunded and when that is reversed, and is finished as it then stands")
    func refunded() async throws {
        let shop = try await Shop()
        let id = try await shop.buy("lifetime.unlock")
        await shop.finish(id)
        #expect(try await shop.ids("currentEntitlements") == [id])
        await shop.shop.shop("refunds", shop.body(["transactionId": id]))
        #expect(try await shop.ids("currentEntitlements") == [])
        let revoked = try await shop.held("unfinished")
        #expect(revoked.count == 1 && revoked.first?.transaction["revocationDate"] != nil)
        await shop.finish(id)
        #expect(try await shop.ids("unfinished") == [])
        shop.clock.advance(by: .seconds(1))
        await shop.shop.shop("refund-reversals", shop.body(["transactionId": id]))
        let back = try await shop.held("unfinished")
        #expect(back.count == 1 && back.first?.transaction["revocationDate"] == nil)
        #expect(try await shop.ids("currentEntitlements") == [id])
    }

    @Test("may be used: the latest period of what lives, one-time purchases but consumables, whether finished or not")
    func entitlements() async throws {
        let shop = try await Shop()
        let weekly = try await shop.buy("basic.weekly")
        _ = try await shop.buy("coins.100")
        let lifetime = try await shop.buy("lifetime.unlock")
        let pass = try await shop.buy("season.pass")
        #expect(try await Set(shop.ids("currentEntitlements")) == [weekly, lifetime, pass])
        await shop.finish(lifetime)
        shop.clock.advance(by: .seconds(40))
        let renewed = try await shop.held("currentEntitlements").first {
            $0.transaction["originalTransactionId"] == .string(weekly)
        }
        #expect(renewed?.transaction["transactionReason"] == "RENEWAL")
        #expect(Self.text(renewed?.renewal?["originalTransactionId"]) == weekly)
        // An upgrade leaves the dearer period alone.
        let yearly = try await shop.buy("premium.yearly")
        #expect(try await Set(shop.ids("currentEntitlements")) == [yearly, lifetime, pass])
        await shop.shop.shop("cancellations", shop.body(["originalTransactionId": weekly]))
        // A year takes 1565 seconds.
        shop.clock.advance(by: .seconds(1600))
        #expect(try await Set(shop.ids("currentEntitlements")) == [lifetime, pass])
    }

    @Test("may be used while a charge fails in the grace period, and no longer than that")
    func grace() async throws {
        let shop = try await Shop()
        let weekly = try await shop.buy("basic.weekly")
        await shop.shop.shop("billing", "{\"originalTransactionId\":\"\(weekly)\",\"fails\":true}")
        var seen: [Int64: Set<String>] = [:]
        for _ in 0..<600 {
            shop.clock.advance(by: .seconds(1))
            let held = try await shop.ids("currentEntitlements")
            guard case .integer(let status)? = await shop.shop.truth().first?["status"] else { continue }
            seen[status, default: []].formUnion(held)
        }
        #expect(seen[4] == [weekly] && seen[3] == [], "\(seen)")
    }

    @Test("is answered in parts where only these are asked for, and a part that there is not is refused")
    func parts() async throws {
        let shop = try await Shop()
        let id = try await shop.buy("basic.weekly")
        let whole = await shop.shop.shop("customers/anna").dictionary
        let head: Set<String> = ["customer", "appTransactionId", "environment"]
        #expect(
            Set(whole.keys)
                == head.union([
                    "signedTransactions", "signedRenewals", "currentEntitlements", "unfinished",
                    "signedAppTransactionInfo", "receiptData",
                ]))
        let some = await shop.shop.shop("customers/anna?only=unfinished,currentEntitlements").dictionary
        #expect(Set(some.keys) == head.union(["unfinished", "currentEntitlements"]))
        #expect(some["unfinished"] == whole["unfinished"])
        #expect(try await shop.ids("unfinished") == [id])
        #expect(
            Self.text(await shop.shop.shop("customers/anna?only=everything"))?.hasPrefix("400 0 only is one") == true)
    }

    @Test("is finished by the app's server, too")
    func finishedByServer() async throws {
        let shop = try await Shop()
        let id = try await shop.buy("coins.100")
        _ = await shop.shop.ask("v1/transactions/\(id)/finish", "{}")
        #expect(try await shop.ids("unfinished") == [])
    }

    @Test("says which id is wrong")
    func wrong() async throws {
        let shop = try await Shop()
        let id = try await shop.buy("coins.100")
        await shop.shop.shop("purchases", shop.body(["productId": Self.prefix + "lifetime.unlock", "customer": "ben"]))
        func refusal(_ members: [String: String]) async -> String {
            Self.text(await shop.shop.shop("finish", shop.body(members))) ?? "done"
        }
        #expect(await refusal(["customer": "carl", "transactionId": id]).hasPrefix("404 0 no such customer"))
        #expect(
            await refusal(["customer": "ben", "transactionId": id]).hasPrefix("404 0 ben has no transaction \(id)"))
        #expect(await refusal(["customer": "anna", "transactionId": "x"]).hasPrefix("404 0 anna has no transaction x"))
        #expect(await refusal(["transactionId": id]).hasPrefix("400 0 customer is missing; the members: {"))
        #expect(await refusal(["customer": "anna"]).hasPrefix("400 0 transactionId is missing; the members: {"))
        #expect(Self.text(await shop.shop.shop("customers/carl"))?.hasPrefix("404 0 no such customer") == true)
        #expect(try await shop.ids("unfinished") == [id])
    }

    @Test("is still finished after the shop was killed")
    func kept() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "storehook-device-\(UUID().uuidString)").path
        defer {
            for path in [file, file + ".lock", file + ".copy", file + ".copy.lock"] {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        let (clock, authority) = (ManualClock(), try await Self.authority.value)
        let shop = try await KeptShop(StandInConfiguration(), authority, clock, keptIn: file)
        var ids: [String] = []
        for product in ["coins.100", "lifetime.unlock"] {
            let bought = await shop.shop("purchases", #"{"productId":"\#(Self.prefix)\#(product)","customer":"anna"}"#)
            ids.append(try #require(Self.text(bought.dictionary["transactionId"])))
        }
        await shop.shop("finish", #"{"customer":"anna","transactionId":"\#(ids[0])"}"#)
        try await shop.store.save()
        try FileManager.default.copyItem(atPath: file, toPath: file + ".copy")
        let again = try await KeptShop(StandInConfiguration(), authority, clock, keptIn: file + ".copy")
        let anna = try #require(await again.store.customers["anna"])
        let unfinished = await again.store.unfinished(of: anna).map { anna.subscriber[$0].transactionId }
        #expect(unfinished == [ids[1]])
        try await shop.store.close()
        let whole = try await KeptShop(StandInConfiguration(), authority, clock, keptIn: file)
        #expect(await whole.store.unfinished(of: anna).map { anna.subscriber[$0].transactionId } == [ids[1]])
    }
}
