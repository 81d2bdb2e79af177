import Accounts
import Base
import Foundation
import OrderStore
import Postgres
import Schema
import TestSupport

/// A migrated database with orders that are written by SQL, and a list of them that is read by other SQL.
struct OrderListDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    let pool: PostgresPool
    var store: OrderStore { OrderStore(pool) }

    static func with<T>(_ body: (OrderListDatabase) async throws -> T) async throws -> T {
        try await withTestDatabase(from: template) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
            do {
                let value = try await body(OrderListDatabase(pool: pool))
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    static let apps = ["com.example.reader", "com.example.player"]
    static let currencies = ["EUR", "JPY", "USD"]
    static let storefronts = (0..<12).map { "S\($0)T" }
    static let day = "2026-03-01"

    /// Product 0 to 5 of each app; the last one is in no catalog.
    static let catalog = Catalog(
        tiers: ["free", "pro", "premium"].map { Catalog.Tier(id: $0) },
        products: apps.enumerated().flatMap { app, bundleID in
            (0..<5).map { number in
                Catalog.Product(
                    id: "\(app)-\(number)", productID: "product.\(number)", bundleID: bundleID,
                    tier: number < 2 ? "pro" : "premium",
                    names: number == 3 ? nil : LocalizedText("Title \(number)", others: ["de": "Über \(app)\(number)"]),
                    period: .month)
            }
        })

    /// Adds orders of some numbers from 1 on, random ones: a few are hidden, a few have no number yet, and some share an original
    /// transaction. `public.life` has how each was made.
    func add(_ range: ClosedRange<Int>, seed: UInt64, days: Int = 60) async throws {
        let seed = Int64(truncatingIfNeeded: seed)
        try await pool.query(
            """
            create table if not exists public.life (
                i bigint, environment text, bundle_id text, product_id text, plan_type text, key text, original text, day date,
                number integer, status text, currency text, storefront text, updated_at timestamptz, is_hidden boolean,
                holding integer, account uuid, owner uuid, periods integer)
            """)
        try await pool.query(
            """
            insert into public.life
            select i, case when u.v[1] < 15 then 'Sandbox' else 'Production' end, (\(Self.apps))[1 + u.v[2] / 80],
                   'product.' || u.v[3] / 17, p.plan, (10000 + i)::text,
                   (10000 + case when p.plan = 'consumable' then 3 * (i / 3) else i end)::text,
                   \(Self.day)::date + (u.w[1] % \(Int32(days))), case when u.w[2] > 3 then i end,
                   case when u.w[3] < 5 then 'refunded' when u.w[3] < 9 then 'partially_refunded'
                        when u.w[3] < 11 then 'pending' else 'completed' end,
                   (\(Self.currencies))[1 + u.w[4] / 34], (\(Self.storefronts))[1 + u.w[5] * u.w[5] / 900],
                   \(Self.day)::date + interval '1 hour' * (24 * (u.w[1] % \(Int32(days))) + 13 * (u.w[6] % 40)),
                   u.w[7] < 3, u.v[4] / 15, md5('a' || u.v[5] % 40)::uuid, null,
                   case when p.plan = 'consumable' then 1 else 1 + u.w[8] / 34 end
              from generate_series(\(Int64(range.lowerBound)), \(Int64(range.upperBound))) i
             cross join lateral (
                select array(select (abs(hashint8extended(i / 3 * 100 + n, \(seed)) % 100))::integer from generate_series(1, 5) n) as v,
                       array(select (abs(hashint8extended(-(i * 100 + n), \(seed)) % 100))::integer from generate_series(1, 8) n) as w) u
             cross join lateral (
                select case when u.v[3] / 17 < 3 then 'auto_renewable' when u.v[3] / 17 = 3 then 'non_consumable'
                            else 'consumable' end as plan) p
            """)
        try await pool.withTransaction { session in
            try session.executeScript(
                Self.script.replacing(":first", with: "\(range.lowerBound)").replacing(
                    ":last", with: "\(range.upperBound)"))
        }
    }

    /// Writes what the ledger, account acts and the books would have written.
    private static let script = """
        create temporary table new_life on commit drop as select * from public.life where i between :first and :last;
        -- What belongs to a purchase is one for all of its orders.
        create temporary table line on commit drop as
        select distinct environment, bundle_id, original, plan_type, product_id, holding, account,
               md5(account::text)::uuid as other
          from new_life;
        insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id)
        select environment, bundle_id, original from line on conflict do nothing;
        -- 0 signed, 1 proven, 2 signed and moved by staff, 3 signed and erased, 4 proven after an erasure, 5 nobody's, 6 signed by nil
        insert into storehook.subscriptions
               (environment, bundle_id, original_transaction_id, app_account_token, phase_starts, phase_status, phase_product,
                phase_expires, phase_trial, paid_until, phase_basis, phase_transaction, phase_period_ends, phase_grace_ends,
                phase_will_renew, phase_renewal_product, phase_price_pending, phase_intent, phase_account)
        select environment, bundle_id, original, signed, array['2026-01-01Z'::timestamptz], array['active'], array[product_id],
               array['2126-01-01Z'::timestamptz], array[false], '2126-01-01Z', array['records'], array[original],
               array['2126-01-01Z'::timestamptz], array[null::timestamptz], array[false], array[null::text], array[false],
               array[null::smallint], array[signed]
          from line
         cross join lateral (select case when holding in (0, 2, 3) then account
                                         when holding = 6 then '00000000-0000-0000-0000-000000000000' end as signed) s
         where plan_type = 'auto_renewable';
        insert into storehook.one_time_purchases
               (environment, bundle_id, original_transaction_id, kind, product_id, app_account_token, transaction_id, purchased_at,
                quantity, revoked_share)
        select environment, bundle_id, original, plan_type, product_id, case when holding in (0, 2, 3) then account end, original,
               '2026-01-01Z', 1, 0
          from line where plan_type <> 'auto_renewable' on conflict do nothing;
        insert into storehook.purchase_bindings
               (environment, bundle_id, original_transaction_id, kind, token, at, recorded_by, why)
        select environment, bundle_id, original, b.kind, b.token, b.at, 'test', 'test'
          from line
         cross join lateral (
               values (1, 'proof', account, '2026-01-02Z'::timestamptz), (2, 'staff', other, '2026-01-02Z'),
                      (3, 'erasure', account, '2026-01-02Z'), (4, 'proof', other, '2026-01-02Z'), (4, 'erasure', other, '2026-01-03Z'),
                      (4, 'proof', account, '2026-01-04Z')) b (holding, kind, token, at)
         where b.holding = line.holding;
        insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
        select token, environment, original, bundle_id
          from line cross join lateral (values (0, account), (1, account), (2, account), (2, other), (3, account), (4, account),
                                               (4, other)) b (holding, token)
         where b.holding = line.holding on conflict do nothing;
        insert into storehook.accounts (token, account)
        select distinct account, 'name of ' || account from line where holding < 3 on conflict do nothing;
        update public.life l
           set owner = case when holding in (0, 1, 4) then account when holding = 2 then md5(account::text)::uuid end
         where i between :first and :last;

        insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
        select distinct environment, bundle_id, product_id, plan_type, status, currency, storefront from new_life on conflict do nothing;
        insert into storehook.booked_orders
               (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, created_at, class_id, plan_type,
                status, item, refunded_at, updated_at)
        select l.environment, l.bundle_id, l.key, l.original, l.day, l.day, l.number, case when l.number > 0 then l.day end,
               case when not l.is_hidden then c.id end, l.plan_type, l.status, l.key || '.' || l.periods,
               case when l.status in ('refunded', 'partially_refunded') then l.updated_at end, l.updated_at
          from new_life l
          join storehook.order_classes c using (environment, bundle_id, product_id, plan_type, status, currency, storefront)
         order by l.i;
        insert into storehook.booked_transactions
               (order_id, item, transaction_id, product_id, relation, follows, is_within, starts_at, ends_at, price, currency,
                storefront, quantity, is_trial, is_void, revoked_share, refunded, tier_rank, heard_at, changed_at)
        select o.id, l.key || '.' || k, l.key || case when k > 1 then '-' || k else '' end,
               case when k = l.periods then l.product_id else 'product.0' end, case when k = 1 then 'initial_purchase' else 'renewal' end,
               case when k > 1 then l.key || '.' || (k - 1) end, false, l.day + 30 * k, l.day + 30 * (k + 1),
               case when l.i % 50 <> 7 then 1000 * k end, case when k = l.periods then l.currency else 'EUR' end, l.storefront, 1, false,
               k = 2 and l.periods = 3, case when l.status = 'refunded' then 100000 else 0 end,
               case when l.status = 'refunded' then 1000 * k else 0 end, 1, l.day,
               case when k = l.periods then l.updated_at else l.day end
          from new_life l
          join storehook.booked_orders o on (o.environment, o.bundle_id, o.order_key) = (l.environment, l.bundle_id, l.key)
         cross join lateral generate_series(1, l.periods) k
         where not l.is_hidden;
        insert into storehook.transactions
               (environment, bundle_id, transaction_id, original_transaction_id, web_order_line_item_id, product_id, purchased_at,
                is_upgraded, signed_at, digest, payload)
        select environment, bundle_id, key || case when k > 1 then '-' || k else '' end, original,
               case when plan_type = 'auto_renewable' then 'line-' || key || '-' || k end, product_id, day, false, day,
               sha256((key || '.' || k)::bytea), '{}'
          from new_life cross join lateral generate_series(1, periods) k;
        """

    /// The keys of the orders that a filter fits, in order, by what orders show and how they were made.
    func expected(_ filter: OrderFilter, search: String = "true") async throws -> [String] {
        let tier = filter.tier.map { tier in (0..<5).filter { (tier == "pro") == ($0 < 2) }.map { "product.\($0)" } }
        return try await pool.query(
            """
            select o.order_key
              from public.life l
              join storehook.booked_orders o on o.order_key = l.key and o.environment = l.environment and o.bundle_id = l.bundle_id
              join storehook.booked_transactions t on t.order_id = o.id and t.starts_at = l.day + 30 * l.periods
             where not l.is_hidden and l.environment = \(filter.environment)
               and (\(filter.status?.rawValue)::text is null or l.status = \(filter.status?.rawValue))
               and (\(filter.bundleID)::text is null or l.bundle_id = \(filter.bundleID))
               and (\(filter.account.map { UUID($0) })::uuid is null or l.owner = \(filter.account.map { UUID($0) }))
               and (\(filter.productID)::text is null or t.product_id = \(filter.productID))
               and (\(filter.currency)::text is null or t.currency = \(filter.currency))
               and (\(filter.storefront)::text is null or t.storefront = \(filter.storefront))
               and (\(tier == nil) or t.product_id = any(\(tier ?? [])))
               and (\(filter.isRefunded)::boolean is null or (o.refunded_at is not null) = \(filter.isRefunded))
               and l.day between coalesce(\(filter.from?.description)::text, '-infinity')::date
                             and coalesce(\(filter.to?.description)::text, 'infinity')::date
               and (\(filter.updatedSince.map { PostgresTimestamp($0) })::timestamptz is null
                    or l.updated_at >= \(filter.updatedSince.map { PostgresTimestamp($0) }))
               and (\(unescaped: search))
             order by l.day desc, l.i desc
            """
        ).map { try $0.decode(0) }
    }

    /// Adds attempts without a transaction, on days among those of the other orders, but with later ids.
    func addAttempts(_ count: Int) async throws {
        try await pool.query(
            """
            with class as (
                insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                values ('Production', \(Self.apps[0]), 'product.1', 'unknown', 'pending', '', '')
                returning id
            ), attempt as materialized (
                select i, \(Self.day)::date + interval '29 hours' * i as at from generate_series(1, \(Int64(count))) i
            ), orders as (
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, originally_at, day, class_id, plan_type, status, updated_at)
                select 'Production', \(Self.apps[0]), 'attempt-' || i, at, at::date, class.id, 'unknown', 'pending', at
                  from attempt cross join class
                returning id, order_key, day, updated_at
            )
            insert into storehook.booked_attempts
                   (id, order_id, token, bundle_id, product_id, environment, day, outcome, reports, first_at, last_at, last_report,
                    written_at)
            select i, o.id, gen_random_uuid(), \(Self.apps[0]), 'product.1', 'Production', o.day, 'pending', 1, at, at, i, at
              from attempt join orders o on o.order_key = 'attempt-' || i
            """)
    }

    /// The keys of the orders that changed since an instant, in order.
    func changed(since: Timestamp?) async throws -> [String] {
        try await pool.query(
            """
            select order_key
              from storehook.booked_orders
             where class_id is not null and environment = 'Production'
               and updated_at >= coalesce(\(since.map { PostgresTimestamp($0) })::timestamptz, '-infinity')
             order by day desc, id desc
            """
        ).map { try $0.decode(0) }
    }
}
