import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import APIKit

@Suite("An account's name and mail address")
struct ProfileTests {
    private func put(
        _ body: String, in shop: Shop, _ account: String = "ann", key: String
    ) async throws -> Answer {
        try await shop.api.send(
            "PUT", "/v1/account/profile", token: key, body: body, [("X-Account-ID", account)])
    }

    private func profile(_ account: String = "ann", in shop: Shop) async throws -> AccountProfile? {
        try await shop.accounts.profiles(of: [AccountToken.of(account), AccountToken.of("other")])[
            AccountToken.of(account)]
    }

    @Test("are replaced as a whole by one of the operator's servers: null, or missing, removes one")
    func replaced() async throws {
        try await Shop.open { shop in
            let key = try await shop.api.serverKey().key.text
            #expect(try await profile(in: shop) == nil)
            for (body, name, mail) in [
                (#"{"name":"Ann Miller","mail":"ann@example.com"}"#, "Ann Miller", "ann@example.com"),
                (#"{"name":"Ann Smith"}"#, "Ann Smith", nil),
                (#"{"mail":"a@b.example","name":null}"#, nil, "a@b.example"),
                (#"{"name":"\#(String(repeating: "ü", count: 200))"}"#, String(repeating: "ü", count: 200), nil),
                (#"{"mail":"\#(String(repeating: "m", count: 254))"}"#, nil, String(repeating: "m", count: 254)),
                ("{}", nil, nil), (#"{"name":null,"mail":null}"#, nil, nil),
            ] as [(String, String?, String?)] {
                let answer = try await put(body, in: shop, key: key)
                #expect(answer.status == 200, "\(answer.body)")
                #expect(
                    answer.object?.string("name") == name && answer.object?.string("mail") == mail, "\(answer.body)")
                let expected = AccountProfile(name: name, mail: mail)
                #expect(try await profile(in: shop) == (expected.isEmpty ? nil : expected))
            }
        }
    }

    @Test("are given by no app, for no account that is not named, and in no other shape")
    func refused() async throws {
        try await Shop.open { shop in
            let body = #"{"name":"Ann"}"#
            let app = try await shop.api.signer.token(of: "ann")
            #expect(try await put(body, in: shop, key: app).code == "server_key_required")
            let key = try await shop.api.serverKey().key.text
            let unnamed = try await shop.api.send("PUT", "/v1/account/profile", token: key, body: body)
            #expect(unnamed.status == 400 && unnamed.code == "account_missing")
            for body in [
                #"{"name":""}"#, #"{"mail":""}"#, #"{"name":7}"#, #"{"mail":["a"]}"#, #"{"name":"Ann","phone":"1"}"#,
                "[]",
                #"{"name":"\#(String(repeating: "n", count: 201))"}"#, #"{"name":"\u0000"}"#,
                #"{"mail":"\#(String(repeating: "m", count: 255))"}"#,
            ] {
                let answer = try await put(body, in: shop, key: key)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(body): \(answer.body)")
            }
            #expect(try await profile(in: shop) == nil)
        }
    }

    @Test("are found by how they begin, in any case, and by nothing else; the index has them")
    func found() async throws {
        try await Shop.open { shop in
            let key = try await shop.api.serverKey().key.text
            for (account, body) in [
                ("1", #"{"name":"Ann Miller","mail":"am@example.com"}"#),
                ("2", #"{"name":"ANNABEL","mail":"Bel@example.com"}"#),
                ("3", #"{"mail":"ann@example.com"}"#), ("4", #"{"name":"Joann"}"#), ("5", #"{"name":"100% a_b\\c"}"#),
                ("6", #"{"name":"1000 a b c"}"#), ("7", #"{"name":"Zoë"}"#),
            ] { #expect(try await put(body, in: shop, account, key: key).status == 200) }
            for (prefix, accounts) in [
                ("ann", ["1", "2", "3"]), ("ANN M", ["1"]), ("bel@EXAMPLE", ["2"]), ("nn", []), ("", []),
                ("100%", ["5"]),
                ("100% a_b\\c", ["5"]), ("1000 a_", []), ("%", []), ("zoë", ["7"]), ("a\0", []),
            ] {
                let found = try await shop.accounts.accounts(named: prefix).tokens
                #expect(found == accounts.map { AccountToken.of($0) }.sorted(), "\(prefix)")
            }
            let some = try await shop.accounts.accounts(named: "ann", limit: 2)
            #expect(some.tokens.count == 2 && some.isMore)
            #expect(try await shop.accounts.accounts(named: "ann").isMore == false)
            for column in ["name", "mail"] {
                let plan = try await shop.api.observer.withTransaction { session in
                    try session.query("set local enable_seqscan = off")
                    return try session.query(
                        "explain select token from storehook.account_profiles where lower(\(unescaped: column)) like 'ann%'"
                    ).map { try $0.decode(0, as: String.self) }.joined(separator: "\n")
                }
                #expect(plan.contains("account_profiles_by_\(column)"), "\(plan)")
            }
        }
    }

    @Test("are paid for by the account's budget of the day; the same once more writes nothing, and costs nothing")
    func budget() async throws {
        try await Shop.open { shop in
            let key = try await shop.api.serverKey().key.text
            let spent: PostgresQuery = "select coalesce(sum(bytes), 0)::bigint from storehook.write_budgets"
            let changed: PostgresQuery = "select xmin::text from storehook.account_profiles"
            let body = #"{"name":"Ann","mail":"ann@example.com"}"#
            #expect(try await put(body, in: shop, key: key).status == 200)
            let (once, row) = (
                try await shop.api.observer.query(spent).one().decode(0, as: Int64.self),
                try await shop.api.observer.query(changed).one().decode(0, as: String.self)
            )
            #expect(once == Int64(WriteWeight.profile(["Ann", "ann@example.com"])))
            #expect(try await put(body, in: shop, key: key).status == 200)
            #expect(try await shop.api.observer.query(spent).one().decode(0, as: Int64.self) == once)
            #expect(try await shop.api.observer.query(changed).one().decode(0, as: String.self) == row)
            try await shop.api.observer.query("update storehook.write_budgets set bytes = 10000000")
            let refused = try await put(#"{"name":"Bea"}"#, in: shop, key: key)
            #expect(refused.code == "write_budget" && refused.status == 429)
            #expect(try await profile(in: shop)?.name == "Ann")
            // To remove it costs nothing.
            #expect(try await put("{}", in: shop, key: key).status == 200)
            #expect(try await profile(in: shop) == nil)
        }
    }

    @Test("are deleted when the account is erased, and an erased account gets none")
    func erased() async throws {
        let log = RecordedLog()
        try await Shop.open(log: AccountLog(log.logger), logger: log.logger) { shop in
            let key = try await shop.api.serverKey().key.text
            let body = #"{"name":"Ann Miller","mail":"miller@example.com"}"#
            #expect(try await put(body, in: shop, key: key).status == 200)
            let erased = try await EvidencePipeline(shop.api.observer).erase("ann", by: "staff")
            #expect(erased?.nameForgotten == true)
            #expect(try await profile(in: shop) == nil)
            let answer = try await put(body, in: shop, key: key)
            #expect(answer.status == 200 && answer.object?.string("name") == nil, "\(answer.body)")
            #expect(try await profile(in: shop) == nil)
            #expect(!log.text.contains("iller"))
        }
    }
}
