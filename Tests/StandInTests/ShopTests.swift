import AppStorePayloads
import Base
import Foundation
import StandInSupport
import TestSupport
import Testing

@testable import Simulation

@Suite("A shop of the stand-in")
struct ShopTests {
    private static let authority = Task { try SimulatedAuthority.generate() }

    private static func shop(_ configuration: StandInConfiguration = StandInConfiguration()) async throws -> KeptShop {
        try await KeptShop(configuration, try await authority.value, ManualClock())
    }

    private static func text(_ value: JSONValue?) -> String? { if case .string(let text) = value { text } else { nil } }

    @Test("sells what it lists, under each offer that it lists, and for as long as it says")
    func products() async throws {
        for speed in [StandInConfiguration.Speed.times(1), .times(100), .sandbox] {
            let shop = try await Self.shop(StandInConfiguration(speed: speed))
            guard case .array(let products) = await shop.shop("products") else {
                Issue.record("it lists nothing")
                return
            }
            #expect(products.count == 9)
            for (number, product) in products.map(\.dictionary).enumerated() {
                let id = try #require(Self.text(product["productId"]))
                guard case .array(let offers)? = product["offers"] else {
                    Issue.record("\(product)")
                    continue
                }
                #expect(offers.isEmpty == (product["periodSeconds"] == nil), "\(id)")
                for offer in [nil] + offers.map({ Self.text($0) }) {
                    let named = offer.map { #","offer":"\#($0)""# } ?? ""
                    let bought = await shop.shop(
                        "purchases", #"{"productId":"\#(id)","customer":"\#(number)\#(offer ?? "")"\#(named)}"#
                    ).dictionary["signedTransactionInfo"]?.dictionary
                    #expect(bought?["type"] == product["type"] && bought?["productId"] == .string(id), "\(id)")
                    guard offer == nil, case .integer(let seconds)? = product["periodSeconds"],
                        case .integer(let from)? = bought?["purchaseDate"],
                        case .integer(let until)? = bought?["expiresDate"]
                    else { continue }
                    #expect(until - from == seconds * 1000, "\(id) at \(speed)")
                }
            }
        }
    }

    @Test("of a seed of chance sells under identifiers that no other such shop uses, of the usual length")
    func identifiers() async throws {
        var seen: Set<String> = []
        for _ in 0..<60 {
            let shop = try await Self.shop(StandInConfiguration(seed: StandInConfiguration.anySeed()))
            for place in ["Sandbox", "Production"] {
                for _ in 0..<4 {
                    let bought = await shop.shop(
                        "purchases",
                        #"{"productId":"com.example.storehook.premium.monthly","environment":"\#(place)"}"#)
                    let record = try #require(bought.dictionary["signedTransactionInfo"]?.dictionary)
                    for name in ["transactionId", "webOrderLineItemId", "appTransactionId"] {
                        let id = try #require(Self.text(record[name]))
                        #expect(
                            id.count
                                == (place == "Sandbox" && name != "appTransactionId" ? 16 : id.count == 18 ? 18 : 15))
                        if name != "webOrderLineItemId" { #expect(seen.insert(id).inserted, "\(id)") }
                    }
                }
            }
        }
        let seed: UInt64 = StandInConfiguration.anySeed()
        var again: Set<String?> = []
        for _ in 0..<2 {
            let bought = await (try Self.shop(StandInConfiguration(seed: seed))).shop(
                "purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
            again.insert(Self.text(bought.dictionary["transactionId"]))
        }
        #expect(again.count == 1)
    }

    @Test("lets a customer live at a speed of his own, whatever the others' is, and after it is opened again too")
    func speed() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-speed-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let clock = ManualClock()
        func open() async throws -> KeptShop {
            try await KeptShop(
                StandInConfiguration(), try await Self.authority.value, clock, keptIn: directory + "/shop")
        }
        func seconds(_ customer: String, _ shop: KeptShop) async throws -> Int64 {
            let bought = await shop.shop(
                "purchases", #"{"productId":"com.example.storehook.basic.weekly","customer":"\#(customer)"}"#)
            guard case .integer(let from)? = bought.dictionary["signedTransactionInfo"]?.dictionary["purchaseDate"],
                case .integer(let until)? = bought.dictionary["signedTransactionInfo"]?.dictionary["expiresDate"]
            else { throw NeverHappened("\(bought.text) has a period") }
            return (until - from) / 1000
        }
        let shop = try await open()
        await shop.shop("clock", #"{"customer":"anna","speed":201600}"#)
        #expect(try await seconds("anna", shop) == 3)
        #expect(try await seconds("otto", shop) == 604_800)
        await shop.shop("clock", #"{"speed":1000}"#)
        clock.advance(by: .seconds(7))
        try await shop.live()
        let types = await shop.store.posts.map(\.notification.type)
        #expect(types == ["SUBSCRIBED", "SUBSCRIBED", "DID_RENEW", "DID_RENEW"])
        #expect((await shop.shop("clock", #"{"customer":"anna","advanceSeconds":5}"#)).text.contains("400 "))
        try await shop.store.close()
        let again = try await open()
        #expect(await again.store.speed(of: "anna") == .times(201_600))
        #expect(await again.store.customers["anna"]?.subscriber.pace == 201_600)
        #expect(await again.store.customers["otto"]?.subscriber.pace == 1000)
    }

    @Test("answers for either environment under a path that names it, to a client that can be given an address alone")
    func prefixes() async throws {
        try await RunningStandIn.with { shop in
            let sold = try await shop.shop(
                "/production/stand-in/purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
            #expect(sold.string("environment") == "Production")
            let bought = try await shop.shop(
                "/sandbox/stand-in/purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
            #expect(bought.string("environment") == "Sandbox")
            let secret = shop.access.sharedSecret
            for (purchase, statuses) in [(sold, [0, 21_008]), (bought, [21_007, 0])] {
                let receipt = try #require(purchase.string("receiptData"))
                for (prefix, status) in zip(["production", "sandbox"], statuses) {
                    let answer = try await shop.shop(
                        "/\(prefix)/verifyReceipt", #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#)
                    #expect(answer.integer("status") == Int64(status), "\(prefix)")
                }
            }
            // Errors are provoked by Apple's path, whatever stands before it.
            try await shop.shop("errors", #"{"code":21005,"path":"/verifyReceipt"}"#)
            #expect(try await shop.shop("/production/verifyReceipt", "{}").integer("status") == 21_005)
        }
    }
}
