package import Base
package import Figures
package import Postgres

/// The exchange rates of a database, from imported files.
package struct RateStore: Sendable {
    private let pool: PostgresPool

    /// The rates of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Adds all rates of a file, and records the import. A known rate with another value is corrected: the earlier value stays on record, with the
    /// instant until which it counted. Rates that the file lacks stay. Two imports run one after the other.
    /// - Parameters:
    ///   - rates: each currency at most once a day.
    ///   - digest: the digest of the file.
    ///   - actor: the actor, for the record.
    /// - Throws: `PostgresError`.
    package func take(_ rates: [ExchangeRate], digest: Fingerprint, by actor: String) async throws -> RateImport {
        try await pool.withTransaction(TransactionOptions(idleTimeout: .seconds(60), name: "rates.import")) { session in
            // A worker holds this lock while it sums days. Days that it summed before are marked below, and later ones have these rates.
            try session.query("select 1 from storehook.figure_state for update", deadline: Self.patience)
            let instant = try session.query("select clock_timestamp()").one().decode(0, as: PostgresTimestamp.self)
            var taken = RateImport(rates: Int64(rates.count), added: 0, corrected: 0)
            for start in stride(from: 0, to: rates.count, by: Self.portion) {
                let portion = rates[start..<min(start + Self.portion, rates.count)]
                let row = try session.query(.write(portion, at: instant), deadline: Self.patience).one()
                let corrected: Int64 = try row.decode("corrected")
                taken.added += try row.decode("written", as: Int64.self) - corrected
                taken.corrected += corrected
            }
            try session.query(.markConversions(since: instant), deadline: Self.patience)
            try session.query(.record(taken, digest, by: actor, at: instant))
            return taken
        }
    }

    /// The known rates of each currency, in the order of codes.
    /// - Throws: `PostgresError`.
    package func known() async throws -> [KnownRates] {
        try await pool.query(.known).map { row in
            KnownRates(
                currency: try row.decode("currency"), first: try row.decode("first"), last: try row.decode("last"),
                days: try row.decode("days"), uncovered: try row.decode("uncovered"),
                corrected: try row.decode("corrected"),
                importedAt: Timestamp(try row.decode("imported_at", as: PostgresTimestamp.self)))
        }
    }

    /// The longest time of a statement, its wait for a lock included.
    private static let patience = Duration.seconds(300)
    private static let portion = 20_000
}

/// The result of an import.
package struct RateImport: Sendable, Hashable {
    /// The number of rates in the file.
    package var rates: Int64
    /// The number of new rates.
    package var added: Int64
    /// The number of rates that had another value before.
    package var corrected: Int64

    /// The counts of an import.
    package init(rates: Int64, added: Int64, corrected: Int64) {
        (self.rates, self.added, self.corrected) = (rates, added, corrected)
    }
}

/// The known rates of a currency.
package struct KnownRates: Sendable, Hashable {
    /// ISO 4217.
    package var currency: String
    /// The first day with a rate, as `2026-03-02`.
    package var first: String
    /// The last day with a rate.
    package var last: String
    /// The number of days with a rate.
    package var days: Int64
    /// The number of days between the first and the last one on which no rate counts.
    package var uncovered: Int64
    /// The number of corrected rates.
    package var corrected: Int64
    /// The instant of the latest import of a rate.
    package var importedAt: Timestamp
}

extension PostgresQuery {
    fileprivate static func write(_ rates: ArraySlice<ExchangeRate>, at instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "rates.write",
            """
            with given as materialized (
                select currency, day::date as day, billionths
                  from unnest(\(rates.map(\.currency)), \(rates.map(\.day.description)), \(rates.map(\.rate.billionths)))
                       g (currency, day, billionths)
            ), corrected as materialized (
                select e.currency, e.day, e.billionths, e.imported_at
                  from given g join storehook.exchange_rates e using (currency, day) where e.billionths <> g.billionths
            ), kept as (
                insert into storehook.earlier_rates (currency, day, billionths, imported_at, replaced_at)
                select currency, day, billionths, imported_at, \(instant) from corrected
            ), written as (
                insert into storehook.exchange_rates as known (currency, day, billionths, imported_at)
                select currency, day, billionths, \(instant) from given
                    on conflict (currency, day) do update
                   set billionths = excluded.billionths, imported_at = excluded.imported_at, corrected_at = excluded.imported_at
                 where known.billionths <> excluded.billionths
                returning 1
            )
            select (select count(*) from written) as written, (select count(*) from corrected) as corrected
            """)
    }

    /// Marks days of figures for conversion: days with an amount that a rate of this import converts, in one of the kept currencies.
    fileprivate static func markConversions(since instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "rates.mark",
            """
            with changed as materialized (
                select distinct e.currency, e.day + n as day
                  from storehook.exchange_rates e cross join generate_series(0, \(Int64(ConvertedCells.oldest))::int) n
                 where e.imported_at = \(instant)
            )
            insert into storehook.conversion_marks (day)
            select distinct c.day
              from storehook.figure_currencies f
              join storehook.figure_cells c
                on c.zone = f.zone and c.measure in (\(unescaped: CurrencySums.measures)) and c.unit <> 0 and c.currency <> f.currency
             where (c.currency, c.rate_day) in (select currency, day from changed)
                or (f.currency, c.rate_day) in (select currency, day from changed)
                on conflict do nothing
            """)
    }

    fileprivate static func record(
        _ taken: RateImport, _ digest: Fingerprint, by actor: String, at instant: PostgresTimestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "rates.record",
            """
            insert into storehook.rate_imports (at, imported_by, digest, rates, added, corrected)
            values (\(instant), \(actor), decode(\(digest.description), 'hex'), \(taken.rates), \(taken.added), \(taken.corrected))
            """)
    }

    fileprivate static let known = PostgresQuery(
        "rates.known",
        """
        select currency, min(day)::text as first, max(day)::text as last, count(*) as days,
               coalesce(sum(greatest(day - before - \(unescaped: "\(ConvertedCells.oldest)") - 1, 0)), 0)::bigint as uncovered,
               count(corrected_at) as corrected, max(imported_at) as imported_at
          from (select *, lag(day) over (partition by currency order by day) as before from storehook.exchange_rates) r
         group by currency order by currency
        """)
}
