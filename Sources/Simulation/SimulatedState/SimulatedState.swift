/// A database full of purchases, made by statements that each fill a whole table: a million takes minutes.
///
/// The rows look to readers like those the ledger writes:
/// - purchases of five subscription products and of five one-time products, in two apps and both environments;
/// - most of them with an account, a few with years of history, about half of them over.
///
/// All choices come from a hash of the purchase's number, so every run makes the same rows. As in production, no value
/// follows the order of the rows on disk.
public struct SimulatedState: Sendable {
    /// Auto-renewable subscriptions.
    public let subscriptions: Int
    /// Purchases of products that are bought once.
    public let oneTimePurchases: Int

    /// How many accounts there are; each purchase belongs to a random one.
    public let accounts: Int

    /// A state of so many purchases.
    /// - Parameter accounts: how many accounts there are; nil for as many as subscriptions.
    public init(subscriptions: Int, oneTimePurchases: Int, accounts: Int? = nil) {
        self.subscriptions = subscriptions
        self.oneTimePurchases = oneTimePurchases
        self.accounts = max(1, accounts ?? subscriptions)
    }

    /// The identifier of the first purchase; those after it count upwards, subscriptions first.
    public static let firstPurchase: Int64 = 2_000_000_000_000_001

    /// Fills the migrated, empty database of a transaction. Analyze it afterwards, as autovacuum would.
    public var script: String {
        (Self.purchases + Self.derived + Self.operations)
            .replacing(":subscriptions", with: "\(subscriptions)")
            .replacing(":accounts", with: "\(accounts)")
            .replacing(":one_time", with: "\(oneTimePurchases)")
    }

    /// The purchases, and the latest signed records of each.
    private static let purchases = """
        set local synchronous_commit = off;
        set local work_mem = '128MB';
        create temporary table filling on commit drop as
        select n, n <= :subscriptions as is_subscription,
               case when hashint8(n) % 20 = 0 then 'Sandbox' else 'Production' end collate "C" as environment,
               'com.example.' || case when hashint8(n) % 5 = 0 then 'second' else 'first' end collate "C" as bundle_id,
               (2000000000000000 + n)::text collate "C" as id,
               case when hashint8(n * 3) % 8 <> 0 then md5('account' || abs(hashint8(n * 7) % :accounts))::uuid end as account,
               (case when n <= :subscriptions
                     then array['basic.monthly', 'basic.yearly', 'plus.monthly', 'plus.yearly', 'news.monthly']
                     else array['lifetime', 'level.pack', 'coins.100', 'coins.500', 'season.pass']
                 end)[1 + abs(hashint8(n * 11) % 5)] as product,
               case when n > :subscriptions then 1
                    when hashint8(n * 13) % 32 = 0 then 8 + abs(hashint8(n * 17) % 12)
                    else 1 + abs(hashint8(n * 17) % 2) end as periods,
               now() - interval '60 days' * abs(hashint8(n * 19) % 1000003) / 1000003.0 as starts,
               hashint8(n * 23) % 4 <> 0 as renews,
               hashint8(n * 31) % 50 = 0 as is_refunded
          from generate_series(1, :subscriptions + :one_time) n;
        analyze filling;

        insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id)
        select environment, bundle_id, id from filling;

        insert into storehook.transactions
               (environment, bundle_id, transaction_id, original_transaction_id, web_order_line_item_id, product_id,
                subscription_group_id, kind, ownership, purchased_at, expires_at, is_upgraded, reason, app_account_token,
                price, currency, quantity, storefront, app_transaction_id, signed_at, digest, notification_uuid, payload)
        select environment, bundle_id, id || case when period > 1 then '.' || period else '' end, id,
               case when is_subscription then id || '.' || period end, product,
               case when is_subscription then split_part(product, '.', 1) end,
               case when is_subscription then 'Auto-Renewable Subscription'
                    when product in ('lifetime', 'level.pack') then 'Non-Consumable'
                    when product like 'coins%' then 'Consumable'
                    else 'Non-Renewing Subscription' end,
               case when hashint8(n * 29) % 25 = 0 then 'FAMILY_SHARED' else 'PURCHASED' end, at,
               case when is_subscription or product = 'season.pass' then at + interval '30 days' end, false,
               case when period > 1 then 'RENEWAL' else 'PURCHASE' end, account,
               9990, 'USD', 1, 'USA', id, at, sha256(id::bytea || int4send(period)), md5('notification' || id)::uuid,
               json_build_object('transactionId', id, 'productId', product, 'price', 9990, 'filling', repeat('x', 300))
          from (select f.*, period, starts - interval '30 days' * (periods - period) as at
                  from filling f cross join lateral generate_series(1, periods) period) p;

        insert into storehook.renewals
               (environment, bundle_id, original_transaction_id, product_id, renewal_product_id, auto_renew, renews_at,
                in_billing_retry, app_account_token, renewal_price, currency, signed_at, digest, notification_uuid, payload)
        select environment, bundle_id, id, product, product, renews, starts + interval '30 days', false, account, 9990, 'USD',
               starts, sha256(id::bytea), md5('notification' || id)::uuid,
               json_build_object('originalTransactionId', id, 'autoRenewStatus', renews::int, 'filling', repeat('x', 100))
          from filling where is_subscription;

        """

