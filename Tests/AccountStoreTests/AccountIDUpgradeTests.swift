import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Schema
import TestSupport
import Testing

/// The rule of account ids in a database that had accounts before it had a rule.
struct AccountIDUpgradeTests {
    private static let before = TestTemplate.migrated(by: Schema.migrations.filter { $0.version < 47 })

    @Test(arguments: ["nothing", "tokens", "names", "four", "five", "FIVE", "consent", "consent of five"])
    func `A database of before has the rule auto, unless an account's id is a version 5 UUID and its own token`(
        what: String
    ) async throws {
        try await withTestDatabase(from: Self.before) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            func account(_ token: String, _ id: String?) async throws {
                try await pool.query(
                    "insert into storehook.accounts (token, account) values (\(UUID(uuidString: token)), \(id))")
            }
            func consent(_ token: String, _ id: String) async throws {
                try await pool.query(
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                    values (\(id), \(UUID(uuidString: token)), false, 'test')
                    """)
            }
            switch what {
            case "tokens": for token in [AccountIDTests.four, AccountIDTests.five] { try await account(token, nil) }
            case "names": try await account(AccountToken.of("ann").description, "ann")
            case "four": try await account(AccountIDTests.four, AccountIDTests.four)
            case "five": try await account(AccountIDTests.five, AccountIDTests.five)
            case "FIVE": try await account(AccountIDTests.five, AccountIDTests.five.uppercased())
            case "consent": try await consent(AccountToken.of("ann").description, "ann")
            case "consent of five": try await consent(AccountIDTests.five, AccountIDTests.five)
            default: break
            }
            _ = try await Migrator(migrations: Schema.migrations).migrate(on: pool)
            let ids = AccountIDs(pool)
            let standing = try await ids.standing()
            let isOpen = what.lowercased().hasSuffix("five")
            #expect(standing.rule == (isOpen ? nil : .auto))
            #expect((standing.namedAt == nil) == (isOpen || what == "nothing" || what == "tokens"))
            if isOpen {
                for setting in AccountIDRule.allCases.map(Optional.some) + [nil] {
                    await #expect(throws: AccountIDRefusal.unnamed) { try await ids.rule(setting: setting) }
                }
                // Whose account this id names is not known; every other id names the account that it named before.
                await #expect(throws: PostgresError.self) {
                    try await pool.query("select storehook.has_access_of(\(AccountIDTests.five), 'x')")
                }
                let ann: UUID = try await pool.query("select storehook.account_token('ann')").one().decode(0)
                #expect(UniqueIdentifier(ann) == AccountToken.of("ann"))
                // The operator says that they are UUIDs, and nothing changes.
                let change = try await ids.change(to: .uuid, by: "test", listing: 10)
                #expect(change.count == 0 && change.isDone && change.before == nil)
                #expect(try await ids.rule(setting: nil) == .uuid)
            }
            await pool.close()
        }
    }
}
