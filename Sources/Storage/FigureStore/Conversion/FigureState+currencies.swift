import Base
import Figures
import Postgres

/// A currency with kept sums, by the days of a zone.
struct KeptCurrency: Sendable, Hashable {
    /// ISO 4217.
    let currency: String
    /// The zone.
    let zone: String
    /// Whether it is the reporting currency; false for one that answers were asked for in.
    let isReporting: Bool
    /// The first converted day: all later ones are converted, too; nil where all days are.
    var convertedFrom: CalendarDay?

    fileprivate init(_ row: PostgresRow) throws {
        currency = try row.decode("currency")
        zone = try row.decode("zone")
        isReporting = try row.decode("is_reporting")
        convertedFrom = try row.decode("converted_from", as: String?.self).flatMap { CalendarDay($0) }
    }

    /// All of them.
    static func read(_ session: borrowing PostgresSession) throws -> [KeptCurrency] {
        try session.query(
            PostgresQuery(
                "figures.currencies",
                """
                select currency, zone, is_reporting, converted_from::text as converted_from
                  from storehook.figure_currencies order by zone, not is_reporting, currency
                """)
        ).map { try KeptCurrency($0) }
    }

    fileprivate func converts(_ day: CalendarDay) -> Bool { convertedFrom.map { day >= $0 } ?? true }
}

extension FigureState {
    /// Whether all days of a zone are converted to a currency.
    func keeps(_ currency: String, in zone: String) -> Bool {
        currencies.contains { $0.currency == currency && $0.zone == zone && $0.convertedFrom == nil }
    }

    /// Whether it is the reporting currency.
    func isReporting(_ currency: String) -> Bool { currencies.contains { $0.currency == currency && $0.isReporting } }

    /// The reporting currency; nil without one, and until its sums are kept.
    func reportingCurrency(in zone: String) -> String? {
        currencies.first { $0.isReporting && $0.zone == zone && $0.convertedFrom == nil }?.currency
    }

    /// Keeps sums in the reporting currency and in currencies of recent questions, and in no others. Until all days are converted to a currency,
    /// answers in it come from the cells.
    /// - Returns: whether a currency waits: its sums of an earlier time are deleted first, in portions.
    mutating func keepCurrencies(_ reporting: String?, _ session: borrowing PostgresSession) throws -> Bool {
        // The earlier release keeps sums of its own. They are not kept up to date from here on.
        try session.query(
            PostgresQuery(
                "figures.forget_conversion",
                """
                update storehook.figure_state set currency = null, converted_from = null
                 where currency is not null or converted_from is not null
                """))
        let isWaiting: Bool
        if let beginning = nextZone ?? zone {
            isWaiting = try session.query(.keepCurrencies(reporting, in: convertedZones, beginningIn: beginning)).one()
                .decode(0)
        } else {
            isWaiting = false
        }
        currencies = try KeptCurrency.read(session)
        return isWaiting
    }

    /// Converts further months of a new currency, the latest first.
    /// - Parameter count: about so many days.
    /// - Returns: whether there are more.
    mutating func walkConversion(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        guard let place = currencies.firstIndex(where: { $0.convertedFrom != nil }),
            let from = currencies[place].convertedFrom
        else { return false }
        let (kept, limit) = (currencies[place], max(1, count / 31))
        let months = try session.query(.months(in: kept.zone, before: from, limit)).compactMap {
            CalendarDay(try $0.decode(0, as: String.self))
        }
        for month in months { try convert(FigureMonth(month), to: kept, session) }
        currencies[place].convertedFrom = Int64(months.count) < limit ? nil : months.last
        try session.query(.note(currencies[place]))
        return currencies.contains { $0.convertedFrom != nil }
    }

    /// Converts some of the months with changed rates anew, the latest first.
    /// - Parameter count: about so many days.
    /// - Returns: whether there may be more.
    func convertChanged(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        let limit = max(1, count / 31)
        let months = try session.query(.takeConversionMarks(limit)).compactMap {
            CalendarDay(try $0.decode(0, as: String.self))
        }
        for month in months {
            for kept in currencies where kept.converts(month) { try convert(FigureMonth(month), to: kept, session) }
        }
        return Int64(months.count) == limit
    }

