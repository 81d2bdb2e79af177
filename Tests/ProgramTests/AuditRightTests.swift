import AuditStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The audit, whatever role a program has", .serialized)
struct AuditRightTests {
    private static let roles = ["receiver", "worker", "ops", "monitor", "api"]

    /// Ways to change, remove, reorder or forge rows, to hold up transactions that append, and to keep an act out.
    private static let attacks = [
        "update storehook.audit set actor = 'cli:nobody'", "update storehook.audit set place = place + 100",
        "delete from storehook.audit", "truncate storehook.audit", "drop table storehook.audit",
        "insert into storehook.audit select * from storehook.audit",
        "insert into storehook.audit_drafts (actor, role, act, subject_kind, subject) values ('staff:1', 'admin', 'x', 'x', 'x')",
        "update storehook.audit_texts set body = '{}'", "delete from storehook.audit_texts",
        "insert into storehook.audit_texts (place, salt, body) values (9, sha256('x'), '{}')",
        "truncate storehook.audit_texts",
        "update storehook.audit_tail set place = 0", "delete from storehook.audit_tail",
        "select * from storehook.audit_tail for update", "lock table storehook.audit in access exclusive mode",
        "lock table storehook.audit_tail in share mode",
        "select storehook.append_audit(null, null)", "select storehook.add_audit_draft(null)",
        "alter table storehook.staff_acts disable trigger all", "drop trigger staff_acts_audit on storehook.staff_acts",
        "drop trigger audit_drafts_chain on storehook.audit_drafts",
        "create or replace function storehook.audit_bytes(storehook.audit) returns bytea language sql as 'select null::bytea'",
        "set session_replication_role = replica", "set session authorization postgres",
    ]

    @Test("cannot be changed, cut, reordered or forged", arguments: roles)
    func attacks(role: String) async throws {
        try await withRoles { site in
            try await site.pool.query(
                "insert into storehook.staff_acts (token, kind, recorded_by, why) values (gen_random_uuid(), 'revoke', 'sam', 'fraud')"
            )
            let log = AuditLog(site.pool)
            let rows = try await log.rows(after: 0, through: .max)
            #expect(rows.count == 1)
            try await withUser(in: "storehook_\(role)", site) { user in
                let url = try #require(user["DATABASE_URL"])
                let pool = PostgresPool(configuration: try PostgresConfiguration(url: url), size: 1, logger: quiet)
                for attack in Self.attacks {
                    await #expect(throws: PostgresError.self, "\(attack)") {
                        try await pool.query(PostgresQuery(unescaped: attack, name: "attack"))
                    }
                }
                if role != "ops" {
                    for reading in ["audit", "audit_texts"] {
                        await #expect(throws: PostgresError.self) {
                            try await pool.query("select * from storehook.\(unescaped: reading)")
                        }
                    }
                    await #expect(throws: PostgresError.self) {
                        try await pool.query(
                            "select storehook.note_opened_texts('cli:x', 'x', 1, false, 'audit', 'texts')")
                    }
                }
                await pool.close()
            }
            #expect(try await log.rows(after: 0, through: .max) == rows)
            #expect(try await log.verify().fault == nil)
        }
    }

    @Test("has each act of an operator, and its database user")
    func login() async throws {
        try await withRoles { site in
            try await site.apply(catalog: shopCatalog)
            try await withUser(in: "storehook_ops", site) { user in
                let granted = try await site.run(
                    "grant", "alice", "--tier", "pro", "--days", "3", "--why", "a gift", "--as", "anna", with: user)
                #expect(granted.ending == .exited(0), "\(granted.errors)")
                let listed = try await site.run("audit", "list", "--open", "--as", "kim", with: user)
                #expect(listed.ending == .exited(0) && listed.output.contains("a gift"), "\(listed.errors)")
                for command in [["verify"], ["export"]] {
                    let program = try site.start(["audit"] + command, user)
                    #expect(await program.end() == .exited(0), "\(program.errors)")
                    await program.discard()
                }
            }
            let rows = try await AuditLog(site.pool).rows(after: 1, through: .max)
            #expect(
                rows.map(\.act) == ["grant", "open_personal_text"] && rows.map(\.actor) == ["cli:anna", "cli:kim"])
            #expect(rows.allSatisfy { $0.login == "\(site.database.name)_user" })
        }
    }
}
