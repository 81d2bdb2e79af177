/// A database full of orders, made by statements that each fill a whole table: a million takes minutes.
///
/// Three years of three apps with ten products each, 175 storefronts and 20 currencies: a few of each sell most. 3 % are refunded,
/// 5 % in the Sandbox. All choices come from a hash of the order's number, so every run makes the same rows.
struct OrdersFilling {
    /// Orders. There are five to six times as many transactions.
    let orders: Int
    /// Accounts; each purchase belongs to a random one.
    let accounts: Int

    /// Fills the migrated, empty database of a transaction. Analyze it afterwards, as autovacuum would.
    var script: String {
        (Self.books + Self.purchases).replacing(":orders", with: "\(orders)").replacing(
            ":accounts", with: "\(accounts)")
    }

    /// The catalog of its products: the first half of each app's in the tier pro.
    static let catalog = """
        tiers:
          - id: free
          - id: pro
          - id: premium
        products:

        """
        + (0..<30).map { number in
            "  - {id: p\(number), product_id: product.\(number), app: com.example.\(["reader", "player", "writer"][number / 10]), "
                + "tier: \(number % 10 < 5 ? "pro" : "premium"), period: month, name: Title \(number)}\n"
        }.joined()

    private static let books = """
        set local synchronous_commit = off;
        set local work_mem = '256MB';
        create or replace function pg_temp.u(n bigint, salt integer) returns double precision language sql immutable parallel safe
            as $$ select (hashint8extended(n, salt) & 1073741823) / 1073741824.0 $$;
        -- A few storefronts, and a few of 20 currencies, have most of the customers.
        create temporary table storefront on commit drop as
        select n, chr(65 + n / 26) || chr(65 + n % 26) || 'X' as storefront,
               (array['USD', 'EUR', 'JPY', 'GBP', 'CNY', 'CAD', 'AUD', 'BRL', 'KRW', 'INR', 'MXN', 'CHF', 'SEK', 'PLN', 'TRY', 'DKK', 'NOK',
                      'THB', 'ZAR', 'TWD'])[case when n < 20 then n + 1 else 1 + n % 2 end] as currency
          from generate_series(0, 174) n;
        create temporary table product on commit drop as
        select n, 'com.example.' || (array['reader', 'player', 'writer'])[1 + n / 10] as bundle_id, 'product.' || n as product_id,
               (array['auto_renewable', 'auto_renewable', 'auto_renewable', 'auto_renewable', 'auto_renewable', 'auto_renewable',
                      'consumable', 'auto_renewable', 'non_consumable', 'non_renewing'])[1 + n % 10] as plan_type,
               1000 * (1 + n % 10) - 10 as price
          from generate_series(0, 29) n;
        create temporary table filling on commit drop as
        select g.n, case when pg_temp.u(g.n, 1) < 0.05 then 'Sandbox' else 'Production' end collate "C" as environment,
               p.bundle_id, p.product_id, p.plan_type, p.price::bigint as price, s.storefront, s.currency,
               (2000000000000000 + g.n * 100)::text collate "C" as id,
               starts.at, (starts.at at time zone 'UTC')::date as day,
               md5('account' || floor(pg_temp.u(g.n, 5) * :accounts)::bigint)::uuid as account,
               case when pg_temp.u(g.n, 6) < 0.02 then 'refunded' when pg_temp.u(g.n, 6) < 0.03 then 'partially_refunded' else 'completed' end as status,
               case when p.plan_type <> 'auto_renewable' then 1
                    else greatest(1, least((1 + floor(power(pg_temp.u(g.n, 7), 1.2) * 15))::integer,
                                           1 + floor(extract(epoch from now() - starts.at) / 86400 / 30)::integer)) end as periods
          from generate_series(1, :orders) g (n)
          cross join lateral (select now() - interval '1095 days' * (1 - g.n::double precision / :orders)
                                     - interval '40 days' * case when g.n % 2 = 0 then pg_temp.u(g.n, 2) else 0 end as at) starts
          join product p on p.n = (array[0, 10, 20])[case when pg_temp.u(g.n, 3) < 0.7 then 1 when pg_temp.u(g.n, 3) < 0.9 then 2 else 3 end]
                                  + floor(10 * power(pg_temp.u(g.n, 4), 2))::integer
          join storefront s on s.n = floor(175 * power(pg_temp.u(g.n, 8), 4))::integer;
        analyze filling;

        insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
        select distinct environment, bundle_id, product_id, plan_type, status, currency, storefront from filling;
        insert into storehook.booked_orders
               (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, created_at, class_id, plan_type, status,
                item, refunded_at, updated_at)
        select f.environment, f.bundle_id, f.id, f.id, f.at, f.day, row_number() over (partition by f.day order by f.n), f.at + interval '1 second',
               c.id, f.plan_type, f.status, f.id || '.' || (f.periods - 1),
               case when f.status <> 'completed' then f.at + interval '3 days' end,
               f.at + interval '30 days' * (f.periods - 1)
          from filling f join storehook.order_classes c using (environment, bundle_id, product_id, plan_type, status, currency, storefront)
         order by f.n;
        insert into storehook.order_days (day, last) select day, count(*) from filling group by day;
        insert into storehook.booked_transactions
               (order_id, item, transaction_id, product_id, relation, follows, is_within, starts_at, ends_at, price, currency, storefront, quantity,
                is_trial, is_void, revoked_share, refunded, tier_rank, heard_at, changed_at)
        select o.id, f.id || '.' || k, (f.id::bigint + k)::text, f.product_id, case when k = 0 then 'initial_purchase' else 'renewal' end,
               case when k > 0 then f.id || '.' || (k - 1) end, false, t.at, t.at + interval '30 days', f.price, f.currency, f.storefront, 1, false,
               false, t.share, f.price * t.share / 100000, 1, t.at, t.at
          from filling f
          join storehook.booked_orders o on o.environment = f.environment and o.bundle_id = f.bundle_id and o.order_key = f.id
         cross join lateral generate_series(0, f.periods - 1) k
         cross join lateral (select f.at + interval '30 days' * k as at,
                                    case when f.status = 'completed' then 0 when f.status = 'refunded' then 100000
                                         when k = 0 then 50000 else 0 end as share) t
         order by t.at;
        insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
        select t.order_id, t.item, 0, 'refund', t.starts_at + interval '3 days', t.refunded, false, t.starts_at + interval '3 days'
          from storehook.booked_transactions t where t.revoked_share > 0;

        """