    private func convert(
        _ month: FigureMonth, to kept: KeptCurrency, _ session: borrowing PostgresSession
    ) throws {
        try session.query(.convert(month, in: kept.zone, to: kept.currency), deadline: .seconds(600))
        let days = CalendarStep.day.periods(of: month.days).map(\.lowerBound)
        try session.query(.convertValues(days, in: kept.zone, to: kept.currency), deadline: .seconds(600))
    }

    /// Converts what customers paid on whole days anew. The other figures of these days are converted as they are summed.
    func convertValues(_ days: [CalendarDay], in zone: String, _ session: borrowing PostgresSession) throws {
        for kept in currencies where kept.zone == zone {
            let converted = days.filter { kept.converts($0) }
            guard !converted.isEmpty else { continue }
            try session.query(.convertValues(converted, in: zone, to: kept.currency))
        }
    }
}

extension FigureStore {
    /// The time after a question for which sums in its currency are kept.
    private static let askedFor = "interval '30 days'"

    /// The most currencies with kept sums beside the reporting one. Each adds a share to the work and the size of figures.
    private static let mostAsked = 3

    /// A query: the currencies of recent questions with kept sums. The earliest come first: a new currency never displaces one in use.
    fileprivate static let asked = """
        select a.currency from storehook.asked_currencies a
         where a.asked_at > now() - \(askedFor)
           and (a.currency = '\(CurrencyCode.euro)' or exists (select from storehook.exchange_rates e where e.currency = a.currency))
         order by a.first_at, a.currency limit \(mostAsked)
        """

    /// Notes a currency of a question: workers keep sums in it. An error of the statement is dropped: on a standby, and with a database user
    /// without this right, the next answer comes from the cells again.
    func note(_ currency: String) async {
        _ = try? await pool.query(
            PostgresQuery(
                "figures.note_currency",
                """
                insert into storehook.asked_currencies as known (currency)
                select \(currency)::text
                 where \(currency) = \(CurrencyCode.euro) or exists (select from storehook.exchange_rates where currency = \(currency))
                    on conflict (currency) do update
                   set asked_at = now(),
                       first_at = case when known.asked_at > now() - \(unescaped: Self.askedFor) then known.first_at else now() end
                """))
    }
}

extension PostgresQuery {
    /// Whether there is something to do about currencies: one begins or ends to be kept, days are not converted yet, or sums are to be deleted.
    static func currenciesAreDue(_ reporting: String?) -> PostgresQuery {
        PostgresQuery(
            "figures.currencies_are_due",
            """
            with reporting as materialized (select \(reporting)::text as currency), wanted as materialized (
                select currency from reporting where currency is not null union (\(unescaped: FigureStore.asked))
            ), state as materialized (
                select zone, next_zone, coalesce(next_zone, zone) as beginning from storehook.figure_state
            )
            select exists (
                       select from storehook.figure_currencies f cross join state s
                        where f.converted_from is not null or f.currency not in (select currency from wanted)
                           or f.zone is distinct from s.zone and f.zone is distinct from s.next_zone
                           or f.is_reporting <> (f.currency is not distinct from (select currency from reporting)))
                or exists (
                       select from wanted w cross join state s
                        where s.beginning is not null
                          and not exists (
                              select from storehook.figure_currencies f where f.currency = w.currency and f.zone = s.beginning))
                or exists (
                       select from (\(unescaped: FigureStore.conversionsHeld)) h
                        where not exists (select from storehook.figure_currencies f where (f.currency, f.zone) = (h.target, h.zone)))
                or exists (select from storehook.converted_sums order by target, zone limit 1)
            """
        ).keepingPlan()
    }

