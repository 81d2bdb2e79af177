import AccountStore
import Accounts
import AppStorePayloads
import Base
import Crypto
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// What an account and a purchase were at one instant, by what had been applied by another one.
struct KnownThenTests {
    /// A life whose messages arrive late, each at its own time, and in any order.
    private struct Heard {
        var life: AccountLife
        var arrivals: [(message: LifeMessage, at: Int64, number: Int64)]

        /// The life as far as it was known at an instant.
        func known(at instant: Int64) -> Heard {
            var known = self
            known.arrivals.removeAll { $0.at > instant }
            known.life.messages = known.arrivals.map(\.message)
            known.life.acts.removeAll { $0.at > instant }
            for line in known.life.bindings.keys { known.life.bindings[line]?.removeAll { $0.at > instant } }
            if let trial = known.life.trial, trial.starts > instant { known.life.trial = nil }
            return known
        }
    }

    /// Applies what was heard, in any order, as if each message had been applied when it arrived.
    private func fill(
        _ database: AccountDatabase, _ lives: [Heard], _ generator: inout some RandomNumberGenerator
    ) async throws {
        _ = try await database.store.apply(LifeRows.catalog, by: "test")
        try await database.pool.query("update storehook.catalogs set applied_at = '2000-01-01Z'")
        let arrivals = lives.flatMap(\.arrivals).shuffled(using: &generator)
        let entries = try arrivals.map { arrival in
            let entry = try LifeRows.entry(arrival.message)
            return LedgerEntry(entry, outboxID: arrival.number, receivedAt: entry.receivedAt)
        }
        for batch in entries.batches(of: 20) { try await database.apply(batch) }
        for table in ["notifications", "records"] {
            try await database.pool.query(
                """
                update storehook.\(unescaped: table) t set applied_at = a.at
                  from unnest(\(arrivals.map(\.number)),
                              \(arrivals.map { PostgresTimestamp(millisecondsSince1970: $0.at) })) a (id, at)
                 where t.outbox_id = a.id
                """)
        }
        for heard in lives { try await LifeRows.write(heard.life, database) }
    }

    /// What is compared of an account. The numbers of acts differ from one database to the next.
    private func said(_ view: AccountView?) -> [String] {
        guard let view else { return ["nothing is known"] }
        let current = view.current
        let act = current.act.flatMap { id in view.acts.first { $0.act.id == id } }?.act.at
        let purchases = view.purchases.map { purchase in
            var purchase = purchase
            (purchase.createdAt, purchase.updatedAt) = (nil, nil)
            for place in purchase.bindings.indices { purchase.bindings[place].id = 0 }
            return "\(purchase)"
        }
        return [
            "\(current.status) \(current.tier) \(current.source) \(String(describing: current.productID))",
            "\(String(describing: current.purchase)) \(String(describing: act)) \(String(describing: current.expiresAt))",
            "\(current.startsAt) \(current.willRenew) \(current.inTrial) \(String(describing: current.ends))",
            "\(String(describing: view.trial)) \(view.acts.map { "\($0.act.at) \($0.act.kind)" })",
        ] + purchases
    }

    private func said(_ view: SubscriptionView) -> String {
        var view = view
        (view.createdAt, view.updatedAt) = (nil, nil)
        return "\(view)"
    }

