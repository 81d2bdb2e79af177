import Base
import FigureStore
import Figures
import OrderSupport
import Postgres

/// What the figures are to be, in plain SQL over what ``OrderOracle`` makes of the raw facts: nothing that the program sums is read.
///
/// The instants at which rows arrived, and the days in the numbers of orders, are evidence, and inputs.
struct FigureOracle {
    let site: OrderDatabase
    /// Where the days begin. In no zone that these tests judge by it is midnight twice on a day.
    let zone: String

    /// Writes the rows that figures count as the table `oracle.figure_rows`, anew. ``OrderOracle/derive()`` comes before it.
    func derive() async throws {
        let script = Self.script(zone)
        try await site.pool.withTransaction { try $0.executeScript(script, deadline: .seconds(300)) }
    }

    /// The first and the last day of any row.
    func days() async throws -> ClosedRange<CalendarDay>? {
        let row = try await site.pool.query("select min(day)::text, max(day)::text from oracle.figure_rows").one()
        guard let first = try row.decode(0, as: String?.self).flatMap({ CalendarDay($0) }),
            let last = try row.decode(1, as: String?.self).flatMap({ CalendarDay($0) })
        else { return nil }
        return first...last
    }

    /// The values of a figure of all days, as ``FigureAnswer/lines`` writes them.
    func lines(
        _ figure: Figure, by step: FigureQuestion.Step, _ split: FigureQuestion.Split?, environment: String,
        isConverted: Bool = false
    ) async throws -> [String] {
        let part = [
            "app": "bundle_id", "product": "product_id", "country": "storefront",
            "currency": isConverted ? "own_currency" : "currency",
        ]
        let period = step == .month ? "date_trunc('month', day)::date" : "day"
        let keys =
            [period]
            + [split.flatMap { part[$0.rawValue] }, Self.isMoney(figure) ? "currency" : nil].compactMap(\.self)
        let written = [period] + keys.dropFirst().map { "coalesce(nullif(\($0), ''), 'none')" }
        return try await site.texts(
            PostgresQuery(
                unescaped: """
                    select concat_ws(' ', \((written + Self.values(figure).map { "coalesce((\($0))::text, '-')" }).joined(separator: ", ")))
                      from oracle.\(isConverted ? "converted_rows" : "figure_rows")
                     where environment = '\(environment)' and measure in (\(Self.measures(figure)))
                     group by \(Set(keys).sorted().joined(separator: ", "))
                    """))
    }

    /// The rows of a figure, as ``FigureRow/line`` writes them.
    func rows(_ figure: Figure, environment: String) async throws -> [String] {
        let negative = figure == .refunded ? "'reversal'" : "'refund', 'late_refund', 'proceeds_back'"
        return try await site.texts(
            PostgresQuery(
                unescaped: """
                    select concat_ws(' ', measure, floor(extract(epoch from at) * 1000)::bigint, bundle_id,
                               coalesce(nullif(product_id, ''), 'none'), coalesce(nullif(storefront, ''), 'none'),
                               coalesce(nullif(currency, ''), 'none'),
                               coalesce((case when measure in (\(negative)) then -amount else amount end)::text, '-'),
                               coalesce(transaction_id, '-'))
                      from oracle.figure_rows
                     where environment = '\(environment)' and measure in (\(Self.measures(figure)))
                    """))
    }

    // MARK: Definitions

    private static func isMoney(_ figure: Figure) -> Bool {
        ![.orders, .transactions, .trials, .trialConversion, .purchaseFailureRate, .restoreSuccessRate].contains(figure)
    }

    private static func measures(_ figure: Figure) -> String {
        switch figure {
        case .orders: "'order'"
        case .transactions, .gross: "'sale'"
        case .refunded: "'refund', 'reversal'"
        case .net: "'sale', 'refund', 'reversal'"
        case .refundRate: "'sale', 'refunded_sale', 'refund', 'reversal'"
        case .heardLate: "'late_sale', 'late_refund', 'late_reversal'"
        case .trials, .trialConversion:
            "'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded', \(ownTrialMeasures)"
        case .proceeds: "'proceeds', 'proceeds_back', 'proceeds_again'"
        // RecurringModel has these, and lives have no attempts and restores.
        case .mrr, .mrrMovements, .active, .churn, .retention, .lifetimeValue, .freeToPaid, .purchaseFailureRate,
            .restoreSuccessRate:
            "null"
        }
    }

