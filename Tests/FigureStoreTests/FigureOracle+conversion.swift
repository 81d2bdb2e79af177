import Base
import Figures
import OrderSupport
import Postgres

extension FigureOracle {
    /// Writes what the rows of figures are in a currency as the table `oracle.converted_rows`, anew: each row is converted by itself. What no rate
    /// is known for keeps its currency, and a `!` behind it. ``derive()`` comes before it.
    func convert(to currency: String) async throws {
        let script = Self.script(currency, zone)
        try await site.pool.withTransaction { try $0.executeScript(script, deadline: .seconds(300)) }
    }

    /// How much of the table is of each kind.
    func conversions() async throws -> (converted: Int, lost: Int) {
        let row = try await site.pool.query(
            """
            select count(*) filter (where currency <> own_currency and currency not like '%!') as converted,
                   count(*) filter (where currency like '%!') as lost from oracle.converted_rows
            """
        ).one()
        return (try row.decode("converted"), try row.decode("lost"))
    }

    /// The rates are read as decimals of days on which both currencies have one, the euro on each day of the calendar, and a half is decided by
    /// what is left of a whole division.
    private static func script(_ currency: String, _ zone: String) -> String {
        """
        drop table if exists oracle.rates, oracle.factors, oracle.converted_rows;
        create table oracle.rates as
        select currency, day, billionths / 1000000000.0::numeric as rate from storehook.exchange_rates
        union all
        select 'EUR', d::date, 1
          from (select min(sold_at) as first, max(sold_at) as last from oracle.figure_rows) s
         cross join generate_series(s.first - interval '20 days', s.last + interval '2 days', interval '1 day') d;
        create index on oracle.rates (currency, day);
        create table oracle.factors as
        select p.currency, p.day, (
                 select max(own.day) from oracle.rates own join oracle.rates other on other.day = own.day and other.currency = '\(currency)'
                  where own.currency = p.currency and own.day <= p.day and own.day >= p.day - 7) as rate_day
          from (select distinct currency, (sold_at at time zone '\(zone)')::date as day from oracle.figure_rows) p;
        create table oracle.converted_rows as
        select r.environment, r.bundle_id, r.measure, r.at, r.day, r.product_id, r.storefront, r.currency as own_currency, r.transaction_id,
               case when c.is_lost then r.currency || ' !' else '\(currency)' end as currency,
               case when c.is_lost or r.currency = '\(currency)' or r.amount = 0 then r.amount
                    else h.whole + case when 2 * h.left_over > own.rate then 1 when 2 * h.left_over = own.rate then h.whole % 2 else 0 end end as amount
          from oracle.figure_rows r
          left join oracle.factors f on f.currency = r.currency and f.day = (r.sold_at at time zone '\(zone)')::date
          left join oracle.rates own on own.currency = r.currency and own.day = f.rate_day
          left join oracle.rates other on other.currency = '\(currency)' and other.day = f.rate_day
         cross join lateral (
            select coalesce(r.amount <> 0 and r.currency <> '\(currency)' and own.rate is null, false) as is_lost) c
         cross join lateral (select (r.amount * other.rate) % own.rate as left_over) l
         cross join lateral (
            select round((r.amount * other.rate - l.left_over) / own.rate, 0) as whole, l.left_over) h
         where r.measure <> 'order';
        analyze oracle.converted_rows;
        """
    }
}
