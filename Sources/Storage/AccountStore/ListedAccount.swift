package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
package import PurchaseStore
import Subscriptions

/// Which accounts are asked for, by what they are now under the current catalog. Nil is any.
package struct AccountFilter: Sendable, Hashable {
    /// With this status.
    package var status: AccountStatus?
    /// With this tier.
    package var tier: String?
    /// Whose status comes from this product, by Apple's id, or which have it now.
    package var productID: String?
    /// Likewise, of a product of this app.
    package var bundleID: String?
    /// Which have, or had, a purchase of one of these apps.
    package var apps: [String]?
    /// In this environment.
    package var environment: String?
    /// Whose access ends within so many days of 24 hours, with nothing to renew it.
    package var endingWithinDays: Int?
    /// Which were erased.
    package var isErased = false

    /// All.
    package init() {}
}

/// An account in a list: what it is now in an environment.
package struct ListedAccount: Sendable, Hashable {
    /// Its token.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it; nil where none has named it, or it was erased.
    package var account: String?
    /// The environment. An account known only by its name is listed in Production, with the first tier.
    package var environment: String
    /// Its tier.
    package var tier: String
    /// Its status.
    package var status: AccountStatus
    /// What gives it its tier, or gave it last.
    package var source: AccountSource
    /// Apple's id of the product, where that is a purchase.
    package var productID: String?
    /// The app of the product.
    package var bundleID: String?
    /// The purchase.
    package var originalTransactionID: String?
    /// The act of staff's that shows in it.
    package var act: Int64?
    /// With access the end of all of it; without, when it ended. Nil for what has no end.
    package var expiresAt: Timestamp?
    /// Whether what gives access renews itself.
    package var willRenew: Bool
    /// Whether it is in a trial.
    package var inTrial: Bool
    /// Since when it is so, as far as is kept.
    package var since: Timestamp?
    /// When it changes by itself, as far as is known.
    package var until: Timestamp?
    /// When it was erased.
    package var erasedAt: Timestamp?
}

extension AccountStore {
    /// Accounts as they are now, in the order of their tokens. One with purchases in two environments is listed in both.
    /// - Parameters:
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many accounts are looked through.
    /// - Throws: ``ActRefusal/noCatalog``, ``UnreadableCatalog``, `PostgresError`.
    package func list(
        _ filter: AccountFilter = .init(), after cursor: ListCursor? = nil, limit: Int,
        lookingThrough most: Int = BoundedListing.mostLookedThrough
    ) async throws -> ListPage<ListedAccount> {
        try await pool.withTransaction(BoundedList<ListedAccount>.reading("accounts.list")) { session in
            guard let current = try self.current(session) else { throw ActRefusal.noCatalog }
            return try Self.list(
                filter, under: current, after: cursor, limit: limit, lookingThrough: most
            ).page(session)
        }
    }

    /// The products that give a tier under the current catalog.
    /// - Throws: ``ActRefusal/noCatalog``, ``ActRefusal/unknownTier(_:known:)``, ``UnreadableCatalog``, `PostgresError`.
    package func products(ofTier tier: String) async throws -> [SubscriptionFilter.AppProduct] {
        guard let catalog = try await current()?.catalog else { throw ActRefusal.noCatalog }
        guard catalog.tier(tier) != nil else {
            throw ActRefusal.unknownTier(tier, known: catalog.tiers.map(\.id))
        }
        return catalog.products.filter { $0.tier == tier }.map { .init(bundleID: $0.bundleID, productID: $0.productID) }
    }

    /// The parts of an account's ``ListCursor``.
    package static let cursorParts = 2

    /// Behind all environments.
    private static let allEnvironments = "~"