    @Test(
        "it is what the model says, and what a database answers that had only what was applied by then",
        arguments: sampled([[], [.seats, .boughtAgain]] as [Set<LifeFeature>]))
    func lives(_ more: Set<LifeFeature>) async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let features: Set<LifeFeature> = [.replacedRenewals, .claims, .acts, .refundedThings]
        var number: Int64 = 0
        let lives = sampledSeeds(of: 60).map { seed in
            let life = AccountLifeMaker.life(seed: seed, number: Int(seed), with: features.union(more), leeway: 0)
            let arrivals = life.messages.map { message in
                number += 1
                let isLate = Int.random(in: 0..<3, using: &generator) == 0
                let delay = Int64.random(in: 0...(isLate ? 60 * ModelTime.day : ModelTime.hour), using: &generator)
                return (message: message, at: message.signed + delay, number: number)
            }
            return Heard(life: life, arrivals: arrivals)
        }
        let present = Purchases.now.millisecondsSince1970
        let instants = lives.flatMap(\.arrivals).map(\.at).filter { $0 < present }.shuffled(using: &generator)
        let policy = StatusPolicy(renewalLeewaySeconds: 0)
        try await AccountDatabase.with { database in
            try await fill(database, lives, &generator)
            var (asked, differing) = (0, 0)
            for known in instants.prefix(takesAllSamples ? 12 : 3) {
                let knowledge = KnowledgeThen(at: Timestamp(millisecondsSince1970: known), policy: policy)
                let then = lives.map { $0.known(at: known) }
                try await AccountDatabase.with { other in
                    try await fill(other, then, &generator)
                    for (heard, whole) in zip(then, lives) {
                        guard let account = UniqueIdentifier(heard.life.account) else { continue }
                        let model = AccountModel(heard.life)
                        let borders = (model.borders + AccountModel(whole.life).borders + [known])
                            .shuffled(using: &generator).prefix(takesAllSamples ? 20 : 8)
                        for border in borders {
                            let instant = Timestamp(millisecondsSince1970: border)
                            let told = try await database.store.history(
                                of: account, in: "Production", at: instant, knowing: knowledge)
                            let expected = try await other.store.history(of: account, in: "Production", at: instant)
                            let verdict = model.verdict(at: border)
                            let about = "at \(border), known at \(known), seed \(seed)\n\(whole.life.story)"
                            // An account with nothing but its row counts as one that nothing was known of.
                            let hasNothing = expected.map { $0.purchases.isEmpty && $0.acts.isEmpty && $0.trial == nil }
                            if hasNothing ?? true {
                                #expect(told == nil, "\(about)")
                            } else {
                                #expect(said(told) == said(expected), "\(about)")
                                #expect(told?.current.status.rawValue == verdict.status, "\(about)")
                                #expect(told?.current.tier == verdict.tier, "\(about)")
                            }
                            asked += 1
                            let now = try await database.store.history(of: account, in: "Production", at: instant)
                            if said(now) != said(told) { differing += 1 }
                            for line in whole.life.lines {
                                let (subscriptions, once, _) = try await LedgerReader(database.pool, policy: policy)
                                    .then(
                                        of: line, at: instant, knownAt: knowledge.instant)
                                let reader = LedgerReader(other.pool, policy: policy)
                                #expect(
                                    subscriptions.map(said)
                                        == (try await reader.status(of: line, at: instant)).map(said), "\(about)")
                                let bought = try await reader.oneTimePurchases(of: line)
                                #expect(once.map(\.value.purchasedAt) == bought.map(\.value.purchasedAt))
                                #expect(once.map(\.value.revokedAt) == bought.map(\.value.revokedAt))
                            }
                        }
                    }
                }
            }
            #expect(
                isEnough(differing, of: 100), "only \(differing) of \(asked) answers differ from today's, seed \(seed)")
        }
    }

    @Test("it is refused for the future, before what was kept, before a catalog, and of who was erased since")
    func refusals() async throws {
        try await AccountDatabase.with { database in
            func known(_ at: Timestamp, of number: Int = 1) async throws -> AccountView? {
                try await database.store.history(
                    of: token(number), in: "Production", knowing: KnowledgeThen(at: at, policy: .usual))
            }
            let now = Purchases.now
            await #expect(throws: KnowledgeThen.Refusal.noCatalog(by: now)) { try await known(now) }
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -40, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: -40, to: 25, account: token(2)),
            ])
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.query("update storehook.catalogs set applied_at = '2000-01-01Z'")
            try await database.pool.query("update storehook.notifications set applied_at = now() - interval '9 days'")
            #expect(try await known(now.adding(days: -10)) == nil, "nothing had been applied")
            #expect(try await known(now.adding(days: -8))?.current.status == .active)
            await #expect(throws: KnowledgeThen.Refusal.self) { try await known(now.adding(days: 1)) }
            _ = try await database.pipeline.erase(account(2), by: "b")
            await #expect(throws: KnowledgeThen.Refusal.self) { try await known(now.adding(days: -8), of: 2) }
            let day = try await database.value("select (now() at time zone 'UTC')::date::text", as: String.self)
            try await database.pool.query(
                """
                insert into storehook.outbox_dropped (day, received, applied, duplicate, parked, discarded)
                select \(day)::date - n, 0, 0, 0, 0, 0 from unnest(array[8, 30]) n
                """)
            await #expect(throws: KnowledgeThen.Refusal.self) { try await known(now.adding(days: -8)) }
            #expect(try await known(now.adding(days: -6))?.current.status == .active)
        }
    }

    @Test("an account is shown what was its own, also where nothing but an event leads to it any more")
    func renamed() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.query("update storehook.catalogs set applied_at = '2000-01-01Z'")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -20, to: 10, account: token(1), id: "shared")
            ])
            try await database.pool.query("update storehook.notifications set applied_at = now() - interval '9 days'")
            try await database.pool.query(
                """
                insert into storehook.events (kind, environment, bundle_id, token, original_transaction_id, sequence, version,
                                              at, is_late, is_correction, content)
                values ('subscription.started', 'Production', \(Shop.app), \(UUID(token(1))),
                        \(purchase(1).originalTransactionID), 1, 1, now(), false, false, '{}')
                """)
            // The same transaction again, signed later, as another purchase's.
            try await database.apply([
                Purchases.period(purchase(2), "basic", from: -20, to: 10, account: token(2), id: "shared", signed: -1)
            ])
            #expect(
                try await database.value(
                    "select count(*) from storehook.account_lines where token = \(UUID(token(1)))", as: Int64.self) == 0
            )
            let knowledge = KnowledgeThen(at: Purchases.now.adding(days: -2), policy: .usual)
            let told = try await database.store.history(of: token(1), in: "Production", knowing: knowledge)
            #expect(told?.current.status == .active && told?.purchases.count == 1)
            #expect(try await database.store.history(of: token(2), in: "Production", knowing: knowledge) == nil)
            let now = try await database.store.history(of: token(1), in: "Production")
            #expect(now?.current.access != true)
        }
    }

    @Test("a transaction counts for the purchase of the latest record that was known then")
    func shared() async throws {
        try await AccountDatabase.with { database in
            func apply(_ number: Int, signed: Int64) async throws {
                try await database.apply([
                    Purchases.period(
                        purchase(number), "basic", from: -20, to: 10, account: token(number), id: "shared",
                        signed: signed)
                ])
            }
            try await apply(1, signed: -20)
            try await database.pool.query("update storehook.notifications set applied_at = now() - interval '9 days'")
            try await apply(2, signed: -1)
            let reader = LedgerReader(database.pool)
            let now = Timestamp(try await database.value("select clock_timestamp()", as: PostgresTimestamp.self))
            for (known, owner) in [(Purchases.now.adding(days: -2), 1), (now, 2)] {
                for number in [1, 2] {
                    let id = purchase(number).originalTransactionID
                    let then = try await reader.then(of: id, at: now, knownAt: known).subscriptions
                    #expect(then.count == (number == owner ? 1 : 0), "\(number) by \(known)")
                    if known == now { #expect(try await reader.status(of: id, at: now) == then) }
                }
            }
        }
    }
}