    private static func sum(_ measure: String) -> String {
        "coalesce(sum(amount) filter (where measure = '\(measure)'), 0)"
    }

    private static func count(_ measure: String, _ condition: String = "true") -> String {
        "count(*) filter (where measure = '\(measure)' and \(condition))"
    }

    private static func share(_ part: String, of whole: String) -> String {
        "case when \(whole) > 0 then round(100000 * (\(part))::numeric / (\(whole))::numeric) end"
    }

    private static func values(_ figure: Figure) -> [String] {
        let gross = sum("sale")
        let refunded = "\(sum("refund")) - \(sum("reversal"))"
        let (paid, unpriced) = (count("sale", "amount is distinct from 0"), count("sale", "amount is null"))
        let (converted, ownConverted) = (count("trial_converted"), count("own_trial_converted"))
        let open = "\(count("trial")) - \(converted) - \(count("trial_lapsed"))"
        let ownOpen = "\(count("own_trial")) - \(ownConverted) - \(count("own_trial_lapsed"))"
        return switch figure {
        case .orders: ["count(*)"]
        case .transactions: [paid, count("sale", "amount = 0"), unpriced]
        case .gross: [gross, paid, unpriced]
        case .refunded: [refunded, count("refund"), count("reversal"), "count(*) filter (where amount is null)"]
        case .net: ["\(gross) - (\(refunded))", gross, refunded]
        case .refundRate:
            [
                share(refunded, of: gross), share("\(count("refund")) - \(count("reversal"))", of: paid),
                share(sum("refunded_sale"), of: gross), share(count("refunded_sale"), of: paid), refunded, gross,
            ]
        case .heardLate:
            [
                "\(sum("late_sale")) - \(sum("late_refund")) + \(sum("late_reversal"))", count("late_sale"),
                count("late_refund"), count("late_reversal"),
            ]
        case .trials:
            [
                count("trial"), converted, count("trial_lapsed"), open, count("own_trial"), ownConverted,
                count("own_trial_lapsed"), ownOpen,
            ]
        case .trialConversion:
            [
                share(converted, of: "\(count("trial")) - (\(open))"), converted, count("trial"), open,
                count("trial_refunded"), share(ownConverted, of: "\(count("own_trial")) - (\(ownOpen))"), ownConverted,
                count("own_trial"), ownOpen, count("own_trial_refunded"),
            ]
        case .proceeds:
            [
                "\(sum("proceeds")) - \(sum("proceeds_back")) + \(sum("proceeds_again"))", sum("proceeds"),
                "\(sum("proceeds_back")) - \(sum("proceeds_again"))", count("proceeds"),
                count("proceeds", "amount is null"),
            ]
        case .mrr, .mrrMovements, .active, .churn, .retention, .lifetimeValue, .freeToPaid, .purchaseFailureRate,
            .restoreSuccessRate:
            []
        }
    }