    /// What is derived from them.
    private static let derived = """
        create temporary table filling_phases on commit drop as
        select f.*, phase.*, greatest(0, (periods + 1) / 4 - 1) * 4 as earlier,
               array[periods + 1 - greatest(0, (periods + 1) / 4 - 1) * 4] as size
          from filling f
         cross join lateral (
            select array_agg(starts - interval '30 days' * (periods - i) order by i) as phase_starts,
                   array_agg(case when i > periods then 'expired' when i = periods and not renews then 'cancelled'
                                  else 'active' end order by i) as phase_status,
                   array_agg(id || case when periods > 1 and i > 1 then '.' || least(i, periods) else '' end order by i)
                       as phase_transaction,
                   array_agg(starts - interval '30 days' * (periods - least(i, periods) - 1) order by i) as phase_expires,
                   array_agg(i < periods or (i = periods and renews) order by i) as phase_will_renew
              from generate_series(1, periods + 1) i) phase
         where is_subscription;

        insert into storehook.subscriptions
               (environment, bundle_id, original_transaction_id, subscription_group_id, app_account_token,
                carried_account_token, paid_until, is_regular, earlier_phases, phase_starts, phase_status, phase_basis,
                phase_product, phase_transaction, phase_expires, phase_period_ends, phase_grace_ends, phase_trial,
                phase_will_renew, phase_renewal_product, phase_price_pending, phase_intent, phase_account)
        select environment, bundle_id, id, split_part(product, '.', 1), account,
               account, starts + interval '30 days', true, earlier,
               phase_starts[earlier + 1:], phase_status[earlier + 1:], array_fill('records'::text, size),
               array_fill(product, size), phase_transaction[earlier + 1:], phase_expires[earlier + 1:],
               phase_expires[earlier + 1:], array_fill(null::timestamptz, size), array_fill(false, size),
               phase_will_renew[earlier + 1:], array_fill(product, size), array_fill(false, size),
               array_fill(null::smallint, size), array_fill(account, size)
          from filling_phases;

        insert into storehook.subscription_history
               (environment, bundle_id, original_transaction_id, starts_at, phase_starts, phase_status, phase_basis,
                phase_product, phase_transaction, phase_expires, phase_period_ends, phase_grace_ends, phase_trial,
                phase_will_renew, phase_renewal_product, phase_price_pending, phase_intent, phase_account)
        select environment, bundle_id, id, phase_starts[a],
               phase_starts[a:a + 3], phase_status[a:a + 3], array_fill('records'::text, array[4]),
               array_fill(product, array[4]), phase_transaction[a:a + 3], phase_expires[a:a + 3],
               phase_expires[a:a + 3], array_fill(null::timestamptz, array[4]), array_fill(false, array[4]),
               phase_will_renew[a:a + 3], array_fill(product, array[4]), array_fill(false, array[4]),
               array_fill(null::smallint, array[4]), array_fill(account, array[4])
          from filling_phases cross join lateral generate_series(1, earlier, 4) a;

        insert into storehook.one_time_purchases
               (environment, bundle_id, original_transaction_id, kind, product_id, ownership, app_account_token,
                transaction_id, purchased_at, expires_at, revoked_at, quantity, revoked_share)
        select environment, bundle_id, id,
               case when product in ('lifetime', 'level.pack') then 'non_consumable'
                    when product like 'coins%' then 'consumable'
                    else 'non_renewing' end,
               product, 'PURCHASED', account, id, starts,
               case when product = 'season.pass' then starts + interval '30 days' end,
               case when is_refunded then starts + interval '1 hour' end, 1, case when is_refunded then 100000 else 0 end
          from filling where not is_subscription;

        """

    /// The evidence, and what operators see.
    private static let operations = """
        insert into storehook.purchase_facts
               (environment, bundle_id, original_transaction_id, outbox_id, signed_at, reported_status, transaction_id,
                transaction_signed_at, transaction_digest, product_id, ownership, purchased_at, is_upgraded, is_renewal,
                reason, is_free_trial, quantity, app_account_token)
        select environment, bundle_id, id, n, starts, 1, id, starts, sha256(id::bytea || int4send(1)), product, 'PURCHASED',
               starts, false, periods > 1, case when periods > 1 then 'RENEWAL' else 'PURCHASE' end, false, 1, account
          from filling;

        -- A row of each day first, so that each day has a partition.
        insert into storehook.outbox (id, received_at, body)
        select -d, now() - interval '1 day' * d, 'x' from generate_series(1, 30) d;
        select storehook.ensure_outbox_partitions();
        insert into storehook.outbox (id, received_at, body)
        select n, greatest(starts, now() - interval '29 days'), 'x' from filling;
        insert into storehook.duplicates (outbox_id, notification_uuid)
        select -d, gen_random_uuid() from generate_series(1, 30) d;
        insert into storehook.notifications
               (notification_uuid, outbox_id, type, environment, bundle_id, app_apple_id, original_transaction_id,
                transaction_id, apple_status, signed_at, received_at, applied_at, outcome)
        select md5('notification' || id)::uuid, n, case when n % 1000 = 0 then 'CONSUMPTION_REQUEST' else 'DID_RENEW' end,
               environment, bundle_id, 1234567890, id, id, 1, starts, starts, starts, 'applied'
          from filling;

        -- As much trouble in a small database as in a large one, but more of what is settled.
        insert into storehook.dead_letters
               (outbox_id, received_at, category, reason, message, attempts, resolution, resolved_at, resolved_by)
        select -1000 - d, now(), 'unprocessable', 'payload_malformed', 'filled', 1,
               case when d <= 20 then 'open' else 'replayed' end,
               case when d > 20 then now() end, case when d > 20 then 'filling' end
          from generate_series(1, 20 + :subscriptions / 500) d;
        insert into storehook.outbox_queue (id, received_at, due_at)
        select -1000 - d, now(), now() from generate_series(21, 120) d;
        insert into storehook.anomalies
               (environment, bundle_id, original_transaction_id, kind, signed_at, reported_status, derived_status)
        select environment, bundle_id, id, 'status_contradicted', starts, 2, 1 from filling where n <= 20;

        """
}
