import AccountStore
import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import Synchronization
import TestSupport
import Testing

/// What staff does, and the app's own trial.
struct ActTests {
    private func prepared(_ body: (AccountDatabase) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))])
            try await body(database)
        }
    }

    @Test func `Acts count at once, are on record with who and why, and each makes the version grow`() async throws {
        try await prepared { database in
            let (store, pipeline) = (database.store, database.pipeline)
            var version = try await store.view(token(1), in: "Production").version
            let acts: [(StaffAct.Kind, String, AccountStatus)] = [
                (.changeTier(to: "premium"), "premium", .active), (.extend(days: 5), "premium", .active),
                (.revoke, "free", .revoked), (.unrevoke, "premium", .active),
                (.grant(tier: "premium", days: 90), "premium", .active),
            ]
            for (kind, tier, status) in acts {
                let done = try await pipeline.act(kind, for: account(1), by: "staff@desk", why: "asked for it")
                #expect(done.after.tier == tier && done.after.status == status, "\(kind)")
                let view = try await store.view(token(1), in: "Production")
                #expect(view.current.tier == tier && view.current.status == status, "\(kind)")
                #expect(view.version > version, "\(kind)")
                version = view.version
            }
            let told = try #require(try await store.history(of: token(1), in: "Production"))
            #expect(told.acts.map(\.act.kind) == acts.map(\.0))
            #expect(told.acts.allSatisfy { $0.person == "staff@desk" && $0.why == "asked for it" })
            #expect(told.current.tier == "premium" && told.purchases.map(\.owner) == [token(1)])
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `What is bought after a block or a change of tier counts, however the rows are read`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for number in 1...3 {
                try await database.apply([
                    Purchases.period(purchase(number), "basic", from: -5, to: 25, account: token(number))
                ])
            }
            _ = try await database.pipeline.act(.revoke, for: account(1), by: "staff", why: "why")
            _ = try await database.pipeline.act(.changeTier(to: "free"), for: account(2), by: "staff", why: "why")
            _ = try await database.pipeline.act(.revoke, for: account(3), by: "staff", why: "why")
            let changed = try await database.store.view(token(2), in: "Production")
            #expect(changed.current.status == .free && !changed.current.access)
            for number in 1...2 {
                try await database.apply([
                    Purchases.period(
                        purchase(number), "plus", from: 1, to: 31, account: token(number), number: 1, reason: .purchase)
                ])
            }
            try await database.apply([
                Purchases.period(purchase(3), "basic", from: 25, to: 55, account: token(3), number: 1)
            ])
            func tiers(_ days: Int64) async throws -> [String] {
                let instant = Purchases.now.adding(days: days)
                var tiers: [String] = []
                for number in 1...3 {
                    let told = try await database.store.history(of: token(number), in: "Production", at: instant)
                    tiers.append("\(told?.current.tier ?? "") \(told?.current.status.rawValue ?? "")")
                    let row = try await database.pool.query(
                        """
                        select tier || ' ' || status from storehook.account_status_at(\(PostgresTimestamp(instant)))
                         where token = \(UUID(token(number)))
                        """
                    ).one().decode(0, as: String.self)
                    #expect(row == tiers.last)
                }
                return tiers
            }
            #expect(try await tiers(2) == ["premium active", "premium active", "free revoked"])
            #expect(try await tiers(30) == ["premium active", "premium active", "free revoked"])
            #expect(try await database.stale().isEmpty)
            // Out of the rows alone.
            _ = try await database.store.apply(Shop.catalog(["pro", "pro", "pro"]), by: "test")
            #expect(try await tiers(2) == ["pro active", "pro active", "free revoked"])
        }
    }

    @Test func `A grant over a renewing subscription, and days that were added, are read back as they were derived`()
        async throws
    {
        try await prepared { database in
            _ = try await database.pipeline.act(.grant(tier: "premium", days: 10), for: account(1), by: "s", why: "w")
            var current = try await database.store.view(token(1), in: "Production").current
            let end = Purchases.now.adding(days: 25)
            #expect(current.tier == "premium" && current.expiresAt == end && current.tierUntil != end)
            #expect(current.tierUntil == current.periodEndsAt && current.ends?.source == current.tierUntil)
            let done = try await database.pipeline.act(.extend(days: 30), for: account(1), by: "s", why: "w")
            current = try await database.store.view(token(1), in: "Production").current
            #expect(current.expiresAt == done.after.expiresAt && current.ends == done.after.ends)
            #expect(current.expiresAt == current.tierUntil && current.expiresAt ?? end > end)
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `Whoever stands still in the middle of an act lets go of what it holds`() async throws {
        try await prepared { database in
            let limits = Limits()
            let pipeline = EvidencePipeline(
                ledger: database.ledger, accounts: database.store, events: nil, observers: [limits])
            _ = try await pipeline.act(.extend(days: 1), for: account(1), by: "staff", why: "why")
            _ = try await pipeline.move(purchase(1), to: account(2), by: "staff", why: "why")
            _ = try await pipeline.startTrial(of: account(3))
            _ = try await pipeline.erase(account(2), by: "staff")
            #expect(limits.seen == ["10s", "10s", "10s", "10s"])
            // Without evidence, too, an observer is told which purchases have changed.
            #expect(limits.purchases == [[], [purchase(1)], [], [purchase(1)]])
        }
    }

    /// Notes how long each transaction may stand still.
    private final class Limits: ChangeObserver {
        private let all = Mutex<[(limit: String, purchases: [PurchaseKey])]>([])

        var seen: [String] { all.withLock { $0.map(\.limit) } }
        var purchases: [[PurchaseKey]] { all.withLock { $0.map(\.purchases) } }

        func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws {
            let limit: String = try session.query(
                "select current_setting('idle_in_transaction_session_timeout')"
            ).one().decode(0)
            all.withLock { $0.append((limit, applied.change.purchases)) }
        }
    }

    @Test func `What there is nothing to do for is refused, and not recorded`() async throws {
        try await AccountDatabase.with { database in
            let (store, pipeline) = (database.store, database.pipeline)
            func refusal(_ kind: StaffAct.Kind, _ account: AccountIdentity) async throws -> ActRefusal? {
                do {
                    _ = try await pipeline.act(kind, for: account, by: "staff", why: "why")
                    return nil
                } catch let refusal as ActRefusal { return refusal }
            }
            #expect(try await refusal(.grant(tier: "pro", days: 1), "a") == .noCatalog)
            _ = try await store.apply(Shop.catalog(), by: "test")
            #expect(
                try await refusal(.grant(tier: "gold", days: 1), "a")
                    == .unknownTier("gold", known: ["free", "pro", "premium"]))
            #expect(try await refusal(.grant(tier: "free", days: 1), "a") == .lowestTier("free"))
            #expect(try await refusal(.extend(days: 1), "a") == .noAccess)
            #expect(try await refusal(.changeTier(to: "pro"), "a") == .noAccess)
            #expect(try await refusal(.revoke, "a") == .nothingThere)
            #expect(try await refusal(.unrevoke, "a") == .notRevoked)
            try await database.apply([Purchases.forever(purchase(2), at: -5, account: AccountToken.of("b"))])
            #expect(try await refusal(.extend(days: 1), "b") == .noEnd)
            #expect(try await database.value("select count(*) from storehook.staff_acts", as: Int64.self) == 0)
        }
    }

    @Test func `Of 50 starts of a trial at once, of one account or with one download, one begins`() async throws {
        try await prepared { database in
            func started(_ account: @escaping @Sendable (Int) -> AccountIdentity, _ download: String?) async throws
                -> Int
            {
                try await withThrowingTaskGroup(of: TrialOutcome.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            try await database.pipeline.startTrial(of: account(number), appTransactionID: download)
                        }
                    }
                    return try await group.reduce(0) { count, outcome in
                        if case .started = outcome { count + 1 } else { count }
                    }
                }
            }
            #expect(try await started({ _ in account(1) }, nil) == 1)
            #expect(try await started({ account($0 + 10) }, "704000000000000001") == 1)
            let view = try await database.store.view(token(1), in: "Production")
            #expect(view.trial?.tier == "premium" && view.current.status == .trial)
            #expect(try await database.store.hadTrial(account(1)))
            #expect(try await database.store.hadTrial("new", appTransactionID: "704000000000000001"))
            #expect(try await !database.store.hadTrial("new"))
        }
    }

    @Test func `A trial is of the product that it is started with, or else of the catalog's only app`() async throws {
        try await AccountDatabase.with { database in
            func started(_ number: Int, with product: String?, _ products: [String]) async throws -> String {
                _ = try await database.store.apply(
                    """
                    app: com.example.app
                    tiers: [{id: free}, {id: pro}]
                    products:
                    \(products.map { "  - {\($0), tier: pro, period: month}\n" }.joined())
                    trial: {tier: pro, days: 7, products: [monthly]}

                    """, by: "test")
                guard case .started = try await database.pipeline.startTrial(of: account(number), with: product) else {
                    Issue.record("the trial is to start")
                    return ""
                }
                return try await database.value(
                    "select bundle_id || ' ' || coalesce(product_id, '-') from storehook.trials where token = \(UUID(token(number)))"
                )
            }
            let monthly = "id: monthly, product_id: com.example.pro"
            let other = "id: best, product_id: com.example.best, app: com.example.other"
            let found = [
                try await started(1, with: "monthly", [monthly]), try await started(2, with: nil, [monthly]),
                try await started(3, with: "monthly", [monthly, other]),
                try await started(4, with: nil, [monthly, other]),
            ]
            #expect(
                found == [
                    "com.example.app com.example.pro", "com.example.app -", "com.example.app com.example.pro", " -",
                ])
        }
    }

    @Test func `A view has all of an account in one answer`() async throws {
        try await prepared { database in
            try await database.apply([Purchases.forever(purchase(2), at: -5, account: token(1))])
            let view = try await database.store.view(token(1), in: "Production")
            #expect(view.purchases.map(\.key) == [purchase(2), purchase(1)])
            #expect(view.subscription?.oneTime == .nonConsumable && view.subscription?.accessUntil == nil)
            #expect(view.purchases.last?.status == .active && view.purchases.last?.givesAccess == true)
            #expect(view.purchases.last?.transactionID == "10001.0")
            #expect(view.purchases.last?.purchasedAt == Purchases.now.adding(days: -5))
            #expect(view.catalogVersion != nil && view.catalog?.tiers.count == 3)
            // No account's data is in another account's answer.
            let other = try await database.store.view(token(2), in: "Production")
            #expect(other.purchases.isEmpty && other.version == 0 && other.current.status == .free)
            #expect(try await database.store.view(token(1), in: "Sandbox").current.status == .free)
        }
    }

    @Test func `Who listens is told that an account changed`() async throws {
        try await prepared { database in
            let listener = try PostgresListener(
                configuration: database.database.configuration, channel: AccountStore.channel, logger: quiet)
            let run = Task { try await listener.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()
            #expect(await wakeUps.next() == .listening)
            _ = try await database.pipeline.act(.grant(tier: "premium", days: 1), for: account(1), by: "s", why: "w")
            #expect(await wakeUps.next() == .notified)
            run.cancel()
            _ = try? await run.value
        }
    }
}
