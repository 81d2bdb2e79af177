import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Schema
import TestSupport
import Testing

/// The rule of account ids, as the database keeps it.
struct AccountIDTests {
    static let four = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
    static let five = "42ca334f-18cb-59e1-9616-a1dca64eb9b4"

    @Test(arguments: AccountIDRule.allCases)
    func `SQL and Swift name one token for an id under each rule`(rule: AccountIDRule) async throws {
        try await AccountDatabase.with { database in
            let ids = [
                "", "a", "alice", name(1), "bert.of-the-other-account", "Zoë 名前", String(repeating: "x", count: 39),
                String(repeating: "y", count: 40), String(repeating: "z", count: 47),
                String(repeating: "é", count: 500),
                "6F9619FF-8b86-d011-b42d-00cf4fc964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964f",
                "6f9619ff8b86d011b42d00cf4fc964ff",
                Self.four, Self.five, Self.five.uppercased(), "00000000-0000-5000-0000-000000000001", Self.five + "\n",
                "00000000-0000-0000-0000-000000000000", "token:\(Self.four)", "token:\(Self.five.uppercased())",
                "token:alice",
            ]
            try await database.set(rule)
            for id in ids {
                let token: UUID? = try await database.value("select storehook.account_token(\(id), \(rule.rawValue))")
                #expect(token.map { UniqueIdentifier($0) } == rule.account(id)?.token, "\(id)")
                #expect(try await database.value("select storehook.account_token(\(id))") == token, "\(id)")
                #expect(try await database.value("select storehook.has_access_of(\(id), 'basic')") == false, "\(id)")
            }
        }
    }