    /// What leads to them: purchases, transactions, accounts.
    private static let purchases = """
        insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id) select environment, bundle_id, id from filling;
        insert into storehook.transactions
               (environment, bundle_id, transaction_id, original_transaction_id, web_order_line_item_id, product_id, purchased_at, expires_at,
                is_upgraded, app_account_token, price, currency, quantity, storefront, signed_at, digest, payload)
        select f.environment, f.bundle_id, (f.id::bigint + k)::text, f.id, case when f.plan_type = 'auto_renewable' then f.id || '.' || k end,
               f.product_id, f.at + interval '30 days' * k, f.at + interval '30 days' * (k + 1), false, f.account, f.price, f.currency, 1,
               f.storefront, f.at + interval '30 days' * k, sha256((f.id || '.' || k)::bytea), '{}'
          from filling f cross join lateral generate_series(0, f.periods - 1) k
         order by f.at + interval '30 days' * k;
        insert into storehook.subscriptions
               (environment, bundle_id, original_transaction_id, app_account_token, phase_starts, phase_status, phase_product, phase_expires,
                phase_trial, paid_until, phase_basis, phase_transaction, phase_period_ends, phase_grace_ends, phase_will_renew,
                phase_renewal_product, phase_price_pending, phase_intent, phase_account)
        select environment, bundle_id, id, account, array[at, ends], array['active', 'expired'], array[product_id, product_id], array[ends, ends],
               array[false, false], ends, array['records', 'records'], array[id, id], array[ends, ends], array[null, null]::timestamptz[],
               array[true, false], array[null, null]::text[], array[false, false], array[null, null]::smallint[], array[account, account]
          from (select *, at + interval '30 days' * periods as ends from filling where plan_type = 'auto_renewable') f;
        insert into storehook.one_time_purchases
               (environment, bundle_id, original_transaction_id, kind, product_id, app_account_token, transaction_id, purchased_at, quantity,
                revoked_share)
        select environment, bundle_id, id, plan_type, product_id, account, id, at, 1, 0 from filling where plan_type <> 'auto_renewable';
        insert into storehook.accounts (token, account)
        select md5('account' || n)::uuid, 'person-' || n from generate_series(0, :accounts - 1) n;
        insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
        select account, environment, id, bundle_id from filling;
        """
}