    /// Whether a currency was noted within the last day.
    static func isNoted(_ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.is_noted",
            """
            select exists (select from storehook.asked_currencies where currency = \(currency) and asked_at > now() - interval '1 day')
            """)
    }

    /// Begins and ends to keep currencies. Returns whether a new one has sums of an earlier time: it begins once they are deleted.
    /// - Parameter beginning: the zone of the days of a new one.
    fileprivate static func keepCurrencies(
        _ reporting: String?, in zones: [String], beginningIn beginning: String
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.keep_currencies",
            """
            with reporting as materialized (select \(reporting)::text as currency), wanted as materialized (
                select currency from reporting where currency is not null union (\(unescaped: FigureStore.asked))
            ), dropped as (
                delete from storehook.figure_currencies
                 where zone <> all (\(zones)) or currency not in (select currency from wanted)
            ), named as (
                update storehook.figure_currencies f set is_reporting = not f.is_reporting
                 where f.is_reporting <> (f.currency is not distinct from (select currency from reporting))
                   and f.zone = any (\(zones)) and f.currency in (select currency from wanted)
            ), missing as materialized (
                select w.currency,
                       exists (select from storehook.currency_sums s where s.target = w.currency and s.zone = \(beginning))
                       or exists (select from storehook.currency_values v where v.target = w.currency and v.zone = \(beginning))
                       or exists (select from storehook.currency_value_days v where v.target = w.currency and v.zone = \(beginning)) as is_left
                  from wanted w
                 where not exists (select from storehook.figure_currencies f where f.currency = w.currency and f.zone = \(beginning))
            ), begun as (
                insert into storehook.figure_currencies (currency, zone, is_reporting, converted_from)
                select m.currency, \(beginning), m.currency is not distinct from (select currency from reporting),
                       (select (date_trunc('month', max(c.day)::timestamp) + interval '1 month')::date
                          from storehook.figure_cells c where c.zone = \(beginning))
                  from missing m where not m.is_left
            )
            select coalesce(bool_or(is_left), false) from missing
            """)
    }

    fileprivate static func note(_ kept: KeptCurrency) -> PostgresQuery {
        PostgresQuery(
            "figures.note_conversion",
            """
            update storehook.figure_currencies set converted_from = \(kept.convertedFrom?.description)::text::date
             where currency = \(kept.currency) and zone = \(kept.zone)
            """)
    }

    /// Deletes some sums of currencies and zones that are no longer kept, and those of the earlier release; returns rows where there were any.
    static let sweepCurrencies = PostgresQuery(
        "figures.sweep_currencies",
        """
        with held as materialized (
            select target, zone from (\(unescaped: FigureStore.conversionsHeld)) h
             where not exists (select from storehook.figure_currencies f where (f.currency, f.zone) = (h.target, h.zone))
        ), sums as (
            delete from storehook.currency_sums where ctid = any (array(
                select s.ctid from held join storehook.currency_sums s using (target, zone) limit 20000))
            returning target
        ), paid as (
            delete from storehook.currency_values where ctid = any (array(
                select v.ctid from held join storehook.currency_values v using (target, zone) limit 20000))
            returning target
        ), paid_days as (
            delete from storehook.currency_value_days where ctid = any (array(
                select v.ctid from held join storehook.currency_value_days v using (target, zone) limit 2000))
            returning target
        ), former as (
            delete from storehook.converted_sums where ctid = any (array(select ctid from storehook.converted_sums limit 20000)) returning target
        ), corrected as (
            delete from storehook.corrected_conversions where ctid = any (array(select ctid from storehook.corrected_conversions limit 20000))
            returning target
        )
        select distinct target from (table sums union all table paid union all table paid_days union all table former union all table corrected) gone
        """)
}

extension FigureStore {
    /// A query: the currencies and zones with sums. Each is looked for behind the one before it.
    static let conversionsHeld = """
        with recursive sums as (
            (select target, zone from storehook.currency_sums order by target, zone limit 1)
            union all
            select n.target, n.zone from sums
             cross join lateral (
                select s.target, s.zone from storehook.currency_sums s where (s.target, s.zone) > (sums.target, sums.zone)
                 order by s.target, s.zone limit 1) n
        ), paid as (
            (select target, zone from storehook.currency_values order by target, zone limit 1)
            union all
            select n.target, n.zone from paid
             cross join lateral (
                select v.target, v.zone from storehook.currency_values v where (v.target, v.zone) > (paid.target, paid.zone)
                 order by v.target, v.zone limit 1) n
        )
        select target, zone from sums union select target, zone from paid union select target, zone from storehook.currency_value_days
        """
}
