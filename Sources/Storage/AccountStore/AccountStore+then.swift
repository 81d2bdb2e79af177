package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
package import PurchaseStore
import Subscriptions

extension AccountStore {
    /// Derives an account's status at an instant by what had been applied and recorded by another one: evidence, what staff did,
    /// the trial, moves and proofs of purchases, and catalogs. Nothing is written.
    /// - Parameters:
    ///   - account: its token.
    ///   - instant: by default the one at which it was known.
    /// - Returns: nil where nothing was known of the account then, and at an instant before its erasure.
    /// - Throws: ``PurchaseStore/KnowledgeThen/Refusal``; ``UnreadableCatalog``; `PostgresError`.
    package func history(
        of account: UniqueIdentifier, in environment: String, at instant: Timestamp? = nil,
        knowing knowledge: KnowledgeThen
    ) async throws -> AccountView? {
        try await pool.withTransaction(Self.readingHistory) { session in
            try knowledge.check(session)
            let known = knowledge.instant
            let (version, timeline) = try self.catalogs(by: known, session)
            let keys = try self.purchasesEver(of: account, in: environment, session)
            let tokens = keys.map { _ in UUID(account) }
            guard
                var loaded = try self.load(
                    [account], for: timeline.catalogs, extent: .whole, lines: .lines(of: tokens, keys), session
                ).first(where: { $0.environment == environment })
            else { return nil }
            if let erasedAt = loaded.erasedAt {
                guard erasedAt <= known else { throw KnowledgeThen.Refusal.erased(at: erasedAt) }
                if instant ?? known < erasedAt { return nil }
            }
            loaded.keep(
                what: known, of: try knowledge.purchases(keys, session), try self.ownerships(of: keys, session))
            guard !loaded.lines.isEmpty || !loaded.acts.isEmpty || loaded.trial != nil || loaded.erasedAt != nil else {
                return nil
            }
            var view = try self.view(of: loaded, at: instant ?? known, version, timeline, session)
            view.acts.removeAll { $0.act.at > known }
            view.version = 0
            view.knownAt = known
            return view
        }
    }

    /// The catalogs that had been applied and current by an instant, and the number of the last one.
    private func catalogs(
        by instant: Timestamp, _ session: borrowing PostgresSession
    ) throws -> (version: Int64, timeline: CatalogTimeline) {
        let rows = try session.query(
            PostgresQuery(
                "accounts.catalogs_then",
                """
                select version, nullif(since, '-infinity') as since
                  from (select c.version, c.applied_at,
                               coalesce(c.current_from, case when c.version = s.current_version then c.applied_at end) as since
                          from storehook.catalogs c cross join storehook.catalog_state s) c
                 where since <= \(PostgresTimestamp(instant)) and applied_at <= \(PostgresTimestamp(instant))
                 order by c.since, version
                """))
        var (last, timeline) = (Int64?.none, CatalogTimeline?.none)
        for row in rows {
            let version: Int64 = try row.decode("version")
            let since = try row.decode("since", as: PostgresTimestamp?.self).map { Timestamp($0) }
            let catalog = try self.catalog(version, session)
            if timeline == nil {
                timeline = CatalogTimeline(catalog)
            } else {
                timeline?.append(catalog, from: since ?? .distantPast)
            }
            last = version
        }
        guard let last, let timeline else { throw KnowledgeThen.Refusal.noCatalog(by: instant) }
        return (last, timeline)
    }

    private func ownerships(
        of keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey: PurchaseOwnership] {
        let rows = try session.query(
            PostgresQuery(
                "accounts.bindings",
                """
                select l.original_transaction_id, l.bundle_id, l.environment, b.*
                  from unnest(
                       \(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                       as l (original_transaction_id, bundle_id, environment)
                \(unescaped: PostgresQuery.bindings)
                """))
        return try rows.reduce(into: [:]) { $0[try PurchaseKey($1)] = try PurchaseOwnership(bindings: $1) }
    }

    /// The purchases that are an account's, or that were by what was known at some time: a record that Apple signed later may name
    /// another account, and then only what was reported and derived then still leads to them.
    private func purchasesEver(
        of account: UniqueIdentifier, in environment: String, _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey] {
        try session.query(
            PostgresQuery(
                "accounts.purchases_ever",
                """
                select original_transaction_id, bundle_id, environment from storehook.account_lines
                 where token = \(UUID(account)) and environment = \(environment)
                union
                select original_transaction_id, bundle_id, environment from storehook.account_history
                 where token = \(UUID(account)) and environment = \(environment) and original_transaction_id is not null
                union
                select original_transaction_id, bundle_id, environment from storehook.events
                 where token = \(UUID(account)) and environment = \(environment) and original_transaction_id is not null
                """)
        ).map { try PurchaseKey($0) }.sorted()
    }
}

extension LoadedAccount {
    /// Leaves out what was not known yet.
    /// - Parameters:
    ///   - instant: when it was known.
    ///   - purchases: those that anything was known of, as they were derived from that.
    ///   - ownerships: the accounts that they were bound to, at any time.
    fileprivate mutating func keep(
        what instant: Timestamp, of purchases: [PurchaseThen], _ ownerships: [PurchaseKey: PurchaseOwnership]
    ) {
        acts.removeAll { $0.at > instant }
        if let trial, trial.startedAt > instant { self.trial = nil }
        let states = Dictionary(purchases.map { ($0.key, $0.state) }, uniquingKeysWith: { first, _ in first })
        lines = states.keys.sorted().flatMap { key -> [Line] in
            let ownership = PurchaseOwnership((ownerships[key]?.bindings ?? []).filter { $0.at <= instant })
            let state = states[key]
            let subscription = state?.subscription.map { subscription in
                AccountLine(
                    key: key, content: .subscription(subscription.phases.map { LinePhase(stored: $0) }),
                    ownership: ownership, stretchEnds: subscription.stretchEnds)
            }
            let once = state?.oneTime.map { bought in
                AccountLine(key: key, content: .oneTime(AccountLine.BoughtOnce(bought)), ownership: ownership)
            }
            return [subscription, once].compactMap(\.self).filter { $0.names(token) }.map { Line(line: $0) }
        }
    }
}

extension AccountLine {
    /// Whether Apple signed an account into it, or anything that was recorded binds it to that account.
    fileprivate func names(_ account: UniqueIdentifier) -> Bool {
        if ownership.bindings.contains(where: { $0.account == account }) { return true }
        switch content {
        case .subscription(let phases):
            return phases.contains { $0.signedAccount == account || $0.upcomingAccount == account }
        case .oneTime(let bought):
            return bought.signedAccount == account || bought.earlierAccounts.contains { $0.account == account }
        }
    }
}

extension AccountLine.BoughtOnce {
    /// As it is stored and read.
    fileprivate init(_ bought: OneTimePurchase) {
        self.init(
            kind: bought.kind, productID: bought.productID, purchasedAt: bought.purchasedAt,
            expiresAt: bought.expiresAt,
            revokedAt: bought.revokedAt, gaps: bought.gaps, signedAccount: bought.appAccountToken,
            earlierAccounts: bought.earlierAccounts)
    }
}
