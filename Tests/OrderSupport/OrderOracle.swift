import Postgres

/// What the orders are to be, in plain SQL over the raw facts and nothing that the program derives.
///
/// It is written from the definitions of orders alone. Numbers, instants of first knowledge and the ranks of tiers are evidence, and not
/// judged; of a change of plan it judges whether it is one, and its type where the catalog lacks a product.
package struct OrderOracle {
    let site: OrderDatabase
    /// Where the days begin.
    let zone: String
    /// Whether numbers were dealt before all was heard. The day of a number stands, though an earlier first purchase is heard after it: it
    /// is evidence then, and any day is right on which a record of the purchase was first bought.
    let isDealtMeanwhile: Bool

    /// Of a database.
    package init(site: OrderDatabase, zone: String, isDealtMeanwhile: Bool = false) {
        (self.site, self.zone, self.isDealtMeanwhile) = (site, zone, isDealtMeanwhile)
    }

    /// A row that only one side has.
    package struct Difference: Sendable, CustomStringConvertible {
        /// The order's.
        package var key: String
        package var description: String

        package init(key: String, description: String) { (self.key, self.description) = (key, description) }
    }

    /// Derives the expected rows anew, as tables of the schema `oracle`.
    package func derive() async throws {
        let script =
            Self.said + Self.things + Self.refunds + Self.relations + Self.expected(zone)
            + (isDealtMeanwhile ? Self.givenDays(zone) : "")
        try await site.pool.withTransaction { try $0.executeScript(script, deadline: .seconds(300)) }
    }

    /// The rows of the views that are not expected, and the expected ones that are not there.
    package func differences() async throws -> [Difference] {
        let rows = try await site.pool.query(PostgresQuery(unescaped: Self.comparison), deadline: .seconds(300))
        return try rows.map { row in
            Difference(
                key: try row.decode("key"),
                description: "\(try row.decode("side", as: String.self)) \(try row.decode("line", as: String.self))")
        }
    }

    /// Each signed record with the order and the transaction that it is of. A restored non-consumable says when the underlying purchase was
    /// made.
    private static let said = """
        drop schema if exists oracle cascade;
        create schema oracle;
        create table oracle.said as
        with records as (
            select environment, bundle_id, original_transaction_id as line, transaction_id, kind, ownership, product_id, purchased_at,
                   expires_at, revoked_at, revocation_percentage as percentage, revocation_type, coalesce(price, paid) as price, currency,
                   storefront, coalesce(quantity, 1) as quantity, coalesce(is_free_trial, false) as is_trial, reason,
                   coalesce(is_upgraded, false) as is_upgraded, coalesce(original_purchased_at, first_bought_at) as original_purchased_at,
                   transaction_signed_at as signed_at, transaction_digest as digest, web_order_line_item_id
              from storehook.purchase_facts
             where transaction_id is not null and is_unsigned is not true
        ), grouped as (
            select *,
                   case kind when 'Auto-Renewable Subscription' then coalesce(web_order_line_item_id, transaction_id)
                        when 'Non-Consumable' then
                            first_value(transaction_id) over (
                                partition by environment, bundle_id, line, kind, original_purchased_at order by purchased_at)
                        else transaction_id end as item,
                   original_purchased_at = min(original_purchased_at) over (partition by environment, bundle_id, line) as is_first
              from records
        )
        -- An index on rows that this transaction has updated would not be used in it.
        select *, (case when kind = 'Auto-Renewable Subscription' or kind = 'Non-Consumable' and is_first then line else item end)
                      collate "C" as order_key
          from grouped;
        create index on oracle.said (order_key, item, bundle_id, environment);
        analyze oracle.said;

        """

    /// The latest record of each transaction, and which renewals never begin.
    private static let things = """
        create table oracle.last as
        select distinct on (environment, bundle_id, order_key, item) *,
               min(signed_at) over (partition by environment, bundle_id, order_key, item) as first_signed_at
          from oracle.said
         where kind <> 'Non-Consumable' or transaction_id = item
         order by environment, bundle_id, order_key, item, signed_at desc, digest desc;
        create index on oracle.last (order_key, bundle_id, environment);
        analyze oracle.last;
        create table oracle.things as
        select r.*,
               r.kind = 'Auto-Renewable Subscription' and r.reason = 'RENEWAL' and exists (
                   select from oracle.last x
                    where x.environment = r.environment and x.bundle_id = r.bundle_id and x.order_key = r.order_key
                      and x.item <> r.item and x.product_id <> r.product_id
                      and not (x.reason = 'RENEWAL' and x.first_signed_at < x.purchased_at)
                      and x.purchased_at >= r.purchased_at - interval '1 day' and x.purchased_at < r.purchased_at
                      and x.expires_at > r.purchased_at
                      and (r.first_signed_at < x.purchased_at
                           or r.is_upgraded and exists (
                               select from oracle.last q
                                where q.environment = r.environment and q.bundle_id = r.bundle_id and q.order_key = r.order_key
                                  and q.item not in (r.item, x.item) and q.purchased_at < x.purchased_at
                                  and q.expires_at between r.purchased_at - interval '1 minute'
                                                       and r.purchased_at + interval '1 minute')
                           or r.is_upgraded and not exists (
                               select from oracle.last n
                                where n.environment = r.environment and n.bundle_id = r.bundle_id and n.order_key = r.order_key
                                  and n.item <> r.item and n.purchased_at > r.purchased_at and n.purchased_at < r.expires_at
                                  and n.purchased_at < x.expires_at - interval '1 day'))) as is_void
          from oracle.last r;
        create index on oracle.things (order_key, bundle_id, environment);
        analyze oracle.things;

        """

    /// The total given back after each record, in the order of signing, and the rows that its changes make.
    private static let refunds = """
        create table oracle.walk as
        with states as (
            select s.environment, s.bundle_id, s.order_key, s.item, s.signed_at, s.digest, s.revoked_at, t.price,
                   case when s.revoked_at is null then 'none'
                        when s.revocation_type in ('FAMILY_REVOKE', 'ASSIGNMENT_REVOKE') then 'revoke'
                        when s.revocation_type = 'REFUND_PRORATED' and s.percentage is null then 'unknown'
                        else 'share' end as state,
                   case when s.revoked_at is null or s.revocation_type in ('FAMILY_REVOKE', 'ASSIGNMENT_REVOKE') then 0
                        when s.revocation_type = 'REFUND_FULL' then 100000
                        when s.percentage is not null then least(s.percentage, 100000)
                        when s.revocation_type = 'REFUND_PRORATED' then null
                        else 100000 end as share
              from oracle.said s join oracle.things t using (environment, bundle_id, order_key, item)
        ), amounts as (
            select *, case when share = 0 then 0 when share > 0 then least(price, (price * share + 50000) / 100000) end as amount from states
        )
        select *, coalesce(lag(state) over w, 'none') as state_before,
               case when lag(state) over w is null then 0 else lag(share) over w end as share_before,
               case when lag(state) over w is null then 0 else lag(amount) over w end as amount_before,
               lead(signed_at) over w is null as is_last
          from amounts
        window w as (partition by environment, bundle_id, order_key, item order by signed_at, digest);
        create table oracle.refunds as
        select environment, bundle_id, order_key, item,
               case when state = 'revoke' then 'revoke'
                    when state = 'unknown' or share > share_before then 'refund' else 'refund_reversed' end as type,
               case when state in ('revoke', 'unknown') or share > share_before then revoked_at else signed_at end as at,
               case when state = 'revoke' then null else abs(amount - amount_before) end as amount,
               row_number() over (partition by environment, bundle_id, order_key, item order by signed_at, digest) - 1 as place,
               state <> 'revoke' and coalesce(share, 0) not in (0, 100000) or coalesce(share_before, 0) not in (0, 100000) as is_computed
          from oracle.walk
         where state is distinct from state_before and 'revoke' in (state)
            or state is distinct from state_before and 'unknown' in (state, state_before)
            or share <> share_before;
        create table oracle.standing as
        select environment, bundle_id, order_key, item, share, case when share = 0 then 0 else amount end as refunded,
               case when share = 0 then null else revoked_at end as refunded_at
          from oracle.walk
         where is_last;
        analyze oracle.standing;

        """

    /// What each period is to the one before it. A purchase after access ended is a return; a renewal by Apple is not.
    private static let relations = """
        create table oracle.relations as
        with ordered as (
            select environment, bundle_id, order_key, item, product_id, reason, purchased_at, kind,
                   lag(item) over w as follows, lag(product_id) over w as product_before, lag(expires_at) over w as end_before
              from oracle.things
             where not is_void
            window w as (partition by environment, bundle_id, order_key order by purchased_at, expires_at, item)
        ), lapsed as (
            select o.*,
                   o.end_before < o.purchased_at or exists (
                       select from oracle.said k
                        where k.environment = o.environment and k.bundle_id = o.bundle_id and k.order_key = o.order_key
                          and k.item = o.follows and k.revoked_at < o.purchased_at
                          and not exists (
                              select from oracle.said b
                               where b.environment = k.environment and b.bundle_id = k.bundle_id and b.order_key = k.order_key
                                 and b.item = k.item and b.revoked_at is null and b.signed_at > k.signed_at
                                 and b.signed_at <= o.purchased_at))
                       as is_lapsed,
                   -- What was charged ahead may keep access until another plan takes its place: the definitions leave that open.
                   exists (
                           select from oracle.things a
                            where a.environment = o.environment and a.bundle_id = o.bundle_id and a.order_key = o.order_key
                              and a.reason = 'RENEWAL' and a.first_signed_at < o.purchased_at and a.purchased_at > o.purchased_at
                              and a.purchased_at <= o.purchased_at + interval '1 day') as is_charged_ahead
              from ordered o
        )
        select environment, bundle_id, order_key, item,
               case when follows is null then '{initial_purchase}'
                    when is_lapsed and reason is distinct from 'RENEWAL' then
                        case when is_charged_ahead then '{resubscription,renewal,upgrade,downgrade,crossgrade}'
                             else '{resubscription}' end
                    when product_before = product_id then '{renewal}'
                    when 'mystery' not in (product_id, product_before) then '{upgrade,downgrade,crossgrade}'
                    when purchased_at < end_before then '{upgrade}'
                    else '{crossgrade}' end::text[] as types
          from lapsed;
        analyze oracle.relations;

        """

    /// The rows of the views.
    private static func expected(_ zone: String) -> String {
        """
        create table oracle.shown as
        select * from oracle.things t
         where not exists (
             select from oracle.things s
              where s.environment = t.environment and s.bundle_id = t.bundle_id and s.order_key = t.order_key
                and s.ownership in ('FAMILY_SHARED', 'ASSIGNED'));
        create table oracle.orders as
        with sums as (
            select environment, bundle_id, order_key, min(original_purchased_at) as originally_at,
                   count(*) filter (where price is distinct from 0) as with_money,
                   count(*) filter (where price is distinct from 0 and share = 100000) as in_full,
                   count(*) filter (where price is distinct from 0 and share is distinct from 0) as given_back,
                   max(refunded_at) filter (where price is distinct from 0) as refunded_at
              from oracle.shown join oracle.standing using (environment, bundle_id, order_key, item)
             where not is_void
             group by environment, bundle_id, order_key
        ), begun as (
            select distinct on (environment, bundle_id, order_key) *
              from oracle.shown
             where not is_void and purchased_at <= now()
             order by environment, bundle_id, order_key, purchased_at desc, expires_at desc, item desc
        )
        select environment, bundle_id, (originally_at at time zone '\(zone)')::date as day, order_key,
               b.line as original_transaction_id, b.product_id,
               case b.kind when 'Auto-Renewable Subscription' then 'auto_renewable' when 'Non-Consumable' then 'non_consumable'
                    when 'Consumable' then 'consumable' else 'non_renewing' end as plan_type,
               case when with_money > 0 and in_full = with_money then 'refunded' when given_back > 0 then 'partially_refunded'
                    else 'completed' end as status,
               b.price as amount, b.currency, b.purchased_at as started_at, b.expires_at as ends_at, s.refunded_at
          from sums s join begun b using (environment, bundle_id, order_key);
        create table oracle.totals as
        select environment, bundle_id, order_key, currency, coalesce(sum(price), 0)::bigint as paid,
               coalesce(sum(refunded), 0)::bigint as refunded, count(*) filter (where price is null) as unpriced,
               count(*) filter (where share is null or refunded is null) as unknown_refunds
          from oracle.shown join oracle.standing using (environment, bundle_id, order_key, item)
         where not is_void
         group by environment, bundle_id, order_key, currency;
        create table oracle.transactions as
        select environment, bundle_id, order_key, item, transaction_id,
               coalesce(types[1], 'void') as type, purchased_at as at, expires_at as ends_at, product_id, price as amount, currency,
               storefront, quantity, is_trial, is_void, false as is_computed
          from oracle.shown left join oracle.relations using (environment, bundle_id, order_key, item)
        union all
        select environment, bundle_id, order_key, item, transaction_id, r.type, r.at, null, product_id, r.amount, currency, storefront,
               quantity, is_trial, is_void, r.is_computed
          from oracle.shown join oracle.refunds r using (environment, bundle_id, order_key, item);
        """
    }

    /// Takes the days of numbers that were dealt early as they are, where they can be right.
    private static func givenDays(_ zone: String) -> String {
        """
        update oracle.orders o
           set day = booked.day
          from storehook.booked_orders booked
         where (booked.environment, booked.bundle_id, booked.order_key) = (o.environment, o.bundle_id, o.order_key)
           and exists (
               select from oracle.said s
                where (s.environment, s.bundle_id, s.line) = (o.environment, o.bundle_id, o.original_transaction_id)
                  and (s.original_purchased_at at time zone '\(zone)')::date = booked.day);
        """
    }

    private static let comparison = """
        with booked as (
            select o.order_key as key, 'order ' || (to_jsonb(o) - 'number' - 'created_at' - 'updated_at')::text as line
              from storehook.orders o
            union all
            select t.order_key, 'total ' || (to_jsonb(t) - 'number')::text from storehook.order_totals t
            union all
            select t.order_key, 'row ' || (to_jsonb(t) - 'number' - 'heard_at' - 'item' || jsonb_build_object('type',
                       case when t.type in ('refund', 'refund_reversed', 'revoke') then t.type when t.is_void then 'void'
                            when t.type = any (r.types) then r.types[1] else t.type end))::text
              from storehook.order_transactions t left join oracle.relations r
                       on (r.environment, r.bundle_id, r.order_key) = (t.environment, t.bundle_id, t.order_key)
                      and t.item in ('w' || r.item, 't' || r.item)
        ), expected as (
            select order_key as key, 'order ' || to_jsonb(o)::text as line from oracle.orders o
            union all
            select order_key, 'total ' || to_jsonb(t)::text from oracle.totals t
            union all
            select order_key, 'row ' || (to_jsonb(t) - 'item')::text from oracle.transactions t
        )
        select key, 'booked:  ' as side, line from (select * from booked except all select * from expected) b
        union all
        select key, 'expected:', line from (select * from expected except all select * from booked) e
        order by key, line
        """
}
