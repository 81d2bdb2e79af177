import AccountStore
import Accounts
import AppStorePayloads
import AuditStore
import Base
import Foundation
import Pipeline
import Postgres
import Schema
import Subscriptions
import TestSupport
import Testing

/// Each act of staff is in the audit, once, in the order of commits, as the act's own transaction leaves it.
struct AuditActTests {
    private func prepared(_ body: (AccountDatabase, AuditLog) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "cli:test")
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))])
            try await body(database, AuditLog(database.pool))
        }
    }

    @Test func `Every act for an account has its actor, time, reason, before and after on record`() async throws {
        try await prepared { database, log in
            let acts: [(StaffAct.Kind, String, String, String)] = [
                (.changeTier(to: "premium"), "change_tier", "pro", "premium"),
                (.extend(days: 5), "extend", "premium", "premium"),
                (.revoke, "revoke", "premium", "free"), (.unrevoke, "unrevoke", "free", "premium"),
                (.grant(tier: "premium", days: 9), "grant", "premium", "premium"),
            ]
            for (kind, name, before, after) in acts {
                let done = try await database.pipeline.act(kind, for: account(1), by: "cli:anna", why: "asked for it")
                let row = try #require(try await log.rows(after: 0, through: .max).last)
                #expect(row.actor == "cli:anna" && row.role == "admin" && row.act == name && !row.isProven)
                #expect(row.subjectKind == "account" && row.subject == "\(token(1))" && row.environment == "Production")
                #expect(try Self.member("tier", of: row.before) == before, "\(name)")
                #expect(try Self.member("tier", of: row.after) == after, "\(name)")
                #expect(try Self.member("status", of: row.after) == done.after.status.rawValue)
                #expect(row.text.members == ["account": name1, "why": "asked for it"])
                #expect(row.record == "staff_acts:\(done.act.id)")
                #expect(row.at.millisecondsSince1970 >= done.act.at.millisecondsSince1970)
                #expect(row.login != "-" && !row.login.isEmpty)
            }
            let grant = try #require(try await log.rows(after: 0, through: .max).last)
            #expect(try Self.member("given_tier", of: grant.after) == "premium")
            #expect(grant.after?.contains(#""given_days": 9"#) == true)
            #expect(try await log.verify().fault == nil)
        }
    }

    private let name1 = name(1)

    private static func member(_ name: String, of json: String?) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(try #require(json).utf8)) as? [String: Any]
        return object?[name] as? String
    }

    @Test func `A move, a consent by staff, an erasure and a catalog are on record, and what customers do is not`()
        async throws
    {
        try await prepared { database, log in
            #expect(try await log.rows(after: 0, through: .max).map(\.act) == ["apply_catalog"])
            _ = try await database.pipeline.move(purchase(1), to: account(2), by: "cli:sam", why: "hers")
            let move = try #require(try await log.rows(after: 1, through: .max).first)
            #expect(move.act == "move" && move.app == Shop.app && move.environment == "Production")
            #expect(move.subjectKind == "purchase" && move.subject == purchase(1).originalTransactionID)
            #expect(try Self.member("account_token", of: move.before) == "\(token(1))")
            #expect(try Self.member("account_token", of: move.after) == "\(token(2))")
            for person in ["the app", "server key 7", "cli:sam"] {
                try await database.pool.query(
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                    values (\(name(2)), \(UUID(token(2))), false, \(person))
                    """)
            }
            _ = try await database.pipeline.erase(account(2), by: "cli:kim")
            let acts = try await log.rows(after: 2, through: .max)
            #expect(
                acts.map(\.act) == ["withdraw_consent", "erase_account"] && acts.map(\.actor) == ["cli:sam", "cli:kim"])
            #expect(acts.first?.before == #"{"granted": false}"#)
            #expect(try await log.verify().fault == nil)
        }
    }

    @Test func `An act that is refused or rolled back leaves no row, and no gap`() async throws {
        try await prepared { database, log in
            await #expect(throws: ActRefusal.self) {
                try await database.pipeline.act(.unrevoke, for: account(1), by: "cli:anna", why: "why")
            }
            await #expect(throws: PostgresError.self) {
                try await database.pool.withTransaction { session in
                    try session.query(Self.act)
                    try session.query("select 1 / 0")
                }
            }
            _ = try await database.pool.query(Self.act)
            #expect(try await log.rows(after: 0, through: .max).map(\.place) == [1, 2])
            let tail = try await log.tail()
            #expect(try await log.verify().last == tail)
        }
    }

    /// As an earlier release writes it.
    private static let act: PostgresQuery = """
        insert into storehook.staff_acts (token, kind, recorded_by, why)
        values ('00000000-0000-4000-8000-000000000001', 'revoke', 'sam@desk', 'fraud')
        """

    @Test func `An act of an earlier release is on record without what it does not know`() async throws {
        try await prepared { database, log in
            _ = try await database.pool.query(Self.act)
            let row = try #require(try await log.rows(after: 1, through: .max).first)
            #expect(row.actor == "cli:sam@desk" && row.before == nil && row.after == "{}")
            #expect(row.text.members == ["why": "fraud"])
        }
    }

    @Test func `A name makes no member of the staff`() async throws {
        try await prepared { database, log in
            _ = try await database.pipeline.act(.revoke, for: account(1), by: "staff:1", why: "why")
            let row = try #require(try await log.rows(after: 1, through: .max).first)
            #expect(row.actor == "cli:staff:1" && !row.isProven)
        }
    }

    @Test func `A transaction that has acted and not committed holds no other up`() async throws {
        try await prepared { database, log in
            let held = try await HeldTransaction(in: database.database, Self.act)
            let done = try await database.pipeline.act(.revoke, for: account(1), by: "cli:anna", why: "why")
            #expect(try await log.rows(after: 1, through: .max).map(\.record) == ["staff_acts:\(done.act.id)"])
            try await held.release()
            #expect(try await log.rows(after: 2, through: .max).map(\.actor) == ["cli:sam@desk"])
            #expect(try await log.verify().fault == nil)
        }
    }

    @Test func `Eight acts at once are in one order without a gap`() async throws {
        try await prepared { database, log in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 1...8 {
                    group.addTask {
                        for number in 1...25 {
                            _ = try await database.pipeline.act(
                                .grant(tier: "premium", days: Int64(number)), for: account(writer), by: "cli:\(writer)",
                                why: "why")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let found = try await log.verify()
            #expect(found.fault == nil && found.count == 201 && found.last.place == 201)
            let records: Int64 = try await database.value("select count(distinct record) from storehook.audit")
            #expect(records == 201)
            #expect(try await database.value("select count(*) from storehook.audit_drafts", as: Int64.self) == 0)
        }
    }

    @Test func `The database and the program compute the same hash of every text`() async throws {
        try await prepared { database, log in
            for text in ["ä€😀", "a:b-7:", "-", "\u{1}\n\"\\"] {
                _ = try await database.pipeline.act(
                    .grant(tier: "premium", days: 1), for: account(1), by: "cli:\(text)", why: text)
            }
            for row in try await log.rows(after: 0, through: .max) {
                let bytes: [UInt8] = try await database.value(
                    "select storehook.audit_bytes(a) from storehook.audit a where place = \(row.place)")
                #expect(bytes == row.bytes() && row.computedHash() == row.hash)
            }
        }
    }
}
