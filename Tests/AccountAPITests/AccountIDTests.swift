import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import APIKit

@Suite("An account's id")
struct AccountIDTests {
    private static let four = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
    private static let five = "42ca334f-18cb-59e1-9616-a1dca64eb9b4"
    private static let report = #"{"amount":1}"#

    private func consents(_ shop: Shop, _ token: UniqueIdentifier) async throws -> [Bool] {
        try await shop.api.observer.query(
            """
            select granted from storehook.consumption_consents where app_account_token = \(UUID(token)) order by id
            """
        ).map { try $0.decode(0) }
    }

    private func used(_ shop: Shop, _ token: UniqueIdentifier) async throws -> Int64 {
        try await shop.api.observer.query(
            "select coalesce(sum(used), 0)::bigint from storehook.usage_counters where token = \(UUID(token))"
        ).one().decode(0)
    }

    private func consent(_ shop: Shop, _ id: String, _ granted: Bool) async throws -> Int {
        try await shop.api.send(
            "PUT", "/v1/consents/consumption", token: shop.api.signer.token(of: id),
            body: #"{"granted":\#(granted),"text":"I agree."}"#
        ).status
    }

    @Test(
        "is never a token: a login that is called by somebody's appAccountToken has nothing of hers and changes nothing of hers",
        arguments: sampled([AccountIDRule.auto, .text]))
    func takeover(rule: AccountIDRule) async throws {
        try await Shop.open { shop in
            try await shop.api.set(rule)
            // Also the one whose id is a UUID, and, where users choose their ids, her own token.
            for (lane, victim) in ["alice", Self.five, Self.four].enumerated()
            where rule == .text || victim != Self.four {
                let token = try #require(rule.account(victim)).token
                let bought = shop.buy(lane: 700 + lane, by: token)
                #expect(try await shop.verify(bought.transaction, as: victim).status == 200)
                #expect(try await shop.standing(of: victim) == "pro active")
                #expect(try await shop.post("/v1/usage/ai", as: victim, Self.report).status == 200)
                #expect(try await consent(shop, victim, true) == 200)
                for thief in [token.description, token.description.uppercased()] {
                    #expect(try await shop.standing(of: thief) == "free free")
                    #expect(try await shop.get("/v1/guard?tier=pro", as: thief).status == 403)
                    let account = try #require(try await shop.get("/v1/account", as: thief).object)
                    #expect(account.string("appAccountToken") != token.description)
                    #expect(try await shop.verify(bought.transaction, as: thief).code == "other_account")
                    #expect(try await shop.post("/v1/usage/ai", as: thief, Self.report).status == 403)
                    #expect(try await shop.post("/v1/usage/words", as: thief, Self.report).status == 200)
                    #expect(try await consent(shop, thief, false) == 200)
                    #expect(
                        try await shop.post(
                            "/v1/purchases", as: thief, #"{"productId":"p","kind":"purchase","outcome":"failed"}"#
                        ).status == 200)
                    let bySQL: Bool = try await shop.api.observer.query(
                        "select storehook.has_access_of(\(thief), \(SimulatedProduct.basicMonthly.id))"
                    ).one().decode(0)
                    #expect(!bySQL)
                }
                #expect(try await used(shop, token) == 1)
                #expect(try await consents(shop, token) == [true])
                let attempts: Int64 = try await shop.api.observer.query(
                    "select count(*) from storehook.purchase_attempts where token = \(UUID(token))"
                ).one().decode(0)
                #expect(attempts == 0)
                #expect(try await shop.standing(of: victim) == "pro active")
            }
        }
    }

    /// What a token and a server's key come to with an id, and what SQL says.
    private func check(_ api: RunningAPI, _ key: String, _ id: String, is token: String?) async throws {
        let app = try await api.get("/v1/account", token: api.signer.token(of: id))
        let server = try await api.get("/v1/account", token: key, [("X-Account-ID", id)])
        if let token {
            for answer in [app, server] {
                #expect(answer.status == 200 && answer.object?.string("appAccountToken") == token, "\(id)")
            }
        } else {
            #expect(app.status == 401 && app.code == "token_invalid", "\(id)")
            #expect(server.status == 400 && server.code == "account_missing", "\(id)")
        }
        let bySQL: String? = try await api.observer.query("select storehook.account_token(\(id))::text").one().decode(0)
        #expect(bySQL == token, "\(id)")
    }

    @Test("is a UUID and its own token, or hashed, as the rule has it; one rule for apps, servers and SQL")
    func rules() async throws {
        func hash(_ id: String) -> String { AccountToken.hash(of: id).description }
        let (upperFour, upperFive) = (Self.four.uppercased(), Self.five.uppercased())
        let nobody = "00000000-0000-0000-0000-000000000000"
        let expected: [AccountIDRule: [(String, String?)]] = [
            .auto: [
                ("alice", hash("alice")), (Self.four, Self.four), (upperFour, Self.four), (Self.five, hash(Self.five)),
                (upperFive, hash(Self.five)), (nobody, nil), ("token:\(Self.four)", nil),
                ("token:alice", hash("token:alice")),
            ],
            .uuid: [
                ("alice", nil), (Self.four, Self.four), (upperFour, Self.four), (Self.five, Self.five),
                (upperFive, Self.five), (nobody, nil), ("token:\(Self.four)", nil), ("token:alice", nil),
            ],
            .text: [
                ("alice", hash("alice")), (Self.four, hash(Self.four)), (upperFour, hash(upperFour)),
                (Self.five, hash(Self.five)), (upperFive, hash(upperFive)), (nobody, nil), ("token:\(Self.four)", nil),
                ("token:alice", hash("token:alice")),
            ],
        ]
        try await withAPI { api in
            let key = try await api.serverKey().key.text
            for (rule, ids) in expected {
                try await api.set(rule)
                for (id, token) in ids { try await check(api, key, id, is: token) }
            }
        }
    }

    @Test("is not needed by a server that knows the token alone; an app names nobody by a token")
    func byToken() async throws {
        try await Shop.open { shop in
            let key = try await shop.api.serverKey().key.text
            let token = AccountToken.of("alice")
            #expect(try await shop.verify(shop.buy(lane: 720, for: "alice").transaction, as: "alice").status == 200)
            for value in ["\(token)", "\(token)".uppercased(), "token:\(token)"] {
                let named = [("X-Account-Token", value)]
                let account = try await shop.api.get("/v1/account", token: key, named)
                #expect(account.status == 200 && account.object?.string("id") == "token:\(token)")
                #expect(
                    account.object?.string("appAccountToken") == "\(token)" && account.object?.string("tier") == "pro")
                let passed = try await shop.api.get("/v1/guard?tier=pro", token: key, named)
                #expect(passed.status == 204 && passed.header("X-Storehook-Account") == "token:\(token)")
            }
            let consent = try await shop.api.send(
                "PUT", "/v1/consents/consumption", token: key, body: #"{"granted":true,"text":"I agree."}"#,
                [("X-Account-Token", "\(token)")])
            #expect(consent.status == 200)
            #expect(try await consents(shop, token) == [true])
            // The account has kept its id, and the consent has it.
            let ids: [String?] = try await shop.api.observer.query(
                """
                select account from storehook.accounts where token = \(UUID(token))
                union all select account from storehook.consumption_consents where app_account_token = \(UUID(token))
                """
            ).map { try $0.decode(0) }
            #expect(ids == ["alice", "alice"])
            for headers in [
                [("X-Account-Token", "alice")], [("X-Account-Token", "")], [("X-Account-ID", "token:\(token)")],
                [("X-Account-Token", "00000000-0000-0000-0000-000000000000")],
                [("X-Account-Token", "\(token)"), ("X-Account-ID", "alice")],
                [("X-Account-Token", "\(token)"), ("X-Account-Token", "\(token)")],
            ] {
                let answer = try await shop.api.get("/v1/account", token: key, headers)
                #expect(answer.status == 400 && answer.code == "account_missing", "\(headers)")
            }
            let posing = try await shop.api.get(
                "/v1/account", token: shop.api.signer.token(of: "bob"), [("X-Account-Token", "\(token)")])
            #expect(posing.object?.string("id") == "bob" && posing.object?.string("tier") == "free")
            #expect(try await shop.get("/v1/account", as: "token:\(token)").status == 401)
        }
    }

    @Test("has the token of a new rule once it is read; until then nothing is written for the account that it was")
    func changed() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 730, by: AccountToken.hash(of: Self.four))
            #expect(try await shop.get("/v1/account", as: Self.four).object?.string("appAccountToken") == Self.four)
            let app = try await shop.api.signer.token(of: Self.four)
            _ = try await AccountIDs(shop.api.observer).change(to: .text, by: "test", listing: 0)
            let body = #"{"signedTransactionInfo":"\#(bought.transaction)"}"#
            // By the rule of before: Apple signed it for another account, and whatever it was, it is not judged by that rule.
            let early = try await shop.api.send("POST", "/v1/subscriptions/verify", token: app, body: body)
            #expect(early.status == 503, "\(early.body)")
            let consent = try await shop.api.send(
                "PUT", "/v1/consents/consumption", token: app, body: #"{"granted":true,"text":"I agree."}"#)
            #expect(consent.status == 503)
            let written: Int64 = try await shop.api.observer.query(
                "select (select count(*) from storehook.accounts) + (select count(*) from storehook.consumption_consents)"
            ).one().decode(0)
            #expect(written == 0)
            try await shop.api.ids.refresh()
            let verified = try await shop.api.send("POST", "/v1/subscriptions/verify", token: app, body: body)
            #expect(verified.status == 200, "\(verified.body)")
            #expect(try await shop.standing(of: Self.four) == "pro active")
        }
    }

    @Test("names nobody where there is no rule, or another one than the program is set to: 503, and not ready")
    func refused() async throws {
        try await withAPI { api in
            try await api.set(.uuid)
            let table = AccountIDTable(AccountIDs(api.observer), setting: .uuid, logger: quiet)
            #expect(table.whyNone != nil)
            try await table.refresh()
            #expect(table.whyNone == nil)
            try await api.set(.text)
            try await table.refresh()
            #expect(table.whyNone?.contains("STOREHOOK_ACCOUNT_IDS is uuid") == true)
            try await api.observer.query(
                "update storehook.account_ids set rule = null, named_at = null, named_by = null")
            try await api.ids.refresh()
            #expect(api.ids.whyNone?.contains("storehook account-ids set uuid") == true)
            let answer = try await api.get("/v1/account", token: api.signer.token())
            #expect(answer.status == 503 && answer.header("Retry-After") != nil)
            let key = try await api.serverKey().key.text
            #expect(try await api.get("/v1/account", token: key, [("X-Account-ID", "alice")]).status == 503)
            #expect(try await api.get("/v1/account", token: key, [("X-Account-Token", Self.four)]).status == 200)
            #expect(try await api.get("/v1/account", token: "a.b.c").status == 401)
            try await api.set(.auto)
            #expect(try await api.get("/v1/account", token: api.signer.token()).status == 200)
        }
    }

    @Test("of a tester is that of nobody else under the rule: but for text a UUID is the same in either letter case")
    func testers() throws {
        let access = SandboxAccess.testers([Self.four.uppercased(), "alice"])
        for rule in AccountIDRule.allCases {
            let includes = [Self.four, Self.four.uppercased(), "alice", "Alice", Self.five].map { id in
                rule.account(id).map(access.includes)
            }
            switch rule {
            case .auto: #expect(includes == [true, true, true, false, false])
            case .uuid: #expect(includes == [true, true, nil, nil, false])
            case .text: #expect(includes == [false, true, true, false, false])
            }
        }
        #expect(access.includes(AccountIdentity(token: AccountToken.hash(of: "alice"))))
        #expect(!access.includes(AccountIdentity(token: AccountToken.hash(of: "bob"))))
    }
}

extension RunningAPI {
    /// Makes the database go by a rule, and this API with it.
    fileprivate func set(_ rule: AccountIDRule) async throws {
        try await observer.query(
            "update storehook.account_ids set rule = \(rule.rawValue), named_at = now(), named_by = 'test'")
        try await ids.refresh()
    }
}