    @Test func `SQL gives a login that is called by somebody's token nothing of hers`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))])
            for rule in [AccountIDRule.auto, .text] {
                try await database.set(rule)
                #expect(try await database.value("select storehook.has_access_of(\(name(1)), 'basic')") == true)
                let posing = token(1).description
                #expect(try await database.value("select storehook.has_access_of(\(posing), 'basic')") == false)
            }
        }
    }

    // MARK: Naming it

    @Test
    func
        `Of many programs at once the first one names the rule of a new database, and the others follow or are refused`()
        async throws
    {
        try await AccountDatabase.with { database in
            let settings: [AccountIDRule?] = [.auto, .uuid, .text, nil]
            let found = try await withThrowingTaskGroup(of: (AccountIDRule?, AccountIDRule?).self) { group in
                for number in 0..<40 {
                    let setting = settings[number % 4]
                    group.addTask {
                        do { return (setting, try await AccountIDs(database.pool).rule(setting: setting)) } catch let
                            refusal as AccountIDRefusal
                        {
                            guard case .differs = refusal else { throw refusal }
                            return (setting, nil)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let rule = try #require(try await AccountIDs(database.pool).standing().rule)
            for (setting, answer) in found { #expect(answer == (setting == nil || setting == rule ? rule : nil)) }
            let standing = try await AccountIDs(database.pool).standing()
            #expect(standing.namedAt != nil && standing.namedBy != nil)
        }
    }

    @Test func `Where an account has an id, no program's setting names another rule`() async throws {
        for isConsent in [false, true] {
            try await AccountDatabase.with { database in
                let ids = AccountIDs(database.pool)
                if isConsent {
                    try await database.pool.query(
                        """
                        insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                        values ('ann', \(UUID(AccountToken.of("ann"))), false, 'test')
                        """)
                } else {
                    try await database.pool.query(
                        "insert into storehook.accounts (token, account) values (\(UUID(token(1))), \(name(1)))")
                }
                await #expect(throws: AccountIDRefusal.differs(setting: .uuid, rule: .auto)) {
                    try await ids.rule(setting: .uuid)
                }
                #expect(try await ids.standing().namedAt == nil)
                #expect(try await ids.rule(setting: nil) == .auto)
                #expect(try await ids.standing().namedAt != nil)
            }
        }
    }

    // MARK: Changing it

    /// Accounts and consents of each kind, as programs of before and of now have left them.
    private func fill(_ database: AccountDatabase) async throws {
        try await database.pool.query(
            """
            with n (account, token) as (values
                ('ann', \(UUID(AccountToken.of("ann")))), (\(Self.four), \(UUID(uuidString: Self.four))),
                (\(Self.five), \(UUID(uuidString: Self.five))),
                ('00000000-0000-5000-0000-000000000001', \(UUID(AccountToken.hash(of: "00000000-0000-5000-0000-000000000001")))),
                (null, \(UUID(AccountToken.of("bob")))))
            insert into storehook.accounts (token, account) select token, account from n
            """)
        try await database.pool.query(
            """
            insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
            select c.account, c.token, n % 2 = 0, 'as shown', 'test'
              from (values ('ann', \(UUID(AccountToken.of("ann")))), (\(Self.five), \(UUID(uuidString: Self.five))),
                           ('carl', \(UUID(AccountToken.of("carl")))),
                           -- As a command of before recorded it.
                           (\(Self.four.uppercased()), \(UUID(uuidString: Self.four)))) c (account, token)
             cross join generate_series(1, 3) n
            """)
        _ = try await database.store.apply(Shop.catalog(), by: "test")
        try await database.apply([
            Purchases.period(purchase(1), "basic", from: -5, to: 25, account: UniqueIdentifier(Self.five)),
            Purchases.period(purchase(2), "basic", from: -5, to: 25, account: AccountToken.of("ann")),
        ])
        _ = try await database.pipeline.act(.grant(tier: "premium", days: 3), for: "ann", by: "test", why: "why")
        try await database.pool.query(
            """
            insert into storehook.usage_counters (token, feature, period, starts_on, used)
            select token, 'words', 'total', '-infinity', 2 from storehook.accounts
            """)
    }

    /// Every row of every table, except the actor that changed the rule, in its own table and in the audit; with or without ids.
    private func rows(_ database: AccountDatabase, withIDs: Bool = true) async throws -> [String] {
        let tables = try await database.pool.query(
            """
            select table_name from information_schema.tables
             where table_schema = 'storehook' and table_type = 'BASE TABLE'
               and table_name not in ('account_ids', 'audit_tail') order by 1
            """
        ).map { try $0.decode(0, as: String.self) }
        var rows: [String] = []
        for table in tables {
            rows += try await database.pool.query(
                """
                select '\(unescaped: table) ' || (to_jsonb(t) - \(unescaped: withIDs ? "''" : "'account'"))::text
                  from storehook.\(unescaped: table) t
                 where to_jsonb(t)->>'act' is distinct from 'change_account_ids' order by 1
                """
            ).map { try $0.decode(0) }
        }
        return rows
    }

    private func ids(_ database: AccountDatabase) async throws -> Set<String> {
        Set(
            try await database.pool.query(
                """
                select 'account ' || account || ' ' || token from storehook.accounts where account is not null
                union select 'consent ' || account || ' ' || app_account_token from storehook.consumption_consents
                 where account is not null
                """
            ).map { try $0.decode(0) })
    }

    @Test(arguments: AccountIDRule.allCases)
    func `A change lists whose token changes, takes out those ids, and moves nothing`(rule: AccountIDRule) async throws
    {
        try await AccountDatabase.with { database in
            try await fill(database)
            let strange = "00000000-0000-5000-0000-000000000001"
            let moved: [String: String?] =
                switch rule {
                case .auto: [Self.five: AccountToken.hash(of: Self.five).description]
                case .uuid: ["ann": nil, "carl": nil, strange: strange]
                case .text:
                    [
                        Self.four: AccountToken.hash(of: Self.four).description,
                        Self.four.uppercased(): AccountToken.hash(of: Self.four.uppercased()).description,
                        Self.five: AccountToken.hash(of: Self.five).description,
                    ]
                }
            let store = AccountIDs(database.pool)
            let (before, named) = (try await rows(database), try await ids(database))
            let looked = try await store.change(to: rule, by: nil, listing: 100)
            #expect(!looked.isDone && looked.count == moved.count && !looked.isNone)
            #expect(Dictionary(looked.first.map { ($0.id, $0.newToken?.description) }) { $1 } == moved)
            #expect(try await rows(database) == before)
            #expect(try await store.standing() == AccountIDs.Standing(rule: .auto))
            #expect(try await store.change(to: rule, by: nil, listing: 1).first.count == 1)

            let others = try await rows(database, withIDs: false)
            let done = try await store.change(to: rule, by: "olga", listing: 100)
            #expect(done.isDone && done.count == moved.count && done.first == looked.first)
            #expect(try await rows(database, withIDs: false) == others)
            let left = named.filter { line in !moved.keys.contains { line.contains(" \($0) ") } }
            #expect(try await ids(database) == left && left.count < named.count)
            let recorded: String? = try await database.value(
                "select string_agg(actor || ' ' || after, ',') from storehook.audit where act = 'change_account_ids'")
            #expect(recorded == #"cli:olga {"rule": "\#(rule.rawValue)"}"#)
            let standing = try await store.standing()
            #expect(standing.rule == rule && standing.namedBy == "olga" && standing.namedAt != nil)
            #expect(try await store.change(to: rule, by: nil, listing: 100).isNone)
            #expect(try await store.misnamed(under: rule, most: 9).isEmpty)
            // Whose token changed has nothing of it.
            if rule == .text {
                let account = try #require(rule.account(Self.five))
                #expect(try await database.store.view(account.token, in: "Production").current.status == .free)
                #expect(try await database.value("select storehook.has_access_of(\(Self.five), 'basic')") == false)
                let kept: Bool = try await database.value(
                    "select storehook.has_access(\(UUID(uuidString: Self.five)), 'basic')")
                #expect(kept)
            }
        }
    }

    @Test func `More ids than are read at a time are all found, in accounts and in consents`() async throws {
        try await AccountDatabase.with { database in
            try await database.pool.query(
                """
                with n as (select md5(n::text)::uuid as token, 'person-' || n as account from generate_series(1, 6000) n),
                     a as (insert into storehook.accounts (token, account) select token, account from n)
                insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                select account || '-of-consents', token, false, 'test' from n
                """)
            let ids = AccountIDs(database.pool)
            #expect(try await ids.change(to: .text, by: nil, listing: 0).count == 12_000)
            #expect(try await ids.change(to: .text, by: "test", listing: 0).count == 12_000)
            #expect(try await self.ids(database).isEmpty)
        }
    }

    @Test func `A change that is killed in the middle has changed nothing`() async throws {
        try await AccountDatabase.with { database in
            try await fill(database)
            _ = try await AccountIDs(database.pool).rule(setting: .auto)
            let before = try await rows(database)
            let held = try await HeldTransaction(
                in: database.database,
                "select 1 from storehook.accounts where token = \(UUID(AccountToken.of("ann"))) for update")
            let change = Task { try await AccountIDs(database.pool).change(to: .uuid, by: "test", listing: 9) }
            try await eventually("it waits for the account, consents behind it") {
                try await !database.pool.query(
                    """
                    select pg_terminate_backend(a.pid) from pg_stat_activity a
                     where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like 'with held as (%'
                    """
                ).isEmpty
            }
            await #expect(throws: PostgresError.self) { try await change.value }
            try await held.release()
            #expect(try await rows(database) == before)
            #expect(try await AccountIDs(database.pool).standing().rule == .auto)
        }
    }

    @Test func `A change waits for what is naming an account, and takes that id out too`() async throws {
        try await AccountDatabase.with { database in
            let held = try await HeldTransaction(
                in: database.database,
                """
                with held as (select rule from storehook.account_ids for key share)
                insert into storehook.accounts (token, account) select \(UUID(token(1))), \(name(1)) from held
                """)
            let change = Task { try await AccountIDs(database.pool).change(to: .uuid, by: "test", listing: 9) }
            try await eventually("it waits") {
                try await database.value(
                    """
                    select count(*) from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock' and query like '%account_ids for update%'
                    """, as: Int64.self) == 1
            }
            try await held.release()
            #expect(try await change.value.first.map(\.id) == [name(1)])
            #expect(try await ids(database).isEmpty)
        }
    }

    /// An account that a program has named by the rule as it was.
    @Test func `After a change nothing is written for an account that was named by the rule of before`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: nil)])
            _ = try await AccountIDs(database.pool).change(to: .text, by: "test", listing: 0)
            let before = try await rows(database)
            let acts: [(String, () async throws -> Void)] = [
                (
                    "bind",
                    {
                        _ = try await database.pool.withTransaction {
                            try database.store.bind([purchase(1)], to: account(1), under: .keep, $0)
                        }
                    }
                ),
                (
                    "act",
                    {
                        _ = try await database.pipeline.act(
                            .grant(tier: "pro", days: 1), for: account(1), by: "s", why: "w")
                    }
                ),
                ("move", { _ = try await database.pipeline.move(purchase(1), to: account(1), by: "s", why: "w") }),
                ("trial", { _ = try await database.pipeline.startTrial(of: account(1)) }),
            ]
            for (what, act) in acts {
                let error = await #expect(throws: PostgresError.self, "\(what)") { try await act() }
                #expect(error?.isTransient == true && error?.sqlState == "40001", "\(what)")
            }
            #expect(try await rows(database) == before)
            let named = try #require(AccountIDRule.text.account(name(1)))
            _ = try await database.pipeline.move(purchase(1), to: named, by: "s", why: "w")
            #expect(try await ids(database) == ["account \(name(1)) \(named.token)"])
        }
    }

    @Test func `An account of which only the token is known is acted for, and is given no id`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let only = AccountIdentity(token: token(1))
            _ = try await database.pipeline.act(.grant(tier: "pro", days: 1), for: only, by: "s", why: "w")
            #expect(try await ids(database).isEmpty)
            #expect(try await database.store.view(token(1), in: "Production").current.tier == "pro")
            _ = try await database.pipeline.act(.grant(tier: "pro", days: 1), for: account(1), by: "s", why: "w")
            _ = try await database.pipeline.act(.grant(tier: "pro", days: 1), for: only, by: "s", why: "w")
            #expect(try await ids(database) == ["account \(name(1)) \(token(1))"])
            #expect(try await database.pipeline.erase(only, by: "s")?.actsKept == 3)
            #expect(try await ids(database).isEmpty)
        }
    }

    @Test func `Accounts whose id looks like a token are found`() async throws {
        try await AccountDatabase.with { database in
            try await fill(database)
            let ids = AccountIDs(database.pool)
            #expect(try await ids.misnamed(under: .auto, most: 9) == [Self.five])
            #expect(try await ids.misnamed(under: .text, most: 9).sorted() == [Self.five, Self.four])
            #expect(
                try await Set(ids.misnamed(under: .uuid, most: 9)) == ["ann", "00000000-0000-5000-0000-000000000001"])
            #expect(try await ids.misnamed(under: .uuid, most: 1).count == 1)
        }
    }
}

extension AccountDatabase {
    /// Sets the rule as it is in a database that has nothing yet.
    fileprivate func set(_ rule: AccountIDRule) async throws {
        try await pool.query(
            "update storehook.account_ids set rule = \(rule.rawValue), named_at = now(), named_by = 'test'")
    }
}
