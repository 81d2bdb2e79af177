package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
package import Subscriptions

/// Which subscriptions are asked for, by what they are now. Nil is any.
package struct SubscriptionFilter: Sendable, Hashable {
    /// With this status.
    package var status: SubscriptionStatus?
    /// Of one of these products of apps: those that give a tier.
    package var products: [AppProduct]?
    /// Of this product, by Apple's id.
    package var productID: String?
    /// Of this app.
    package var bundleID: String?
    /// In this environment.
    package var environment: String?
    /// Whose access ends within so many days of 24 hours, with nothing to renew it.
    package var endingWithinDays: Int?
    /// Which belong to no account.
    package var isUnowned = false

    /// All.
    package init() {}

    /// A product of an app's.
    package struct AppProduct: Sendable, Hashable {
        /// The app.
        package var bundleID: String
        /// Apple's id of the product.
        package var productID: String

        /// A product.
        package init(bundleID: String, productID: String) {
            self.bundleID = bundleID
            self.productID = productID
        }
    }
}

/// A subscription in a list.
package struct ListedSubscription: Sendable {
    /// What it is.
    package var subscription: SubscriptionView
    /// The account that has it; nil where none has.
    package var owner: UniqueIdentifier?
    /// What the app's own tokens call that account, where it is known.
    package var account: String?
}

extension LedgerReader {
    /// Subscriptions as they are now, in the order of their original transactions.
    /// - Parameters:
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through.
    /// - Throws: `PostgresError`.
    package func subscriptions(
        _ filter: SubscriptionFilter = .init(), after cursor: ListCursor? = nil, limit: Int,
        lookingThrough most: Int = BoundedListing.mostLookedThrough
    ) async throws -> ListPage<ListedSubscription> {
        let list = Self.list(filter, after: cursor, limit: limit, lookingThrough: most)
        return try await pool.withTransaction(BoundedList<ListedSubscription>.reading("ledger.list")) {
            try list.page($0)
        }
    }

    /// The parts of a subscription's ``ListCursor``.
    package static let cursorParts = 3

    /// The list that ``subscriptions(_:after:limit:lookingThrough:)`` reads.
    package static func list(
        _ filter: SubscriptionFilter, after cursor: ListCursor?, limit: Int,
        lookingThrough most: Int = BoundedListing.mostLookedThrough
    ) -> BoundedList<ListedSubscription> {
        let key = cursor?.parts.count == cursorParts ? cursor?.parts : nil
        let (id, bundle, environment) = (key?[0] ?? "", key?[1] ?? "", key?[2] ?? "")
        let window = Int64(max(most, limit))
        let tier = filter.products ?? []
        let status = filter.status?.rawValue
        let days = filter.endingWithinDays.map { Int32(clamping: $0) }
        return BoundedList(
            limit: limit, lookingThrough: max(most, limit),
            elements: PostgresQuery(
                "ledger.list",
                """
                with page as materialized (
                    select s.original_transaction_id, s.bundle_id, s.environment
                      from (select * from storehook.subscriptions
                             where (original_transaction_id, bundle_id, environment) > (\(id), \(bundle), \(environment))
                             order by original_transaction_id, bundle_id, environment limit \(window)) s
                     cross join lateral (select width_bucket(now(), s.phase_starts) as n) p
                     where p.n > 0
                       and (\(filter.environment)::text is null or s.environment = \(filter.environment))
                       and (\(filter.bundleID)::text is null or s.bundle_id = \(filter.bundleID))
                       and (\(status)::text is null or s.phase_status[p.n] = \(status))
                       and (\(filter.productID)::text is null or s.phase_product[p.n] = \(filter.productID))
                       and (\(filter.products == nil)
                            or (s.bundle_id, s.phase_product[p.n])
                               in (select * from unnest(\(tier.map(\.bundleID)), \(tier.map(\.productID)))))
                       and (\(days)::integer is null
                            or s.phase_status[p.n] in ('trial', 'active', 'cancelled', 'grace_period')
                           and (s.phase_status[p.n] = 'grace_period' or not coalesce(s.phase_will_renew[p.n], false))
                           and coalesce(s.phase_grace_ends[p.n], s.phase_expires[p.n])
                               <= now() + make_interval(hours => 24 * \(days)))
                       and (not \(filter.isUnowned)
                            or not exists (select from storehook.held_purchases h
                                            where h.original_transaction_id = s.original_transaction_id
                                              and h.bundle_id = s.bundle_id and h.environment = s.environment))
                     order by s.original_transaction_id, s.bundle_id, s.environment
                     limit \(Int64(limit + 1))
                )
                select v.*, o.token as owner, \(unescaped: AccountName.column(token: "o.token"))
                  from page
                 cross join lateral (
                       select * from storehook.status_at(now()) v
                        where v.original_transaction_id = page.original_transaction_id and v.bundle_id = page.bundle_id
                          and v.environment = page.environment offset 0) v
                  left join lateral (
                       select h.token from storehook.held_purchases h
                        where h.original_transaction_id = page.original_transaction_id and h.bundle_id = page.bundle_id
                          and h.environment = page.environment limit 1) o on true
                  left join storehook.accounts a on a.token = o.token
                 order by page.original_transaction_id, page.bundle_id, page.environment
                """),
            end: PostgresQuery(
                "ledger.list_end",
                """
                select original_transaction_id, bundle_id, environment from storehook.subscriptions
                 where (original_transaction_id, bundle_id, environment) > (\(id), \(bundle), \(environment))
                 order by original_transaction_id, bundle_id, environment offset \(window - 1) limit 1
                """),
            element: { row in
                ListedSubscription(
                    subscription: try SubscriptionView(row),
                    owner: UniqueIdentifier(accountToken: try row.decode("owner", as: UUID?.self)),
                    account: try row.decode("account"))
            }, cursor: { ListCursor(behind: try $0.key) }, cursorOfEnd: { ListCursor(behind: try $0.key) })
    }
}

extension PostgresRow {
    /// The key of a purchase, in the order of its columns.
    fileprivate var key: [String] {
        get throws {
            [
                try decode("original_transaction_id"), try decode("bundle_id"), try decode("environment"),
            ]
        }
    }
}
