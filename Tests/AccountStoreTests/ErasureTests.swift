import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// What is forgotten of a person, and what stays.
struct ErasureTests {
    private static let why = "Heidi Roth <heidi@example.org> asked for it by phone"

    /// The tables in which a text stands.
    private func tables(with text: String, _ database: AccountDatabase) async throws -> [String] {
        let all = try await database.pool.query(
            """
            select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = 'storehook' and c.relkind = 'r' order by 1
            """
        ).map { try $0.decode(0, as: String.self) }
        var found: [String] = []
        for table in all {
            let count: Int64 = try await database.value(
                "select count(*) from storehook.\(unescaped: table) t where t::text ilike \("%\(text)%")")
            if count > 0 { found.append(table) }
        }
        return found
    }

    @Test func `Nothing names an erased person any more, and acts stay with what they changed`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: -5, to: 25, account: token(2)),
            ])
            let pipeline = database.pipeline
            _ = try await pipeline.act(.extend(days: 3), for: account(1), by: "kim@desk", why: Self.why)
            _ = try await pipeline.act(.grant(tier: "premium", days: 9), for: account(1), by: "sam@desk", why: Self.why)
            _ = try await pipeline.act(.grant(tier: "premium", days: 9), for: account(2), by: "sam@desk", why: "a gift")
            _ = try await pipeline.move(purchase(1), to: account(3), by: "sam@desk", why: Self.why)
            _ = try await pipeline.move(
                purchase(2), to: account(1), by: "sam@desk", why: "hers, says heidi@example.org")
            let shown = try #require(try await database.store.history(of: token(1), in: "Production"))
            #expect(shown.acts.map(\.why) == [Self.why, Self.why] && shown.acts.map(\.person).first == "kim@desk")
            try await database.pool.query(
                """
                insert into storehook.usage_counters (token, feature, period, starts_on, used)
                select t, 'words', 'total', '-infinity', 2 from unnest(\([UUID(token(1)), UUID(token(2))])) as t
                """)
            try await database.pool.query(
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                values (\(name(1)), \(UUID(token(1))), true, 'Dear Heidi, may we?', 'kim@desk')
                """)
            #expect(
                try await tables(with: "heidi", database) == ["audit_texts", "consent_texts", "staff_texts"],
                "what people wrote stands in rows of its own")

            let erased = try #require(try await pipeline.erase(account(1), by: "staff"))
            #expect(erased.purchasesFreed == 1 && erased.nameForgotten && erased.usageForgotten == 1)
            #expect(erased.consentsForgotten == 1 && erased.textsForgotten == 4)
            #expect(erased.actsKept == 2 && erased.purchasesKept == 2 && erased.consentsKept == 0)
            #expect(try await tables(with: "heidi", database).isEmpty)
            #expect(try await tables(with: name(1), database).isEmpty)
            #expect(try await tables(with: "kim@desk", database) == ["audit"], "the audit keeps the actor")
            let emptied = try #require(try await database.store.history(of: token(1), in: "Production"))
            #expect(emptied.acts.map(\.act) == shown.acts.map(\.act))
            #expect(emptied.acts.allSatisfy { $0.person == nil && $0.why == nil })
            // Others keep theirs.
            #expect(try await database.store.history(of: token(2), in: "Production")?.acts.map(\.why) == ["a gift"])
            #expect(try await database.value("select count(*) from storehook.usage_counters", as: Int64.self) == 1)
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `Who never bought is forgotten, too, and who is not known cannot be`() async throws {
        try await AccountDatabase.with { database in
            for isApplied in [false, true] {
                if isApplied { _ = try await database.store.apply(Shop.catalog(), by: "test") }
                for table in ["usage_counters", "consumption_consents", "purchase_attempts", "account_profiles"] {
                    let person = "\(table) \(isApplied)"
                    let account = UUID(AccountToken.of(person))
                    switch table {
                    case "usage_counters":
                        try await database.pool.query(
                            """
                            insert into storehook.usage_counters (token, feature, period, starts_on, used)
                            values (\(account), 'words', 'total', '-infinity', 2)
                            """)
                    case "consumption_consents":
                        try await database.pool.query(
                            """
                            insert into storehook.consumption_consents
                                   (account, app_account_token, granted, recorded_by)
                            values (\(person), \(account), false, 'app')
                            """)
                    case "account_profiles":
                        _ = try await database.store.put(
                            AccountProfile(name: person, mail: person), for: AccountToken.of(person))
                    default:
                        try await database.store.record(
                            PurchaseAttempt(
                                account: AccountToken.of(person), productID: "basic", kind: .purchase,
                                outcome: .failed, reason: person))
                    }
                    #expect(
                        try await database.pipeline.erase(AccountIdentity(named: person), by: "staff") != nil,
                        "\(person)")
                    #expect(try await tables(with: person, database).isEmpty)
                    #expect(
                        try await database.value("select count(*) from storehook.\(unescaped: table)", as: Int64.self)
                            == 0)
                }
                #expect(try await database.pipeline.erase("nobody", by: "staff") == nil)
            }
        }
    }

    @Test func `Before the first catalog, too, what staff wrote about a purchase is taken out`() async throws {
        try await AccountDatabase.with { database in
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))])
            _ = try await database.pipeline.move(purchase(1), to: account(2), by: "sam@desk", why: Self.why)
            #expect(try await tables(with: "heidi", database) == ["audit_texts", "staff_texts"])
            #expect(try await database.pipeline.erase(account(2), by: "staff")?.textsForgotten == 1)
            #expect(try await tables(with: "heidi", database).isEmpty)
        }
    }
}
