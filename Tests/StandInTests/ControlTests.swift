import Base
import TestSupport
import Testing

@testable import Simulation

@Suite("What a person does in the stand-in's shop")
struct ControlTests {
    private static let authority = Task { try SimulatedAuthority.generate() }

    private static func members(_ value: JSONValue) -> [String: JSONValue] {
        value.dictionary
    }

    @Test("is refused where Apple's shop would not offer it")
    func refused() async throws {
        let clock = ManualClock()
        let shop = try await KeptShop(StandInConfiguration(), try await Self.authority.value, clock)
        func buy(_ name: String, _ more: String = "") async -> [String: JSONValue] {
            Self.members(await shop.shop("purchases", "{\"productId\":\"com.example.storehook.\(name)\"\(more)}"))
        }
        func expect(_ status: Int, _ path: String, _ body: String, at place: SourceLocation = #_sourceLocation) async {
            let answer = await shop.shop(path, body)
            guard case .string(let text) = answer else {
                Issue.record("done: \(answer.text)", sourceLocation: place)
                return
            }
            #expect(text.hasPrefix("\(status) "), "\(text)", sourceLocation: place)
        }
        let bought = await buy("basic.monthly", #","customer":"anna""#)
        guard case .string(let id) = bought["originalTransactionId"] else {
            Issue.record("\(bought)")
            return
        }
        let line = "{\"originalTransactionId\":\"\(id)\"}"
        let item = "{\"transactionId\":\"\(id)\"}"
        await expect(
            409, "plan-changes",
            "{\"originalTransactionId\":\"\(id)\",\"productId\":\"com.example.storehook.news.monthly\"}")
        await expect(
            409, "purchases",
            #"{"productId":"com.example.storehook.coins.100","customer":"anna","environment":"Production"}"#)
        await expect(409, "refund-reversals", item)
        let shared = Self.members(await shop.shop("family", line))
        guard case .string(let member) = shared["originalTransactionId"] else {
            Issue.record("\(shared)")
            return
        }
        await expect(409, "family", "{\"originalTransactionId\":\"\(member)\"}")
        await shop.shop("refunds", item)
        for path in ["refunds", "consumption-requests", "refund-declines"] { await expect(409, path, item) }
        for path in ["cancellations", "reactivations"] { await expect(409, path, line) }
        #expect(Self.members(await shop.shop("refund-reversals", item))["transactionId"] == .string(id))
        await shop.shop("cancellations", line)
        for body in [#"{"speed":0}"#, #"{"speed":"fast"}"#, #"{"advanceSeconds":-1}"#] {
            await expect(400, "clock", body)
        }
        for body in [#"{"rate":101}"#, "{}"] { await expect(400, "loss", body) }
        await expect(404, "nothing", "{}")
        await expect(400, "clock", #"{"speed":"shop"}"#)
    }

    @Test("is at the shop's speed again, for a customer who had one of his own")
    func ownSpeed() async throws {
        let shop = try await KeptShop(
            StandInConfiguration(speed: .times(2)), try await Self.authority.value, ManualClock())
        await shop.shop("clock", #"{"speed":100,"customer":"anna"}"#)
        #expect(await shop.store.speed(of: "anna") == .times(100))
        await shop.shop("clock", #"{"speed":"shop","customer":"anna"}"#)
        #expect(await shop.store.speed(of: "anna") == .times(2))
        #expect(await shop.store.customers["anna"]?.subscriber.pace == 2)
        await shop.shop("clock", #"{"speed":3}"#)
        #expect(await shop.store.speed(of: "anna") == .times(3))
    }

    @Test("leaves no post behind where a kept shop says that a customer's posts begin behind the last one")
    func postsBehindTheLast() async throws {
        let shop = try await KeptShop(StandInConfiguration(), try await Self.authority.value, ManualClock())
        await shop.shop("purchases", #"{"productId":"com.example.storehook.coins.100","customer":"anna"}"#)
        #expect(await !shop.store.posts(of: "anna").isEmpty)
        var anna = try #require(await shop.store.customers["anna"])
        anna.firstPost = 99
        await shop.store.enter(anna)
        #expect(await shop.store.posts(of: "anna").isEmpty)
    }

    @Test("never has the name of a test notification that another shop has sent, or this one elsewhere")
    func testNames() async throws {
        var names: Set<String> = []
        for seed in UInt64(1)...20 {
            let shop = try await KeptShop(
                StandInConfiguration(notifyURL: "http://127.0.0.1:1/", seed: seed), try await Self.authority.value,
                ManualClock())
            for place in SimulatedApp.Environment.allCases {
                for _ in 0..<3 {
                    let token = try #require(await shop.store.requestTest(place))
                    names.insert(try #require(await shop.store.testPost(token)).notification.uuid)
                }
            }
        }
        #expect(names.count == 20 * SimulatedApp.Environment.allCases.count * 3)
    }

    @Test("happens in its order when nobody looked for long: what falls due is not overlooked")
    func due() async throws {
        let clock = ManualClock()
        let configuration = StandInConfiguration(speed: .times(20_160), failurePercent: 0, refundPercent: 0)
        let shop = try await KeptShop(configuration, try await Self.authority.value, clock)
        await shop.shop("purchases", #"{"productId":"com.example.storehook.basic.weekly"}"#)
        try await shop.live()
        clock.advance(by: .seconds(10))
        try await shop.live()
        #expect(await shop.store.posts.map(\.notification.type) == ["SUBSCRIBED"])
        // Eight seconds before the week of thirty seconds is over.
        clock.advance(by: .seconds(13))
        try await shop.live()
        #expect(await shop.store.posts.map(\.notification.type) == ["SUBSCRIBED", "DID_RENEW"])
        clock.advance(by: .seconds(300))
        try await shop.live()
        #expect(await shop.store.posts.count == 12)
    }

    @Test("is told of those who live by themselves the same whether somebody looked all the time or came late")
    func late() async throws {
        let configuration = StandInConfiguration(
            speed: .times(20_160), customers: 16, failurePercent: 40, refundPercent: 30, seed: 11)
        let (steady, late) = (ManualClock(), ManualClock())
        let one = try await KeptShop(configuration, try await Self.authority.value, steady)
        let other = try await KeptShop(configuration, try await Self.authority.value, late)
        for _ in 0..<900 {
            steady.advance(by: .seconds(1))
            await one.store.live()
        }
        late.advance(by: .seconds(900))
        for _ in 0..<50 { await other.store.live() }
        func notifications(_ shop: KeptShop) async -> [UnsignedNotification] {
            await shop.store.posts.map(\.notification).sorted { $0.uuid < $1.uuid }
        }
        let seen = await notifications(one)
        #expect(seen.count > 40)
        #expect(Set(seen.map(\.type)).isSuperset(of: ["SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW", "REFUND"]))
        #expect(await notifications(other) == seen)
    }
}
