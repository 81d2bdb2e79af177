import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("The account API's budget of a day")
struct APIWriteBudgetTests {
    private static let most: Int64 = 10_000_000

    private func leave(_ bytes: Int64, to account: String, _ shop: Shop) async throws {
        try await shop.api.observer.query(
            """
            insert into storehook.write_budgets (token, day, bytes)
            values (\(UUID(Caller(AccountIdentity(named: account), isServer: false).token)), (now() at time zone 'UTC')::date,
                    \(Self.most - bytes))
                on conflict (token) do update set day = excluded.day, bytes = excluded.bytes
            """)
    }

    private func spent(_ account: String, _ shop: Shop) async throws -> Int64 {
        try await shop.api.observer.query(
            """
            select coalesce((select bytes from storehook.write_budgets
                              where token = \(UUID(Caller(AccountIdentity(named: account), isServer: false).token))), 0)
            """
        ).one().decode(0)
    }

    private func rows(_ shop: Shop) async throws -> [Int64] {
        var all: [Int64] = []
        for table in ["outbox", "records", "purchase_attempts", "consumption_consents", "usage_keys", "kept_receipts"] {
            all.append(
                try await shop.api.observer.query("select count(*) from storehook.\(unescaped: table)").one().decode(0))
        }
        return all
    }

