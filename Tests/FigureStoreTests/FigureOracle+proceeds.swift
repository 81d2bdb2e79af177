import FigureStore
import Figures
import OrderSupport

extension FigureOracle {
    /// The commission table that ``proceeds(_:)`` goes by.
    static let commission = """
        program:
          - {from: 2023-06-01, program: small_business}
        rates:
          - {from: 2008-07-10, first_year: 30%, later_years: 15%, one_time: 27.125%}
          - {from: 2022-07-01, storefronts: [DEU, FRA], first_year: 26%, later_years: 13.5%}
          - {from: 2023-01-01, program: small_business, first_year: 15%, later_years: 10.001%}
        taxes:
          - {from: 2021-06-01, storefronts: [DEU], included: 15.966%}
          - {from: 2023-01-01, storefronts: [DEU, FRA], included: 16.667%}

        """

    /// Writes what is kept of each sale as the table `oracle.kept`, behind `oracle.sold`.
    ///
    /// All paid periods of an order are added up once, in years, from each lapse on. A sale is of later years if the periods that began before its
    /// own one add up to a year. The length of a period, and the period that it is a part of, are inputs.
    static func proceeds(_ zone: String) -> String {
        """
        drop table if exists oracle.served, oracle.kept;
        create index on oracle.sold (order_key, booked_item);
        analyze oracle.sold;
        create table oracle.served as
        with counted as (
            select environment, bundle_id, order_key, booked_item, at, expires_at,
                   not is_trial and amount is distinct from 0 as is_paid,
                   coalesce(billed_quarters, case product_id when 'basic' then 4 when 'premium' then 4 when 'yearly' then 48 end,
                            case when lasts < 18 then 1 when lasts < 45 then 4 when lasts < 75 then 8 when lasts < 137 then 12
                                 when lasts < 273 then 24 else 48 end) as quarters,
                   extract(epoch from at - lag(expires_at) over orders) > 60 * 86400 as is_behind_lapse
              from oracle.sold
             where kind = 'Auto-Renewable Subscription' and share is distinct from 100000
               and (part_of is null or part_of = booked_item)
            window orders as (partition by environment, bundle_id, order_key order by at, booked_item)
        ), runs as (
            select *, count(*) filter (where is_behind_lapse) over (
                          partition by environment, bundle_id, order_key order by at, booked_item) as run
              from counted
        )
        select *, sum(case when not is_paid then 0 when quarters = 1 then 1 / 52.0 else quarters / 48.0 end) over (
                      partition by environment, bundle_id, order_key, run order by at, booked_item) as served
          from runs;
        create index on oracle.served (order_key, at);
        analyze oracle.served;
        create table oracle.kept as
        select s.environment, s.bundle_id, s.order_key, s.item, s.kind, y.is_later,
               (1 - t.tax) * (1 - case when s.kind <> 'Auto-Renewable Subscription' then r.one_time when y.is_later then r.later
                                       else r.first end) as kept
          from oracle.sold s
         cross join lateral (select (s.at at time zone '\(zone)')::date as day) d
         cross join lateral (
            select case when day >= '2023-01-01' and s.storefront in ('DEU', 'FRA') then 0.16667
                        when day >= '2021-06-01' and s.storefront = 'DEU' then 0.15966 else 0 end as tax) t
          join (values ('small', 0.15, 0.10001, 0.15), ('west', 0.26, 0.135, 0.26), ('all', 0.3, 0.15, 0.27125))
               as r (name, first, later, one_time)
            on r.name = case when day >= '2023-06-01' then 'small'
                             when day >= '2022-07-01' and s.storefront in ('DEU', 'FRA') then 'west' else 'all' end
         cross join lateral (
            select coalesce(min(f.at), s.at) as begun from oracle.sold f
             where (f.environment, f.bundle_id, f.order_key, f.booked_item) = (s.environment, s.bundle_id, s.order_key, s.part_of)) p
          left join lateral (
            select v.served, v.expires_at from oracle.served v
             where (v.environment, v.bundle_id, v.order_key) = (s.environment, s.bundle_id, s.order_key) and v.at < p.begun
             order by v.at desc, v.booked_item desc limit 1) b on true
         cross join lateral (
            select coalesce(round(b.served, 6) >= 1 and extract(epoch from p.begun - b.expires_at) <= 60 * 86400, false) as is_later) y
         where s.amount is distinct from 0;
        analyze oracle.kept;

        """
    }

    /// A query: the rows of proceeds, as the table `oracle.figure_rows` has them.
    static func proceedsRows(_ zone: String) -> String {
        """
        select m.environment, m.bundle_id, m.measure, m.at, m.product_id, m.storefront, m.currency,
               case when e.exact % 1 = 0.5 then floor(e.exact) + floor(e.exact) % 2 else round(e.exact) end, m.transaction_id,
               null::timestamptz, m.sold_at, (m.at at time zone '\(zone)')::date
          from (
            select environment, bundle_id, order_key, item, 'proceeds' as measure, at, product_id, storefront, currency, amount,
                   transaction_id, at as sold_at
              from oracle.sold
            union all
            select environment, bundle_id, order_key, item, case measure when 'refund' then 'proceeds_back' else 'proceeds_again' end, at,
                   product_id, storefront, currency, amount, transaction_id, sold_at
              from oracle.given_back) m
          join oracle.kept k using (environment, bundle_id, order_key, item)
         cross join lateral (select m.amount * k.kept as exact) e
        """
    }
}