    /// The list that ``list(_:after:limit:lookingThrough:)`` reads.
    package static func list(
        _ filter: AccountFilter, under current: (version: Int64, catalog: Catalog), after cursor: ListCursor?,
        limit: Int, lookingThrough most: Int = BoundedListing.mostLookedThrough
    ) -> BoundedList<ListedAccount> {
        let key = cursor?.parts.count == cursorParts ? cursor?.parts : nil
        let token = UUID(key.flatMap { UniqueIdentifier($0[0]) } ?? UniqueIdentifier(high: 0, low: 0))
        // The cursor's own account is read again: it may stand in further environments.
        let window = Int64(max(most, limit)) + (key == nil ? 0 : 1)
        let (version, lowest) = (current.version, current.catalog.free.id)
        let (status, days) = (filter.status?.rawValue, filter.endingWithinDays.map { Int32(clamping: $0) })
        let (product, app) = (filter.productID, filter.bundleID)
        return BoundedList(
            limit: limit, lookingThrough: max(most, limit),
            elements: PostgresQuery(
                "accounts.list",
                """
                select a.token, \(unescaped: AccountName.column(token: "a.token")), a.erased_at, s.environment, s.tier, s.status, s.source, s.product_id,
                       s.bundle_id, s.original_transaction_id, s.act, s.expires_at, s.will_renew, s.in_trial, s.since, s.until
                  from (select token, account, erased_at from storehook.accounts
                         where token >= \(token) order by token limit \(window)) a
                 cross join lateral (
                       select t.environment, t.phase_tier[p.n] as tier, t.phase_status[p.n] as status,
                              t.phase_source[p.n] as source, t.phase_product[p.n] as product_id,
                              t.phase_bundle[p.n] as bundle_id, t.phase_purchase[p.n] as original_transaction_id,
                              t.phase_act[p.n] as act, t.phase_expires[p.n] as expires_at,
                              t.phase_will_renew[p.n] as will_renew, t.phase_trial[p.n] as in_trial,
                              case when p.n > 1 or t.known_from is not null then t.phase_starts[p.n] end as since,
                              t.phase_starts[p.n + 1] as until,
                              coalesce(t.phase_goes_on[p.n],
                                       t.phase_will_renew[p.n] and t.phase_status[p.n] <> 'grace_period') as goes_on,
                              t.holding_product, t.holding_bundle, t.holding_starts, t.holding_ends
                         from storehook.account_status t
                        cross join lateral (select width_bucket(now(), t.phase_starts) as n) p
                        where t.token = a.token and t.catalog = \(version) and p.n > 0
                       union all
                       select 'Production', \(lowest), 'free', 'none', null, null, null, null, null, false, false, null, null,
                              false, null, null, null, null
                        where not exists (select from storehook.account_status t
                                           where t.token = a.token and t.catalog = \(version))) s
                 where (a.token, s.environment) > (\(token), \(key?[1] ?? ""))
                   and (\(filter.environment)::text is null or s.environment = \(filter.environment))
                   and (\(status)::text is null or s.status = \(status))
                   and (\(filter.tier)::text is null or s.tier = \(filter.tier))
                   and (not \(filter.isErased) or a.erased_at is not null)
                   and (\(filter.apps)::text[] is null
                        or exists (select from storehook.account_lines l
                                    where l.token = a.token and l.environment = s.environment and l.bundle_id = any (\(filter.apps))))
                   and (\(product)::text is null and \(app)::text is null
                        or (\(product)::text is null or s.product_id = \(product))
                       and (\(app)::text is null or s.bundle_id = \(app))
                        or exists (select from unnest(s.holding_product, s.holding_bundle, s.holding_starts, s.holding_ends)
                                               as h (product_id, bundle_id, starts_at, ends_at)
                                    where (\(product)::text is null or h.product_id = \(product))
                                      and (\(app)::text is null or h.bundle_id = \(app))
                                      and h.starts_at <= now() and (h.ends_at is null or h.ends_at > now())))
                   and (\(days)::integer is null
                        or s.status in ('active', 'trial', 'cancelled', 'grace_period') and not s.goes_on
                       and s.expires_at <= now() + make_interval(hours => 24 * \(days)))
                 order by a.token, s.environment
                 limit \(Int64(limit + 1))
                """),
            end: PostgresQuery(
                "accounts.list_end",
                """
                select token from storehook.accounts where token >= \(token)
                 order by token offset \(window - 1) limit 1
                """),
            element: { try ListedAccount($0) },
            cursor: { row in
                ListCursor(behind: [
                    UniqueIdentifier(try row.decode("token", as: UUID.self)).description, try row.decode("environment"),
                ])
            },
            cursorOfEnd: { row in
                ListCursor(behind: [
                    UniqueIdentifier(try row.decode("token", as: UUID.self)).description, allEnvironments,
                ])
            })
    }
}

extension ListedAccount {
    fileprivate init(_ row: PostgresRow) throws {
        token = UniqueIdentifier(try row.decode("token", as: UUID.self))
        account = try row.decode("account")
        environment = try row.decode("environment")
        tier = try row.decode("tier")
        status = try row.decode("status", among: AccountStatus.self)
        source = try row.decode("source", among: AccountSource.self)
        productID = try row.decode("product_id")
        bundleID = try row.decode("bundle_id")
        originalTransactionID = try row.decode("original_transaction_id")
        act = try row.decode("act")
        expiresAt = try row.decode("expires_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        willRenew = try row.decode("will_renew")
        inTrial = try row.decode("in_trial")
        since = try row.decode("since", as: PostgresTimestamp?.self).map { Timestamp($0) }
        until = try row.decode("until", as: PostgresTimestamp?.self).map { Timestamp($0) }
        erasedAt = try row.decode("erased_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
    }
}
