import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import EventStore
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Simulation
import Subscriptions
import TestSupport
import Testing

@testable import APIKit

/// What events call an account that was handed its token.
@Suite("An account's name")
struct AccountNameTests {
    /// The kept ids, each with the transaction that wrote it.
    private func kept(_ shop: Shop) async throws -> [String] {
        try await shop.api.observer.query(
            "select account || ' ' || token || ' ' || xmin from storehook.account_names order by 1"
        ).map { try $0.decode(0) }
    }

    private func names(_ shop: Shop) async throws -> [String] {
        try await kept(shop).map { String($0.prefix { $0 != " " }) }
    }

    /// `account` and `appAccountToken` of the last event, as the feed has it.
    private func last(_ shop: Shop) async throws -> [String?] {
        let events = EventStore(shop.api.observer)
        while try await events.place() > 0 {}
        let event = try #require(try await events.latest(1).events.last)
        let object = try JSONDocument(Array(event.json(previousSequence: nil).utf8)).object
        let data = try #require(object?.object("data"))
        return [data.string("account"), data.string("appAccountToken")]
    }

    @Test(
        "is kept with the first answer that has the token, and stands in events about what Apple alone reports; later answers write nothing",
        arguments: AccountIDRule.allCases)
    func kept(_ rule: AccountIDRule) async throws {
        try await Shop.open { shop in
            try await shop.api.observer.query(
                "update storehook.account_ids set rule = \(rule.rawValue), named_at = now(), named_by = 'test'")
            try await shop.api.ids.refresh()
            let id = rule == .uuid ? "6f9619ff-8b86-4011-b42d-00cf4fc964ff" : "alice"
            let token = try #require(rule.account(id)).token
            // What has no token in its answer keeps nothing.
            _ = try await shop.get("/v1/subscriptions/status", as: id)
            #expect(try await kept(shop).isEmpty)
            let before = try await report(shop, lane: 1, token)
            #expect(before == [token.description, token.description])
            for _ in 0..<3 { #expect(try await shop.get("/v1/account", as: id).status == 200) }
            let first = try await kept(shop)
            #expect(first.count == 1 && first[0].hasPrefix("\(id) \(token) "))
            #expect(try await last(shop) == [id, token.description])
            #expect(try await report(shop, lane: 2, token) == [id, token.description])
            _ = try await shop.get("/v1/account?environment=Production", as: id)
            #expect(try await kept(shop) == first)
        }
    }

    /// Applies what Apple posts of a purchase, and answers what the last event calls its account.
    private func report(_ shop: Shop, lane: Int, _ token: UniqueIdentifier) async throws -> [String?] {
        let record = try #require(shop.buy(lane: lane, by: token).notification.transaction?.json)
        let payload = try TransactionPayload.decode(record)
        let entry = LedgerEntry(
            outboxID: Int64(lane), receivedAt: PostgresTimestamp(millisecondsSince1970: shop.now), source: .api,
            environment: "Production", bundleID: SimulatedApp.example.bundleId,
            .transaction(.init(payload, digest: Array(repeating: UInt8(lane), count: 32))))
        let pipeline = EvidencePipeline(shop.api.observer)
        try await shop.api.observer.withTransaction { _ = try pipeline.apply([entry], $0) }
        return try await last(shop)
    }

    @Test("is not kept where a server names the token alone, nor again where the account has it already")
    func known() async throws {
        try await Shop.open { shop in
            let key = try await shop.api.serverKey().key.text
            let token = AccountToken.of("bob").description
            #expect(try await shop.api.get("/v1/account", token: key, [("X-Account-Token", token)]).status == 200)
            #expect(try await names(shop).isEmpty)
            let bought = shop.buy(lane: 3)
            #expect(try await shop.verify(bought.transaction, as: "carl").status == 200)
            #expect(try await shop.get("/v1/account", as: "carl").status == 200)
            #expect(try await names(shop).isEmpty)
            #expect(try await shop.api.get("/v1/account", token: key, [("X-Account-ID", "bob")]).status == 200)
            #expect(try await names(shop) == ["bob"])
        }
    }

    @Test("is written once by many at once, goes with the person, and does not come again by itself")
    func erased() async throws {
        try await Shop.open { shop in
            let account = try #require(AccountIDRule.auto.account("dora"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { _ = try await shop.get("/v1/account", as: "dora") }
                    group.addTask { try await shop.accounts.keepName(of: account) }
                }
                try await group.waitForAll()
            }
            #expect(try await names(shop) == ["dora"])
            let pipeline = EvidencePipeline(shop.api.observer)
            let erased = try await pipeline.erase(account, by: "staff")
            #expect(erased?.nameForgotten == true)
            #expect(try await names(shop).isEmpty)
            // A device that is still signed in goes on asking.
            #expect(try await shop.get("/v1/account", as: "dora").status == 200)
            try await shop.accounts.keepName(of: account)
            #expect(try await names(shop).isEmpty)
            let key = AccountStore.ViewKey(account.token, in: "Production", askingForName: true)
            #expect(try await shop.accounts.views([key]).first?.isNamed == true)
        }
    }

    @Test("goes with the rule by which it has its token, and is not kept while that is being changed")
    func rule() async throws {
        try await Shop.open { shop in
            let four = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
            for id in ["emil", four] { _ = try await shop.get("/v1/account", as: id) }
            let ids = AccountIDs(shop.api.observer)
            #expect(try await ids.change(to: .uuid, by: nil, listing: 9).first.map(\.id) == ["emil"])
            let change = try await ids.change(to: .uuid, by: "test", listing: 9)
            #expect(change.count == 1 && change.isDone)
            #expect(try await names(shop) == [four])
            // An instance that goes by the rule of before writes nothing.
            try await shop.accounts.keepName(of: try #require(AccountIDRule.auto.account("emil")))
            #expect(try await names(shop) == [four])
            #expect(try await ids.misnamed(under: .text, most: 9) == [four])
            let other = try #require(AccountIDRule.uuid.account("6f9619ff-8b86-4011-b42d-00cf4fc964fe"))
            let held = try await HeldTransaction(
                in: shop.api.database, "select 1 from storehook.account_ids for update")
            try await shop.accounts.keepName(of: other)
            try await held.release()
            #expect(try await names(shop) == [four])
            try await shop.accounts.keepName(of: other)
            #expect(try await names(shop).count == 2)
        }
    }

    @Test("is no reason to refuse an answer where nothing can be written")
    func readOnly() async throws {
        try await Shop.open { shop in
            try await shop.api.observer.query(
                """
                create function public.refuse() returns trigger language plpgsql as $$
                begin raise exception 'read only' using errcode = 'read_only_sql_transaction'; end $$
                """)
            try await shop.api.observer.query(
                "create trigger refuse before insert on storehook.account_names for each row execute function public.refuse()"
            )
            #expect(try await shop.get("/v1/account", as: "fred").status == 200)
            #expect(try await names(shop).isEmpty)
        }
    }
}
