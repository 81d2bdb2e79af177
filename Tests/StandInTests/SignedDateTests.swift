import AppStorePayloads
import AsyncHTTPClient
import Base
import Foundation
import NIOCore
import NIOHTTP1
import StandInSupport
import Synchronization
import TestSupport
import Testing

@testable import Simulation

@Suite("The dates that the stand-in signs")
struct SignedDateTests {
    private static var machine: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// The latest date of these names in what is signed somewhere within a text.
    private static func latest(
        of names: Set<String> = ["signedDate", "originalPurchaseDate", "recentSubscriptionStartDate"], in text: String
    ) -> Int64? {
        var latest: Int64?
        for match in text.matches(of: /eyJ[A-Za-z0-9_-]+\.(eyJ[A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+/) {
            guard let payload = Base64.url.decode(Array(match.output.1.utf8)) else { continue }
            let inner = String(decoding: payload, as: UTF8.self)
            for member in inner.matches(of: /"([A-Za-z]+)":([0-9]{13})\b/) where names.contains(String(member.output.1))
            {
                latest = max(latest ?? 0, Int64(member.output.2) ?? 0)
            }
            if let nested = Self.latest(of: names, in: inner) { latest = max(latest ?? 0, nested) }
        }
        return latest
    }

    private static func text(of path: String, _ body: String?, _ shop: RunningStandIn) async throws -> String {
        var request = HTTPClientRequest(url: "\(shop.url)/stand-in/\(path)")
        if let body {
            request.method = .POST
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return String(buffer: try await response.body.collect(upTo: 8 << 20))
    }

    @Test(
        "never lie ahead of the instant at which an answer comes or a post arrives, at any speed and however fast a person acts",
        arguments: [1, 30_240, 1_000_000])
    func neverAhead(speed: Int64) async throws {
        let worst = Mutex<[Int64]>([])
        let configuration = StandInConfiguration(
            speed: .times(speed), customers: 12, failurePercent: 40, refundPercent: 40)
        try await RunningStandIn.with(
            configuration,
            answering: { request in
                if let date = Self.latest(in: request.text) { worst.withLock { $0.append(date - Self.machine) } }
                return .json(200, "")
            }
        ) { shop in
            let answers = Mutex(0)
            func act(_ path: String, _ body: String? = nil) async throws -> JSONObject {
                let text = try await Self.text(of: path, body, shop)
                if let date = Self.latest(in: text) {
                    let ahead = date - Self.machine
                    #expect(ahead <= 0, "\(path): \(ahead) ms ahead")
                    answers.withLock { $0 += 1 }
                }
                return try #require(JSONDocument(Array(text.utf8)).object)
            }
            for number in 0..<12 {
                let bought = try await act(
                    "purchases",
                    #"{"productId":"com.example.storehook.premium.yearly","customer":"c\#(number)","offer":"trial"}"#)
                let original = try #require(bought.string("originalTransactionId"))
                _ = try await act(
                    "purchases", #"{"productId":"com.example.storehook.coins.100","customer":"c\#(number)"}"#)
                for path in ["cancellations", "reactivations", "cancellations", "reactivations"] {
                    _ = try await act(path, #"{"originalTransactionId":"\#(original)"}"#)
                    _ = try await act("customers/c\(number)")
                }
                _ = try await act("refunds", #"{"transactionId":"\#(original)"}"#)
            }
            #expect(answers.withLock { $0 } >= 12 * 4)
            try await eventually("the posts arrive") { shop.receiver.requests.count >= 12 * 7 }
            let clock = try #require(try await shop.shop("clock", "{}").integer("now"))
            #expect(clock <= Self.machine)
        }
        let ahead = worst.withLock { $0.filter { $0 > 0 } }
        #expect(worst.withLock { $0.count } >= 12 * 7 && ahead.isEmpty, "\(ahead)")
    }

    @Test("put what is done after what was seen, and what is seen after what was done, within one millisecond too")
    func order() async throws {
        let clock = ManualClock()
        let shop = try await KeptShop(StandInConfiguration(), try SimulatedAuthority.generate(), clock)
        func number(_ value: JSONValue?) -> Int64? { if case .integer(let number) = value { number } else { nil } }
        func renewal() async -> (date: Int64, isOn: Bool)? {
            guard case .array(let list) = (await shop.shop("customers/anna")).dictionary["signedRenewals"],
                let members = list.first?.dictionary, let date = number(members["signedDate"])
            else { return nil }
            return (date, members["autoRenewStatus"] == .integer(1))
        }
        let bought = await shop.shop(
            "purchases", #"{"productId":"com.example.storehook.basic.monthly","customer":"anna"}"#)
        guard case .string(let id) = bought.dictionary["originalTransactionId"] else {
            Issue.record("\(bought.text)")
            return
        }
        var (last, isOn): (Int64, Bool) = (0, true)
        for step in 0..<6 {
            let seen = try #require(await renewal())
            #expect(seen.isOn == isOn && (step == 0 || seen.date >= last), "\(step)")
            let posts = await shop.store.posts.count
            isOn.toggle()
            await shop.shop(isOn ? "reactivations" : "cancellations", #"{"originalTransactionId":"\#(id)"}"#)
            let told = try #require(await shop.store.posts.last?.notification)
            #expect(await shop.store.posts.count == posts + 1)
            last = try #require(told.renewal?.signedDate)
            #expect(last > seen.date && told.signedDate >= last, "\(step)")
        }
        // The clock stands still all the while: the answers are kept back for as long as that.
        #expect(await shop.store.lead > 0)
        clock.advance(by: .seconds(1))
        #expect(await shop.store.lead == 0)
    }

    @Test("of what falls due are before what anybody sees or does later, though nobody looked meanwhile")
    func due() async throws {
        let clock = ManualClock()
        let shop = try await KeptShop(
            StandInConfiguration(speed: .times(20_160)), try SimulatedAuthority.generate(), clock)
        await shop.shop("purchases", #"{"productId":"com.example.storehook.basic.weekly","customer":"anna"}"#)
        clock.advance(by: .seconds(40))
        // Nothing but the question itself makes the shop live.
        guard case .array(let list) = (await shop.shop("customers/anna")).dictionary["signedTransactions"] else {
            Issue.record("anna has nothing")
            return
        }
        #expect(list.count == 2)
        let dates = await shop.store.posts.map(\.notification.signedDate)
        #expect(dates.count == 2 && dates[1] < clock.millisecondsSince1970)
    }
}