    private static func script(_ zone: String) -> String {
        """
        drop table if exists oracle.sold, oracle.given_back, oracle.figure_rows;
        create table oracle.sold as
        select s.environment, s.bundle_id, s.order_key, s.item, s.transaction_id, s.purchased_at as at, s.product_id, s.storefront,
               s.currency, s.price as amount, g.share, g.refunded, t.heard_at, s.is_trial, s.expires_at, t.is_renewal_off, t.part_of,
               s.kind, s.line, t.item as booked_item, t.billed_quarters,
               extract(epoch from coalesce(t.first_ends_at, s.expires_at) - s.purchased_at) / 86400 as lasts
          from oracle.shown s
          join oracle.standing g using (environment, bundle_id, order_key, item)
          left join storehook.booked_orders o using (environment, bundle_id, order_key)
          left join storehook.booked_transactions t on t.order_id = o.id and t.item in (s.item, 'w' || s.item, 't' || s.item)
         where not s.is_void;
        create table oracle.given_back as
        select s.environment, s.bundle_id, s.order_key, s.item, s.transaction_id, case r.type when 'refund' then 'refund' else 'reversal' end as measure,
               r.at, s.product_id, s.storefront, s.currency, r.amount, b.heard_at, s.at as sold_at
          from oracle.refunds r
          join oracle.sold s using (environment, bundle_id, order_key, item)
          left join storehook.booked_orders o using (environment, bundle_id, order_key)
          left join storehook.booked_refunds b on b.order_id = o.id and b.item in (r.item, 'w' || r.item, 't' || r.item) and b.place = r.place
         where r.type <> 'revoke' and s.amount is distinct from 0;
        \(proceeds(zone))
        \(firstPayments)
        create table oracle.figure_rows as
        with moved as (
            select environment, bundle_id, 'sale' as measure, at, product_id, storefront, currency, amount, transaction_id, heard_at,
                   at as sold_at
              from oracle.sold
            union all
            select environment, bundle_id, measure, at, product_id, storefront, currency, amount, transaction_id, heard_at, sold_at
              from oracle.given_back
        ), dated as (
            select *, (at at time zone '\(zone)')::date as day from moved
            union all
            select environment, bundle_id, 'refunded_sale', at, product_id, storefront, currency, refunded, transaction_id, null, at,
                   (at at time zone '\(zone)')::date
              from oracle.sold
             where share is distinct from 0 and amount is distinct from 0
            union all
            select environment, bundle_id, 'late_' || measure, heard_at, product_id, storefront, currency, amount, transaction_id, heard_at, sold_at,
                   (heard_at at time zone '\(zone)')::date
              from moved
             where heard_at - interval '24 hours' > ((at at time zone '\(zone)')::date + 1)::timestamp at time zone '\(zone)'
            union all
            select o.environment, o.bundle_id, 'order', o.day::timestamp at time zone '\(zone)', b.product_id, b.storefront, b.currency,
                   null, null, null, null, o.day
              from oracle.orders o
             cross join lateral (
                select s.* from oracle.sold s
                 where (s.environment, s.bundle_id, s.order_key) = (o.environment, o.bundle_id, o.order_key) and s.at <= now()
                 order by s.at desc, s.at = o.started_at desc, (s.product_id, s.currency, s.amount) is not distinct from
                          (o.product_id, o.currency, o.amount) desc
                 limit 1) b
            union all
            select t.environment, t.bundle_id, m.measure, t.at, t.product_id, t.storefront, t.currency, null, t.transaction_id, null, null,
                   (t.at at time zone '\(zone)')::date
              from (
                select s.*, (
                    select array_agg(p.share is distinct from 0 order by p.at, p.item) from oracle.sold p
                     where (p.environment, p.bundle_id, p.order_key) = (s.environment, s.bundle_id, s.order_key)
                       and not p.is_trial and p.amount is distinct from 0
                       and p.at > s.at and extract(epoch from p.at - s.expires_at) <= 60 * 86400) as payments
                  from oracle.sold s where s.is_trial and coalesce(s.part_of = s.booked_item, true)) t
             cross join lateral (
                select 'trial' as measure
                union all
                select case when t.payments is not null then 'trial_converted'
                            when extract(epoch from now() - t.expires_at) > case when t.is_renewal_off then 0 else 60 * 86400 end
                            then 'trial_lapsed' end
                union all
                select 'trial_refunded' where t.payments[1]) m
             where m.measure is not null
            union all
            \(ownTrialRows(zone))
            union all
            \(proceedsRows(zone))
        )
        select environment, bundle_id, measure, at, day, coalesce(product_id, '') as product_id, coalesce(storefront, '') as storefront,
               coalesce(currency, '') as currency, amount, transaction_id, sold_at
          from dated;
        analyze oracle.figure_rows;
        """
    }
}
