import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import TestSupport
import Testing

@testable import AccountStore

/// Who stands in the way of a catalog, and whose way it stands in.
struct CatalogPatienceTests {
    /// Two accounts with a purchase each, under a catalog.
    private static func with(_ body: (AccountDatabase) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: -5, to: 25, account: token(2)),
            ])
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await body(database)
        }
    }

    @Test("the server itself ends a page's wait: an encrypted connection cannot ask it to")
    func serverKeepsTime() async throws {
        try await withTestDatabase { database in
            try await database.withPool(1) { pool in
                await #expect(throws: AccountStore.PageWait.Over.self) {
                    try await pool.withTransaction { session in
                        // The client would wait for ten minutes.
                        try AccountStore.PageWait().spend(session) { _ in
                            try session.query("select pg_sleep(600)::text", deadline: .seconds(600))
                        }
                    }
                }
                // What comes after the page is held may take longer.
                let limit = try await pool.withTransaction { session in
                    try AccountStore.PageWait().spend(session) { _ in }
                    return try session.query("select current_setting('statement_timeout')").one()
                        .decode(0, as: String.self)
                }
                #expect(limit == "0")
            }
        }
    }

    private static func state(_ database: AccountDatabase) async throws -> [String] {
        try await database.pool.query(
            """
            select c::text from storehook.catalog_state c
            union all select s::text from storehook.account_status s order by 1
            """
        ).map { try $0.decode(0) }
    }

    private static func tier(of number: Int, _ database: AccountDatabase) async throws -> String {
        try await database.store.view(token(number), in: "Production").current.tier
    }

    /// A worker that has changed an account and stands still.
    private static let writing: PostgresQuery = """
        update storehook.accounts set account = account
         where token = (select min(token::text)::uuid from storehook.accounts)
           and exists (select from storehook.catalog_state)
        """
    /// A session that has nothing to do with accounts, but locks a row of one of them.
    private static let strangers: PostgresQuery = """
        select 1 from storehook.accounts where token = (select max(token::text)::uuid from storehook.accounts) for update
        """

    @Test func `A first catalog that was given up leaves nothing behind, and the next one knows of all purchases`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))
            ])
            try await database.pool.query("insert into storehook.accounts (token) values (\(UUID(token(2))))")
            let held = try await HeldTransaction(in: database.database, "select 1 from storehook.accounts for update")
            await #expect(throws: ApplyRefusal.self) {
                try await database.store.apply(Shop.catalog(), by: "test", patience: .milliseconds(300))
            }
            try await held.release()
            try await database.apply([
                Purchases.period(purchase(3), "basic", from: -5, to: 25, account: token(3))
            ])
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let tier = try await Self.tier(of: 1, database)
            #expect(try await Self.tier(of: 3, database) == tier && tier != "free")
        }
    }

    @Test func `A transaction that stands in the way ends it in time, in a line that names it, and nothing is changed`()
        async throws
    {
        for isStranger in [false, true] {
            try await Self.with { database in
                let before = try await Self.state(database)
                let held = try await HeldTransaction(
                    in: database.database, isStranger ? Self.strangers : Self.writing)
                let refusal = await #expect(throws: ApplyRefusal.self) {
                    try await database.store.apply(
                        Shop.catalog(["premium", "pro", "pro"]), by: "test", patience: .milliseconds(600))
                }
                guard case .heldUp(_, let holder)? = refusal else {
                    Issue.record("\(String(describing: refusal))")
                    return
                }
                #expect(holder?.contains("process ") == true)
                #expect(refusal?.description.contains("nothing was changed") == true)
                #expect(refusal?.description.contains("\n") == false)
                #expect(try await Self.state(database) == before)
                try await held.release()
                _ = try await database.store.apply(Shop.catalog(["premium", "pro", "pro"]), by: "test")
                #expect(try await Self.tier(of: 1, database) == "premium")
            }
        }
    }

    @Test func `A transaction that has nothing to do with accounts is not waited for, however long it is open`()
        async throws
    {
        try await Self.with { database in
            let stranger = try await HeldTransaction(
                in: database.database, "create table public.strangers as select pg_current_xact_id()::text as number")
            let reader = try await HeldTransaction(
                in: database.database, "select count(*) from storehook.account_status_now")
            _ = try await database.store.apply(Shop.catalog(["premium", "pro", "pro"]), by: "test", patience: .zero)
            #expect(try await Self.tier(of: 1, database) == "premium")
            try await reader.release()
            try await stranger.release()
        }
    }

    @Test func `Workers go on while a catalog waits for somebody else, and nobody ends with what was before`()
        async throws
    {
        for isStranger in [false, true] {
            try await Self.with { database in
                let held = try await HeldTransaction(
                    in: database.database, isStranger ? Self.strangers : Self.writing)
                let applying = Task {
                    try await database.store.apply(Shop.catalog(["premium", "pro", "pro"]), by: "test")
                }
                try await eventually("the catalog waits") {
                    if isStranger {
                        return try await database.value(
                            "select preparing_version is not null from storehook.catalog_state")
                    }
                    return try await database.isWaitingForWriters()
                }
                // Of other accounts, known and new, and of one that the stuck page holds in between.
                let free = [1, 2].filter { number in
                    let tokens = [token(1), token(2)].sorted { $0.description < $1.description }
                    return token(number) == (isStranger ? tokens[0] : tokens[1])
                }
                for round in 1...20 {
                    try await database.apply([
                        Purchases.period(
                            purchase(free[0]), "plus", from: Int64(round) - 25, to: 25 + Int64(round),
                            account: token(free[0]), number: round),
                        Purchases.period(purchase(10 + round), "basic", from: -5, to: 25, account: token(10 + round)),
                    ])
                }
                #expect(try await database.store.current()?.version == 1)
                try await held.release()
                _ = try await applying.value
                #expect(try await database.stale().isEmpty)
                #expect(try await Self.tier(of: 11, database) == "premium")
            }
        }
    }

    @Test func `A page that waits for one row after the other lets all of them go in time, however short each wait is`()
        async throws
    {
        try await Self.with { database in
            let accounts = [token(1), token(2)].sorted()
            let held = try await HeldTransaction(in: database.database, Self.strangers)
            await #expect(throws: ApplyRefusal.self) {
                try await database.store.step("test", patience: .zero) { session, wait in
                    // As where each row is let go just before its own time is over.
                    try session.query("select set_config('lock_timeout', '0', true)")
                    try wait.spend(session) { try database.store.hold(accounts, deadline: $0, session) }
                }
            }
            try await database.pool.query(
                "select 1 from storehook.accounts where token = \(UUID(accounts[0])) for update nowait")
            try await held.release()
            _ = try await database.store.apply(Shop.catalog(["premium", "pro", "pro"]), by: "test")
            #expect(try await Self.tier(of: 1, database) == "premium")
        }
    }

    @Test func `Who knows nothing of accounts changes no purchase once there is a catalog, and is told`() async throws {
        try await AccountDatabase.with { database in
            let entry = Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))
            try await database.apply([entry])
            let writing: [PostgresQuery] = [
                "insert into storehook.subscriptions select * from storehook.subscriptions on conflict do nothing",
                "insert into storehook.one_time_purchases select * from storehook.one_time_purchases on conflict do nothing",
                "delete from storehook.subscriptions where false",
                "delete from storehook.one_time_purchases where false",
            ]
            for statement in writing { try await database.pool.query(statement) }
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for statement in writing {
                let error = await #expect(throws: PostgresError.self) { try await database.pool.query(statement) }
                // By it workers of every release wait and bury nothing.
                #expect(error?.sqlState?.rawValue == "42501" && error?.sqlState?.isDeploymentFault == true)
                #expect(error?.description.contains("upgrade it") == true, "\(String(describing: error))")
            }
            try await database.apply([
                Purchases.period(purchase(1), "plus", from: 25, to: 55, account: token(1), number: 1)
            ])
            #expect(try await database.stale().isEmpty)
        }
    }
}
