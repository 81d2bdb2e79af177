import AccountStore
import AuditStore
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// Members of the staff and their tokens.
struct StaffMemberTests {
    private func staffed(_ body: (AccountDatabase, StaffMembers, AuditLog) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            try await body(database, StaffMembers(database.pool), AuditLog(database.pool))
        }
    }

    @Test func `A member is added once, changed, and removed with all tokens, each on record`() async throws {
        try await staffed { database, staff, log in
            let (kim, isNew) = try await staff.add(
                "Kim@example.com", as: .support, of: ["b", "a", "a"], by: "cli:anna")
            #expect(isNew && kim.role == .support && kim.apps == ["a", "b"] && kim.scope == .some(["a", "b"]))
            let (changed, isNewToo) = try await staff.add("kim@EXAMPLE.com", as: .admin, of: nil, by: "cli:sam")
            #expect(!isNewToo && changed.id == kim.id && changed.role == .admin && changed.scope == .all)
            let (first, second) = (StaffSecret(), StaffSecret())
            let token = try #require(try await staff.addToken(first, for: "KIM@example.com", days: 30, by: "cli:anna"))
            _ = try await staff.addToken(second, for: "kim@example.com", days: 30, by: "cli:anna")
            #expect(try await staff.holder(of: first)?.id == kim.id)
            #expect(try await staff.holder(of: second)?.id == kim.id)
            #expect(try await staff.holder(of: StaffSecret()) == nil)
            #expect(try await staff.list(withRemoved: false).map(\.validTokens) == [2])
            _ = try await staff.revokeToken(token.id, of: "kim@example.com", by: "cli:sam")
            let again = try #require(try await staff.revokeToken(token.id, of: "kim@example.com", by: "cli:anna"))
            #expect(again.revokedBy == "cli:sam")
            #expect(try await staff.holder(of: first) == nil)
            #expect(try await staff.remove("kim@example.com", by: "cli:sam")?.removedBy == "cli:sam")
            #expect(try await staff.holder(of: second) == nil)
            #expect(try await staff.remove("kim@example.com", by: "cli:sam") == nil)
            #expect(try await staff.addToken(StaffSecret(), for: "kim@example.com", days: 1, by: "cli:sam") == nil)
            #expect(try await staff.list(withRemoved: false).isEmpty)
            #expect(try await staff.list(withRemoved: true).count == 1)
            let (back, _) = try await staff.add("kim@example.com", as: .viewer, of: nil, by: "cli:sam")
            #expect(back.id != kim.id, "another member with another number")
            #expect(try await staff.holder(of: second) == nil)
            let rows = try await log.rows(after: 0, through: .max)
            #expect(
                rows.map(\.act) == [
                    "add_staff", "change_staff", "add_staff_token", "add_staff_token", "revoke_staff_token",
                    "remove_staff",
                    "add_staff",
                ])
            #expect(rows.map(\.actor).prefix(3) == ["cli:anna", "cli:sam", "cli:anna"])
            #expect(rows[1].before == #"{"apps": ["a", "b"], "role": "support"}"#)
            #expect(rows[1].after == #"{"apps": null, "role": "admin"}"#)
            #expect(rows.allSatisfy { $0.subjectKind == "staff" } && rows[0].subject == "\(kim.id)")
            #expect(rows[0].text.members == ["mail": "Kim@example.com"])
            #expect(try await log.verify().fault == nil)
        }
    }

    @Test func `A token expires, and only its digest is stored`() async throws {
        try await staffed { database, staff, _ in
            _ = try await staff.add("kim@example.com", as: .viewer, of: nil, by: "cli:anna")
            let secret = StaffSecret()
            _ = try await staff.addToken(secret, for: "kim@example.com", days: 1, by: "cli:anna")
            #expect(try await staff.holder(of: secret) != nil)
            let stored: Int64 = try await database.value(
                "select count(*) from storehook.staff_tokens t where t::text like \("%\(secret.text)%")")
            #expect(stored == 0)
            #expect(
                secret.text.hasPrefix("sht_") && StaffSecret(secret.text) == secret && ServerKey(secret.text) == nil)
            #expect("\(secret)" == "sht_…")
            try await database.pool.query(
                "update storehook.staff_tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 second'"
            )
            #expect(try await staff.holder(of: secret) == nil)
            #expect(try await staff.list(withRemoved: false).map(\.validTokens) == [0])
        }
    }

    @Test func `What was not shown is not recorded`() async throws {
        struct NotShown: Error {}
        try await staffed { _, staff, log in
            _ = try await staff.add("kim@example.com", as: .viewer, of: nil, by: "cli:anna")
            let secret = StaffSecret()
            await #expect(throws: NotShown.self) {
                try await staff.addToken(secret, for: "kim@example.com", days: 1, by: "cli:anna") { _, _ in
                    throw NotShown()
                }
            }
            #expect(try await staff.holder(of: secret) == nil)
            #expect(try await staff.tokens(of: "kim@example.com").isEmpty)
            #expect(try await log.tail().place == 1)
        }
    }

    @Test func `A token that is made while its holder is removed is not valid`() async throws {
        try await staffed { database, staff, _ in
            _ = try await staff.add("kim@example.com", as: .viewer, of: nil, by: "cli:anna")
            let held = try await HeldTransaction(
                in: database.database,
                """
                with removed as (
                    update storehook.staff_members set removed_at = now(), removed_by = 'cli:sam' returning id
                )
                update storehook.staff_tokens set revoked_at = now(), revoked_by = 'cli:sam' where member_id in (select id from removed)
                """)
            let secret = StaffSecret()
            async let made = staff.addToken(secret, for: "kim@example.com", days: 1, by: "cli:anna")
            try await eventually("it waits for the removal") {
                try await database.value(
                    """
                    select count(*) > 0 from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock' and query like '%staff_tokens%'
                    """)
            }
            try await held.release()
            #expect(try await made == nil)
            #expect(try await staff.holder(of: secret) == nil)
        }
    }
}
