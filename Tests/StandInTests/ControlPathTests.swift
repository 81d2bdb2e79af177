import AsyncHTTPClient
import Base
import Foundation
import NIOCore
import NIOHTTP1
import StandInSupport
import TestSupport
import Testing

@testable import Simulation

@Suite("The paths of the stand-in's own")
struct ControlPathTests {
    private static let authority = Task { try SimulatedAuthority.generate() }

    private func shop() async throws -> KeptShop {
        try await KeptShop(StandInConfiguration(), try await Self.authority.value, ManualClock())
    }

    @Test("are all listed, and each takes the members that the list has")
    func listed() async throws {
        let shop = try await shop()
        guard case .array(let list) = await shop.shop("") else {
            Issue.record("no list")
            return
        }
        #expect(list.count == ControlPath.all.count && list.count > 20)
        for path in ControlPath.all {
            let answer = await shop.shop(path.name, path.method == "GET" ? nil : path.example).text
            for words in ["no such path", "is no member of", "is missing", "has to be", " takes "] {
                #expect(!answer.contains(words), "\(path.name): \(answer)")
            }
        }
        #expect(ControlPath.all.map(\.name) == ControlPath.all.map(\.name).sorted())
    }

    @Test(
        "refuse a member that they do not have, one of another kind and one that is missing, by name and with those that there are"
    )
    func members() async throws {
        let shop = try await shop()
        let product = #""productId":"com.example.storehook.coins.100""#
        for (path, body, words) in [
            (
                "purchases", "{\(product),\"appAcountToken\":\"7f1de78e-0d4e-4c5e-9d3c-000000000001\"}",
                "400 0 appAcountToken is no member of /stand-in/purchases; its members: {productId, customer?, appAccountToken?, environment?, offer?}"
            ),
            ("purchases", "{\(product),\"customer\":7}", "400 0 customer has to be a text; for example {"),
            ("purchases", #"{"customer":"anna"}"#, "400 0 productId is missing; the members: {productId, "),
            ("purchases", "[1]", "400 0 the body is no JSON object; for example {"),
            ("purchases", "{\(product),\"offer\":\"summer\"}", "no such offer"),
            ("clock", #"{"seconds":7}"#, "its members: {advanceSeconds?, speed?, customer?, environment?}"),
            ("billing", #"{"originalTransactionId":"1","fails":"yes"}"#, "400 0 fails has to be true or false"),
            ("refunds", #"{"transaction":"1"}"#, "400 0 transaction is no member of /stand-in/refunds"),
            ("loss", #"{"rate":"7"}"#, "400 0 rate has to be a whole number"),
            ("faults", #"{"postResults":"TIMED_OUT"}"#, "400 0 postResults is no member"),
            ("finish", #"{"customer":"anna"}"#, "400 0 transactionId is missing"),
        ] {
            let answer = await shop.shop(path, body)
            #expect(answer.text.replacing("\\\"", with: "\"").contains(words), "\(path) \(body): \(answer.text)")
        }
        #expect(await shop.store.customers.keys.isEmpty, "what is refused makes no customer")
        // Null is as if it were left out.
        #expect(!(await shop.shop("purchases", "{\(product),\"customer\":null,\"offer\":null}").text.contains("400 ")))
    }

    @Test("answer a wrong method with the right one and an example, and a wrong path with those that there are")
    func wrongTurns() async throws {
        try await RunningStandIn.with { shop in
            func ask(_ method: HTTPMethod, _ path: String) async throws -> (Int, allow: String?, String) {
                var request = HTTPClientRequest(url: shop.url + path)
                request.method = method
                if method == .POST { request.body = .bytes(ByteBuffer(string: "{}")) }
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
                return (
                    Int(response.status.code), response.headers.first(name: "Allow"),
                    text.replacing("\\\"", with: "\"").replacing("\\/", with: "/")
                )
            }
            let list = try await ask(.GET, "/stand-in")
            #expect(list.0 == 200 && list.2.contains("/stand-in/purchases") && list.2.contains("appAccountToken?"))
            #expect(try await ask(.GET, "/production/stand-in/").0 == 200)
            let get = try await ask(.GET, "/stand-in/purchases")
            #expect(get.0 == 405 && get.allow == "POST", "\(get)")
            #expect(get.2.contains("takes POST only with {productId, "), "\(get)")
            #expect(get.2.contains(#"for example {"productId":"com.example.storehook.basic.monthly""#), "\(get)")
            let post = try await ask(.POST, "/stand-in/products")
            #expect(post.0 == 405 && post.allow == "GET", "\(post)")
            for (method, path) in [
                (HTTPMethod.POST, "/stand-in/purchase"), (.GET, "/stand-in/nothing"), (.POST, "/stand-in"),
                (.POST, "/stand-in/purchases/anna"), (.GET, "/stand-in/customers/anna/more"),
            ] {
                let answer = try await ask(method, path)
                #expect(answer.0 == 404, "\(path)")
                #expect(answer.2.contains("customers/CUSTOMER") && answer.2.contains("purchases"), "\(answer)")
            }
            let none = try await ask(.GET, "/stand-in/customers")
            #expect(none.0 == 404 && none.2.contains("none so far"), "\(none)")
            try await shop.shop("purchases", #"{"productId":"com.example.storehook.coins.100","customer":"maria"}"#)
            let one = try await ask(.GET, "/stand-in/customers")
            #expect(one.2.contains("name one customer") && one.2.contains("there are maria"), "\(one)")
            #expect(try await ask(.GET, "/stand-in/customers/ann").2.contains("GET /stand-in/customers names"))
            let elsewhere = try await ask(.GET, "/")
            #expect(elsewhere.0 == 404 && elsewhere.2.contains("GET /stand-in lists"), "\(elsewhere)")
        }
    }
}
