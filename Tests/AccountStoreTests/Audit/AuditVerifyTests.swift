import AccountStore
import Accounts
import AuditStore
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// What the owner of the schema could do to the audit, and what verifying says of it.
struct AuditVerifyTests {
    /// A chain of six: a catalog, and five grants.
    private func written(_ body: (AccountDatabase, AuditLog) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "cli:test")
            for number in 1...5 {
                _ = try await database.pipeline.act(
                    .grant(tier: "premium", days: Int64(number)), for: account(number), by: "cli:anna",
                    why: "reason \(number)")
            }
            let log = AuditLog(database.pool)
            #expect(try await log.verify().fault == nil)
            try await body(database, log)
        }
    }

    /// What the owner does, and the first row that is wrong then.
    private struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: AuditFault
        let script: String

        init(_ what: String, _ fault: AuditFault, _ script: String) {
            (testDescription, self.fault, self.script) = (what, fault, script)
        }

        /// A row's hash as the database would write it.
        static func rehash(_ place: Int) -> String {
            "; update storehook.audit a set hash = sha256(storehook.audit_bytes(a)) where place = \(place)"
        }
        /// Without what keeps such a place out in the first place.
        static let free = "alter table storehook.audit drop constraint audit_place_check; "
    }

    private static let forgeries = [
        Forgery("a word is changed", .changed(3), "update storehook.audit set actor = 'cli:sam' where place = 3"),
        Forgery("what was before is changed", .changed(3), "update storehook.audit set before = null where place = 3"),
        Forgery(
            "a microsecond is added", .changed(3),
            "update storehook.audit set at = at + interval '1 microsecond' where place = 3"),
        Forgery(
            "the digest of a text is changed", .changed(3),
            "update storehook.audit set text_digest = sha256('x') where place = 3"),
        Forgery(
            "a row is changed with its hash", .replaced(3),
            "update storehook.audit set actor = 'cli:sam' where place = 3" + Forgery.rehash(3)),
        Forgery(
            "the last row is changed with its hash", .replaced(6),
            "update storehook.audit set actor = 'cli:sam' where place = 6" + Forgery.rehash(6)),
        Forgery(
            "the first row names one before it", .changed(1),
            "update storehook.audit set previous = sha256('x') where place = 1" + Forgery.rehash(1)),
        Forgery("a row is taken out", .missing(3, through: 3), "delete from storehook.audit where place = 3"),
        Forgery("two are", .missing(3, through: 4), "delete from storehook.audit where place in (3, 4)"),
        Forgery("the first is", .missing(1, through: 1), "delete from storehook.audit where place = 1"),
        Forgery(
            "one is taken out, and the others move up", .reordered(3, writtenAt: 4),
            Forgery.free
                + """
                delete from storehook.audit where place = 3; update storehook.audit set place = -place where place > 3;
                update storehook.audit set place = -place - 1 where place < 0
                """),
        Forgery("the tail is cut", .cut(after: 4, through: 6), "delete from storehook.audit where place > 4"),
        Forgery(
            "two change places", .reordered(3, writtenAt: 5),
            Forgery.free
                + """
                update storehook.audit set place = -place where place in (3, 5);
                update storehook.audit set place = 8 + place where place < 0
                """),
        Forgery("a text is changed", .textChanged(3), "update storehook.audit_texts set body = '{}' where place = 3"),
        Forgery(
            "a text gets another salt", .textChanged(3),
            "update storehook.audit_texts set salt = sha256('x') where place = 3"),
        Forgery("a text is taken away", .textLost(3), "delete from storehook.audit_texts where place = 3"),
        Forgery(
            "a row without a text gets one", .textChanged(1),
            "insert into storehook.audit_texts (place, salt, body) values (1, sha256('x'), '{}')"),
        Forgery(
            "a row is added by hand", .added(7),
            """
            insert into storehook.audit select 7, at, actor, role, act, environment, app, subject_kind, subject, before, after, record,
                   login, null, hash, hash from storehook.audit where place = 6
            """),
    ]

    @Test(arguments: forgeries)
    private func `The first row that is wrong is named`(forgery: Forgery) async throws {
        try await written { database, log in
            try await database.pool.withTransaction { try $0.executeScript(forgery.script) }
            let found = try await log.verify()
            #expect(found.fault == forgery.fault)
            #expect(found.fault.map { "\($0)".contains("\($0.place)") || $0.place > 4 } == true)
        }
    }

    @Test func `An export names what was cut off or written anew, also where the owner mended the end`() async throws {
        try await written { database, log in
            let exported = try await log.rows(after: 0, through: .max).map { AuditMark(place: $0.place, hash: $0.hash) }
            func verify() async throws -> AuditVerification {
                var rest = exported[...]
                return try await log.verify { rest.popFirst() }
            }
            let whole = try await verify()
            #expect(whole.fault == nil && whole.export == exported.last)
            _ = try await database.pipeline.act(.revoke, for: account(1), by: "cli:anna", why: "why")
            #expect(try await verify().fault == nil, "it has grown since")
            try await database.pool.withTransaction { session in
                try session.executeScript(
                    """
                    delete from storehook.audit where place > 4;
                    update storehook.audit_tail t set place = 4, hash = a.hash from storehook.audit a where a.place = 4
                    """)
            }
            #expect(try await log.verify().fault == nil, "by itself it shows nothing")
            #expect(try await verify().fault == .cut(after: 4, through: 6))
            try await database.pool.withTransaction { session in
                try session.executeScript(
                    """
                    update storehook.audit a set actor = 'cli:sam' where place = 4;
                    update storehook.audit a set hash = sha256(storehook.audit_bytes(a)) where place = 4;
                    update storehook.audit_tail t set hash = a.hash from storehook.audit a where a.place = 4
                    """)
            }
            #expect(try await log.verify().fault == nil)
            #expect(try await verify().fault == .exportedOtherwise(4))
        }
    }

    @Test func `The last rows alone are verified from where they begin`() async throws {
        try await written { database, log in
            #expect(try await log.verify(last: 2).count == 2)
            #expect(try await log.verify(last: 100).count == 6)
            try await database.pool.query("update storehook.audit set actor = 'cli:sam' where place = 2")
            #expect(try await log.verify(last: 3).fault == nil, "it is not among them")
            #expect(try await log.verify(last: 5).fault == .changed(2))
            try await database.pool.query("update storehook.audit set hash = sha256('x') where place = 4")
            #expect(try await log.verify(last: 2).fault == .replaced(4))
        }
    }

    @Test func `An erasure empties what is about the person and her purchases, and breaks no chain`() async throws {
        try await AccountDatabase.with { database in
            let log = AuditLog(database.pool)
            _ = try await database.store.apply(Shop.catalog(), by: "cli:test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: -5, to: 25, account: token(2)),
            ])
            _ = try await database.pipeline.act(.extend(days: 3), for: account(1), by: "cli:anna", why: "she asked")
            _ = try await database.pipeline.act(.extend(days: 3), for: account(2), by: "cli:anna", why: "he asked")
            // Of a purchase that was hers, between two others.
            _ = try await database.pipeline.move(purchase(1), to: account(3), by: "cli:sam", why: "hers before")
            _ = try await database.pipeline.move(purchase(1), to: account(4), by: "cli:sam", why: "once more")
            let before = try await log.rows(after: 0, through: .max)
            _ = try await database.pipeline.erase(account(1), by: "cli:kim")
            let found = try await log.verify()
            #expect(found.fault == nil && found.last.place == 6)
            #expect(found.erased == [2...2, 4...5] && found.erasedCount == 3)
            let after = try await log.rows(after: 0, through: .max)
            #expect(after.dropLast().map(\.hash) == before.map(\.hash))
            #expect(after[2].text.members["why"] == "he asked")
            let kept: Int64 = try await database.value(
                "select count(*) from storehook.audit_texts where erased_at is not null and (salt is not null or body is not null)"
            )
            #expect(kept == 0, "with the salt, the digest would still prove what the text was")
            // Erasing a text without a record of it is found: the row does not match the audit.
            try await database.pool.query("delete from storehook.audit_texts where place = 2")
            #expect(try await log.verify().fault == .textLost(2))
        }
    }
}
