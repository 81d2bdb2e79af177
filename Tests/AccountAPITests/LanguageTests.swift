import AccountAPI
import AccountStore
import AppStorePayloads
import Foundation
import TestSupport
import Testing

@testable import APIKit

@Suite("The language in which the account API says why it does not do something")
struct LanguageTests {
    private func hasChinese(_ text: String?) -> Bool {
        text?.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) } ?? false
    }

    /// All that needs a caller, with something in the place of what stands in braces.
    private func calls(_ api: RunningAPI) async throws -> [(method: String, path: String)] {
        let text = try await api.get("/openapi.json").body
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        return paths.flatMap { path, operations in
            operations.filter { ($0.value["security"] as? [Any])?.isEmpty == false }
                .map { (method: $0.key.uppercased(), path: path.replacing("{feature}", with: "ai")) }
        }
    }

    @Test("is the one asked for, and is named, on every path but EmoFlow's and the guard's")
    func everyPath() async throws {
        try await Shop.open { shop in
            let calls = try await calls(shop.api)
            #expect(calls.count > 25)
            for (method, path) in calls where path != "/v1/guard" {
                for (wanted, tag) in [("zh-Hans", "zh-Hans"), ("zh-TW,en;q=0.5", "zh-Hant"), ("de", "en")] {
                    let answer = try await shop.api.send(
                        method, path, token: nil, body: nil, [("Accept-Language", wanted)])
                    #expect(answer.status == 401, "\(method) \(path)")
                    let detail = answer.object?.string("detail")
                    if path.hasPrefix("/subscription/") {
                        #expect(detail == "用户未认证" && answer.header("Content-Language") == nil)
                        continue
                    }
                    #expect(answer.header("Content-Language") == tag && answer.header("Vary") == "Accept-Language")
                    #expect(hasChinese(detail) == (tag != "en"), "\(method) \(path): \(detail ?? "-")")
                }
            }
        }
    }

    @Test("is that of the exact sentence, of paths that there are not, and of what a restore says of each proof")
    func sentences() async throws {
        try await Shop.open { shop in
            let api = shop.api
            let token = try await api.signer.token(of: "alice")
            func detail(_ method: String, _ path: String, _ body: String? = nil, _ wanted: String) async throws
                -> String?
            {
                try await api.send(method, path, token: token, body: body, [("Accept-Language", wanted)]).object?
                    .string("detail")
            }
            for (method, path, body, said) in [
                ("GET", "/nothing", nil, ["there is nothing here; see /openapi.json", "接口不存在；请参阅 /openapi.json"]),
                ("DELETE", "/v1/account", nil, ["GET, HEAD only", "不支持此请求方法"]),
                ("GET", "/v1/account?environment=Sandbox", nil, ["only testers", "只有测试者"]),
                ("GET", "/v1/features/none", nil, ["the catalog does not have this feature", "没有此功能"]),
                ("POST", "/v1/subscriptions/verify", "{}", ["signedTransactionInfo or", "缺少 signedTransactionInfo 或"]),
                ("POST", "/subscriptions/verify", #"{"signedTransactionInfo":7}"#, ["must be a string", "必须是字符串"]),
                ("POST", "/usage/ai", #"{"amount":0}"#, ["amount must be from 1", "amount 必须在 1 到 1000000 之间"]),
                ("POST", "/v1/usage/video", "{}", ["tier does not have", "当前套餐不包含此功能"]),
                ("POST", "/v1/subscriptions/refresh", "{}", ["no key for Apple's", "未配置 Apple Server API 的密钥"]),
            ] {
                let english = try await detail(method, path, body, "en")
                #expect(english?.contains(said[0]) == true, "\(method) \(path): \(english ?? "-")")
                let chinese = try await detail(method, path, body, "zh")
                #expect(chinese?.contains(said[1]) == true, "\(method) \(path): \(chinese ?? "-")")
                let traditional = try await detail(method, path, body, "zh-TW")
                #expect(hasChinese(traditional), "\(traditional ?? "-")")
            }
            let restored = try await api.send(
                "POST", "/v1/subscriptions/restore", token: token, body: #"{"signedTransactions":["a.b.c"]}"#,
                [("Accept-Language", "zh-Hans")])
            #expect(restored.status == 200 && restored.header("Content-Language") == nil)
            #expect(restored.object?.objects("transactions")?.first?.string("message") == "不是有效的 JWS 或收据")
        }
    }

    @Test("stands beside the origin in Vary where web pages may ask")
    func origins() async throws {
        try await withAPI(adjusting: { $0.cors = CORSPolicy(origins: ["https://app.example.com"]) }) { api in
            let answer = try await api.get("/v1/account", [("Origin", "https://app.example.com")])
            #expect(answer.status == 401 && answer.header("Vary") == "Accept-Language, Origin")
            #expect(try await api.get("/healthz").header("Vary") == "Origin")
        }
    }
}