    @Test("used up is 429 write_budget with Retry-After in every dialect, keeps nothing, and what is read goes on")
    func exhausted() async throws {
        try await Shop.open { shop in
            let held = shop.buy(lane: 1, for: "alice")
            #expect(try await shop.verify(held.transaction, as: "alice").status == 200)
            #expect(
                try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":1,"idempotencyKey":"k"}"#).status == 200)
            try await leave(100, to: "alice", shop)
            let before = try await rows(shop)
            let new = shop.buy(lane: 2, for: "alice").transaction
            let one = #"{"signedTransactionInfo":"\#(new)"}"#
            let several = #"{"signedTransactions":["\#(new)"]}"#
            for (path, body) in [
                ("/v1/subscriptions/verify", one), ("/subscriptions/verify", one),
                ("/v1/subscriptions/restore", several),
                ("/subscriptions/restore", several),
                ("/v1/purchases", #"{"productId":"basic","outcome":"failed","kind":"purchase"}"#),
                ("/v1/usage/ai", #"{"amount":1,"idempotencyKey":"n"}"#),
                ("/usage/ai", #"{"amount":1,"idempotencyKey":"n"}"#),
            ] {
                let answer = try await shop.post(path, as: "alice", body)
                #expect(answer.status == 429 && answer.code == "write_budget", "\(path): \(answer.body)")
                #expect(answer.header("Content-Type") == "application/problem+json")
                let seconds = try #require(answer.header("Retry-After").flatMap { Int($0) })
                #expect((1...86_400).contains(seconds))
            }
            for (path, body) in [("/subscription/verify", one), ("/subscription/restore", one)] {
                let answer = try await shop.post(path, as: "alice", body)
                #expect(answer.status == 429 && answer.body == #"{"detail":"今日提交的数据过多，请明天再试"}"#, "\(answer.body)")
                #expect(answer.header("Retry-After") != nil)
            }
            let token = try await shop.api.signer.token(of: "alice")
            let consent = try await shop.api.send(
                "PUT", "/v1/consents/consumption", token: token, body: #"{"granted":true,"text":"I agree."}"#)
            #expect(consent.status == 429 && consent.code == "write_budget" && consent.header("Retry-After") != nil)
            #expect(try await rows(shop) == before)
            // What is there is answered as before, and what keeps nothing of its own is done.
            #expect(try await shop.verify(held.transaction, as: "alice").status == 200)
            #expect(
                try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":1,"idempotencyKey":"k"}"#).status == 200)
            #expect(try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":1}"#).status == 200)
            #expect(try await shop.post("/v1/subscriptions/restore", as: "alice", "").status == 200)
            #expect(try await shop.standing(of: "alice") == "pro active")
            #expect(try await shop.get("/v1/guard?tier=pro", as: "alice").status == 204)
            // No other account is concerned, and tomorrow is another day.
            #expect(try await shop.verify(new, as: "bob").code == "other_account")
            try await shop.api.observer.query("update storehook.write_budgets set day = day - 1")
            #expect(try await shop.verify(new, as: "alice").status == 200)
        }
    }

    @Test("a consent of the longest text again and again is one row, and of new texts no more than the budget")
    func consents() async throws {
        try await Shop.open { shop in
            let token = try await shop.api.signer.token(of: "alice")
            func put(_ text: String?, _ granted: Bool = true) async throws -> Answer {
                let text = text.map { #","text":"\#($0)""# } ?? ""
                return try await shop.api.send(
                    "PUT", "/v1/consents/consumption", token: token, body: #"{"granted":\#(granted)\#(text)}"#)
            }
            let words = String(repeating: "同", count: 2_000)
            let first = try await put(words)
            #expect(first.status == 200)
            for _ in 0..<20 { #expect(try await put(words).body == first.body) }
            #expect(try await rows(shop)[3] == 1)
            #expect(try await put(words + "x").status == 400)
            try await leave(40_000, to: "alice", shop)
            var statuses: [Int] = []
            for number in 0..<12 { statuses.append(try await put(words.dropLast(4) + "\(1000 + number)").status) }
            #expect(statuses.contains(200) && statuses.last == 429, "\(statuses)")
            // To take it back is always possible.
            let withdrawn = try await put(nil, false)
            #expect(withdrawn.status == 200 && withdrawn.object?.bool("granted") == false)
            #expect(try await put(nil, false).body == withdrawn.body)
        }
    }

    /// What is handed in is paid for as what it makes the database grow by: bytes, facts, states, accounts and events.
    @Test("weighs what is handed in at what it takes, and the same again at nothing")
    func evidence() async throws {
        try await Shop.open { shop in
            func size() async throws -> Int64 {
                try await shop.api.observer.query(
                    """
                    select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
                     where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'm')
                    """
                ).one().decode(0)
            }
            // Tables and their indexes have their first pages.
            for lane in 1...10 {
                #expect(try await shop.verify(shop.buy(lane: lane, for: "warm").transaction, as: "warm").status == 200)
            }
            let before = try await size()
            let count = 40
            for lane in 1...count {
                let bought = shop.buy(lane: 100 + lane, for: "alice")
                let body =
                    #"{"signedTransactionInfo":"\#(bought.transaction)","signedRenewalInfo":"\#(bought.renewal ?? "")"}"#
                #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", body).status == 200)
            }
            let (growth, paid) = (try await size() - before, try await spent("alice", shop))
            #expect(growth <= paid + 200_000 && growth >= paid / 4, "\(growth) of \(paid)")
            let bought = shop.buy(lane: 101, for: "alice")
            for _ in 0..<3 { #expect(try await shop.verify(bought.transaction, as: "alice").status == 200) }
            #expect(try await spent("alice", shop) == paid)
            // What proves nothing is kept nowhere, and costs nothing.
            #expect(try await shop.verify("x.y.z", as: "alice").status == 400)
            #expect(try await shop.verify(bought.transaction, as: "mallory").status == 403)
            #expect(try await spent("alice", shop) == paid)
            #expect(try await spent("mallory", shop) == 0)
        }
    }

    @Test("pays for what a receipt, a refresh and a download of the app make, too")
    func otherEvidence() async throws {
        try await withReceiptShop { shop, standIn in
            func expectRefused(_ path: String, _ body: String = "{}") async throws {
                try await leave(100, to: "alice", shop)
                let before = try await rows(shop)
                let answer = try await shop.post(path, as: "alice", body)
                #expect(answer.status == 429 && answer.code == "write_budget", "\(path): \(answer.body)")
                #expect(answer.header("Retry-After") != nil)
                #expect(try await rows(shop) == before)
                try await shop.api.observer.query("update storehook.write_budgets set day = day - 1")
            }
            let customer = SimulatedSubscriber(app: SimulatedApp.example.in(.production), lane: 9, seed: 9)
            let download = shop.authority.sign(
                customer.appTransaction(at: shop.now, firstDownloadAt: shop.now).json)
            let trial = ("/v1/subscriptions/trial/start", #"{"signedAppTransactionInfo":"\#(download)"}"#)
            try await expectRefused(trial.0, trial.1)
            #expect(try await shop.standing(of: "alice") == "free free")
            #expect(try await shop.post(trial.0, as: "alice", trial.1).status == 200)
            #expect(try await spent("alice", shop) > 5_000)

            let bought = try await standIn.buy()
            let receipt = #"{"receiptData":"\#(bought.receipt)"}"#
            try await expectRefused("/v1/subscriptions/verify", receipt)
            #expect(try await shop.verify(receipt: bought.receipt, as: "alice").status == 200)
            #expect(try await spent("alice", shop) > 5_000)

            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(bought.original)"}"#)
            try await expectRefused("/v1/subscriptions/refresh")
            #expect(try await shop.standing(of: "alice") == "pro active")
            let refreshed = try await shop.post("/v1/subscriptions/refresh", as: "alice")
            #expect(refreshed.object?.string("status") == "cancelled", "\(refreshed.body)")
            #expect(try await spent("alice", shop) > 5_000)
        }
    }
}
