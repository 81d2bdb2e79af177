import AccountAPI
import Accounts
import AppStorePayloads
import Simulation
import TestSupport
import Testing

@testable import APIKit

@Suite("What is logged of accounts")
struct AccountLogTests {
    @Test(
        "names each verification, binding, trial and refusal in a line of its own, with the account's token, purchase, tier and end"
    )
    func events() async throws {
        let log = RecordedLog()
        let names = ["alice", "bob", "carol", "dave"]
        let tokens = Dictionary(uniqueKeysWithValues: names.map { ($0, "\(AccountToken.of($0))") })
        try await Shop.open(log: AccountLog(log.logger), logger: log.logger) { shop in
            let bought = shop.buy(lane: 80, for: "alice")
            let number = try #require(bought.notification.transaction?.originalTransactionId)
            let body =
                #"{"signedTransactionInfo":"\#(bought.transaction)","signedRenewalInfo":"\#(bought.renewal ?? "")"}"#
            let token = try await shop.api.signer.token(of: "alice")
            let request = [("X-Request-ID", "request-80")]
            let first = try await shop.api.send(
                "POST", "/v1/subscriptions/verify", token: token, body: body, request)
            #expect(first.status == 200)
            let verified = log.lines("Verified what was handed in")
            #expect(verified.map { $0.metadata["kind"] } == ["transaction", "renewal"])
            let line = try #require(verified.first).metadata
            #expect(
                line["app_account_token"] == tokens["alice"] && line["request"] == "request-80"
                    && line["result"] == "applied")
            #expect(line["original_transaction_id"] == number && line["tier"] == "pro" && line["binding"] == "already")
            #expect(line["product"] == "com.example.storehook.basic.monthly" && line["environment"] == "Production")
            #expect(line["ends"] == first.object?.object("subscription")?.string("expiresAt"))

            // A purchase without an owner is bound; another account's is not.
            let free = shop.buy(lane: 81)
            _ = try await shop.verify(free.transaction, as: "bob")
            let bound = log.lines("Bound a purchase").map(\.metadata)
            #expect(bound.map { $0["app_account_token"] } == [tokens["bob"]] && bound.first?["binding"] == "bound")
            #expect(bound.first?["original_transaction_id"] == free.notification.transaction?.originalTransactionId)
            _ = try await shop.verify(free.transaction, as: "alice")
            _ = try await shop.verify(bought.transaction, as: "bob")
            let bindings = log.lines("Verified what was handed in").suffix(2).map { $0.metadata["binding"] }
            #expect(bindings == ["boundElsewhere", "otherAccountsToken"])

            _ = try await shop.verify("x.y.z", as: "carol")
            let refused = log.lines("Refused what was handed in").map(\.metadata)
            #expect(
                refused.map { $0["result"] } == ["malformed"] && refused.first?["app_account_token"] == tokens["carol"])

            let started = try await shop.post("/v1/subscriptions/trial/start", as: "carol")
            // The same start again is answered like the first, and is no second one; another start is refused.
            #expect(try await shop.post("/v1/subscriptions/trial/start", as: "carol").body == started.body)
            _ = try await shop.post("/v1/subscriptions/trial/start", as: "carol", #"{"productId":"yearly"}"#)
            let trial = log.lines("Started the trial").map(\.metadata)
            #expect(trial.map { $0["app_account_token"] } == [tokens["carol"]] && trial.first?["tier"] == "pro")
            #expect(trial.first?["ends"] == started.object?.string("trialEndsAt"))
            #expect(log.lines("Refused the trial").map { $0.metadata["reason"] } == ["trial_used"])

            _ = try await shop.post("/v1/usage/ai", as: "dave", #"{"amount":1,"idempotencyKey":"secret-key"}"#)
            _ = try await shop.post("/v1/usage/words", as: "dave", #"{"amount":3}"#)
            let uses = log.lines("Refused use").map(\.metadata)
            #expect(uses.map { $0["reason"] } == ["tier_required", "limit_reached"])
            #expect(uses.allSatisfy { $0["app_account_token"] == tokens["dave"] && $0["tier"] == "free" })
            #expect(uses.last?["feature"] == "words" && uses.last?["limit"] == "2")

            // Carol buys while the trial runs.
            let converted = shop.buy(lane: 84)
            _ = try await shop.verify(converted.transaction, as: "carol")
            let life = log.lines("Converted a trial").map(\.metadata)
            #expect(life.map { $0["app_account_token"] } == [tokens["carol"]])
            #expect(
                life.first?["tier"] == "pro" && life.first?["status"] == "active" && life.first?["reason"] == "client")
            #expect(life.first?["status_before"] == "trial" && life.first?["ends"] != nil)
            #expect(
                life.first?["original_transaction_id"] == converted.notification.transaction?.originalTransactionId)
            // A name may be an e-mail address.
            for name in names { #expect(!log.text.contains(name), "\(name)") }

            for secret in [
                bought.transaction, bought.renewal ?? "", free.transaction, "secret-key", token,
                String(bought.transaction.suffix(40)), String(token.suffix(40)),
            ] { #expect(!log.text.contains(secret)) }
        }
    }

    @Test("has a line for each that a restore hands in, and none of EmoFlow's password")
    func restore() async throws {
        let log = RecordedLog()
        try await Shop.open(log: AccountLog(log.logger), logger: log.logger) { shop in
            let texts = [shop.buy(lane: 82).transaction, "a.b.c", shop.buy(lane: 83, for: "eve").transaction]
            let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
            _ = try await shop.post("/v1/subscriptions/restore", as: "alice", #"{"signedTransactions":[\#(list)]}"#)
            #expect(
                log.lines("Verified what was handed in").map { $0.metadata["binding"] } == [
                    "bound", "otherAccountsToken",
                ])
            #expect(log.lines("Refused what was handed in").count == 1)
            let emoFlow = #"{"signedTransactionInfo":"\#(texts[0])","password":"0123456789abcdef-shared"}"#
            _ = try await shop.post("/subscription/verify", as: "alice", emoFlow)
            #expect(log.lines("Verified what was handed in").count == 3)
            #expect(!log.text.contains("0123456789abcdef-shared") && !texts.contains { log.text.contains($0) })
        }
    }
}
