import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Logging
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("What apps report of attempts to buy and to restore")
struct AttemptTests {
    private func post(_ body: String, in shop: Shop, as account: String = "alice") async throws -> Answer {
        try await shop.post("/v1/purchases", as: account, body)
    }

    @Test("is taken note of: a restore names no product, may have found nothing, and either may name its transaction")
    func taken() async throws {
        try await Shop.open { shop in
            for body in [
                #"{"productId":"com.example.monthly","outcome":"cancelled","kind":"purchase","reason":"no"}"#,
                #"{"productId":"m","outcome":"completed","kind":"purchase","transactionId":"20","environment":"Sandbox"}"#,
                #"{"outcome":"nothing","kind":"restore"}"#,
                #"{"productId":null,"outcome":"completed","kind":"restore","transactionId":"21","reason":null}"#,
                #"{"productId":"m","outcome":"failed","kind":"restore","environment":"Xcode","later":[1]}"#,
            ] {
                let answer = try await post(body, in: shop)
                #expect(answer.status == 200 && answer.object?.bool("success") == true, "\(body): \(answer.body)")
            }
            let token = AccountToken.of("alice")
            let reported = try await shop.accounts.attempts(.init(account: token), limit: 10)
            #expect(
                reported.attempts.map(\.attempt) == [
                    PurchaseAttempt(
                        account: token, productID: "m", kind: .restore, outcome: .failed, environment: .xcode),
                    PurchaseAttempt(account: token, kind: .restore, outcome: .completed, transactionID: "21"),
                    PurchaseAttempt(account: token, kind: .restore, outcome: .nothing),
                    PurchaseAttempt(
                        account: token, productID: "m", kind: .purchase, outcome: .completed, transactionID: "20",
                        environment: .sandbox),
                    PurchaseAttempt(
                        account: token, productID: "com.example.monthly", kind: .purchase, outcome: .cancelled,
                        reason: "no"),
                ])
            #expect(reported.next == nil)
        }
    }

    @Test("is refused where it says what cannot be, and nothing of it is kept")
    func refused() async throws {
        try await Shop.open { shop in
            for (body, why) in [
                (#"{"outcome":"failed","kind":"purchase"}"#, "productId is missing"),
                (#"{"productId":null,"outcome":"failed","kind":"purchase"}"#, "productId"),
                (
                    #"{"productId":"m","outcome":"nothing","kind":"purchase"}"#,
                    "outcome must be one of pending, cancelled, failed, completed"
                ),
                (#"{"productId":"","outcome":"failed","kind":"restore"}"#, "productId is empty"),
                (#"{"productId":"m","outcome":"stolen","kind":"purchase"}"#, "outcome must be one of"),
                (#"{"outcome":"nothing","kind":"gift"}"#, "kind must be one of"),
                (#"{"outcome":"nothing"}"#, "kind is missing"), (#"{"kind":"restore"}"#, "outcome is missing"),
                (#"{"outcome":"completed","kind":"restore","transactionId":21}"#, "transactionId must be a string"),
                (#"{"outcome":"completed","kind":"restore","transactionId":""}"#, "transactionId is empty"),
                (
                    #"{"outcome":"completed","kind":"restore","transactionId":"\#(String(repeating: "1", count: 65))"}"#,
                    "transactionId is longer"
                ),
                (#"{"outcome":"nothing","kind":"restore","environment":"Beta"}"#, "environment must be one of"),
            ] {
                let answer = try await post(body, in: shop)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(body): \(answer.body)")
                #expect(answer.object?.string("detail")?.contains(why) == true, "\(body): \(answer.body)")
            }
            #expect(try await shop.accounts.attempts(limit: 10).attempts.isEmpty)
        }
    }

    @Test("is a line of the log with the appAccountToken, without the account's id and the app's reason")
    func logged() async throws {
        let log = RecordedLog()
        let account = "ann@example.com"
        try await Shop.open(log: AccountLog(log.logger), logger: log.logger) { shop in
            let body =
                #"{"outcome":"completed","kind":"restore","transactionId":"21","environment":"Sandbox","productId":"a b","reason":"Ann's"}"#
            let token = try await shop.api.signer.token(of: account)
            let answer = try await shop.api.send(
                "POST", "/v1/purchases", token: token, body: body, [("X-Request-ID", "request-1")])
            #expect(answer.status == 200)
            let line = try #require(log.lines("An app has reported an attempt to buy or to restore").first)
            #expect(
                line.metadata == [
                    "app_account_token": "\(AccountToken.of(account))", "kind": "restore", "outcome": "completed",
                    "transaction_id": "21", "environment": "Sandbox", "count": "1", "request": "request-1",
                ])
            #expect(line.level == .info && !log.text.contains("Ann's") && !log.text.contains("a b"))
        }
    }

    @Test("is one line a second at most, which counts those that had none")
    func flood() {
        let log = RecordedLog()
        let now = Mutex(ContinuousClock.now)
        let lines = AttemptLog(AccountLog(log.logger)) { now.withLock(\.self) }
        let caller = Caller(AccountIdentity(named: "ann"), isServer: true)
        func report(_ product: String, after pause: Duration) {
            now.withLock { $0 += pause }
            lines.note(
                PurchaseAttempt(account: caller.token, productID: product, kind: .purchase, outcome: .failed),
                by: caller)
        }
        report("first", after: .zero)
        for _ in 0..<500 { report("flood", after: .microseconds(1900)) }
        report("second", after: .milliseconds(50))
        report("third", after: .milliseconds(999))
        report("fourth", after: .seconds(5))
        #expect(log.lines.map { $0.metadata["product"] } == ["first", "second", "fourth"])
        #expect(log.lines.map { $0.metadata["count"] } == ["1", "501", "2"])
        #expect(log.lines.allSatisfy { $0.metadata["by"] == "server key" })
    }
}
