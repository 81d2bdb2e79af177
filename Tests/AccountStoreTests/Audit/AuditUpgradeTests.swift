import AuditStore
import Base
import Foundation
import Postgres
import Schema
import TestSupport
import Testing

/// What staff did before there was an audit.
struct AuditUpgradeTests {
    private static let before = TestTemplate.migrated(by: Schema.migrations.filter { $0.version < 62 })

    @Test func `Acts, moves, consents and erasures of before are taken in, in the order in which they were done`()
        async throws
    {
        try await withTestDatabase(from: Self.before) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            let (one, two) = (UUID(token(1)), UUID(token(2)))
            try await pool.query(
                "insert into storehook.accounts (token, account) values (\(one), 'ann@example.org'), (\(two), 'bob')")
            try await pool.query(
                """
                insert into storehook.staff_acts (token, kind, tier, days, at, recorded_by, why)
                values (\(one), 'grant', 'pro', 3, '2026-01-01T00:00:04Z', 'sam@desk', 'the fourth'),
                       (\(two), 'revoke', null, null, '2026-01-01T00:00:01Z', 'sam@desk', 'the first')
                """)
            try await pool.query(
                """
                insert into storehook.purchase_bindings
                       (original_transaction_id, bundle_id, environment, kind, token, at, recorded_by, why)
                values ('1', 'com.example.app', 'Production', 'staff', \(two), '2026-01-01T00:00:02Z', 'kim@desk', 'the second'),
                       ('2', 'com.example.app', 'Production', 'proof', \(two), '2026-01-01T00:00:02Z', null, null)
                """)
            try await pool.query(
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_at, recorded_by)
                values ('ann@example.org', \(one), true, 'yes', '2026-01-01T00:00:03Z', 'kim@desk'),
                       ('ann@example.org', \(one), true, 'yes', '2026-01-01T00:00:03Z', 'the app'),
                       ('ann@example.org', \(one), true, 'yes', '2026-01-01T00:00:03Z', 'server key 3')
                """)
            try await pool.query(
                "update storehook.accounts set erased_at = '2026-01-01T00:00:05Z', account = null where token = \(two)")
            _ = try await Migrator(migrations: Schema.migrations).migrate(on: pool)
            let log = AuditLog(pool)
            let rows = try await log.rows(after: 0, through: .max)
            #expect(rows.map(\.act) == ["revoke", "move", "record_consent", "grant", "erase_account"])
            #expect(rows.map(\.actor) == ["cli:sam@desk", "cli:kim@desk", "cli:kim@desk", "cli:sam@desk", "cli:-"])
            #expect(rows.map { $0.at.millisecondsSince1970 % 60_000 } == [1000, 2000, 3000, 4000, 5000])
            #expect(rows[3].text.members == ["account": "ann@example.org", "why": "the fourth"])
            #expect(rows.allSatisfy { $0.login == "-" })
            let found = try await log.verify()
            #expect(found.fault == nil && found.last.place == 5)
            // What follows goes on behind them, later.
            try await pool.query(
                "insert into storehook.staff_acts (token, kind, recorded_by, why) values (\(one), 'revoke', 'sam@desk', 'x')"
            )
            #expect(try await log.rows(after: 5, through: .max).map(\.record) == ["staff_acts:3"])
            #expect(try await log.verify().fault == nil)
            await pool.close()
        }
    }
}
