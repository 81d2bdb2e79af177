package import Base
import Postgres

extension DueEnds {
    /// What is counted in one turn: each part has a row of the state, and a rest, of its own.
    enum Part: String, CaseIterable {
        /// What was due up to three days ago, and is not heard of.
        case recent
        /// What was due before that.
        case older
        /// How much was due within a day, heard of or not.
        case due

        /// The part that an age is in.
        init(of age: DueAge) { self = age < .threeDays ? .recent : .older }

        var ages: [DueAge] { self == .due ? [] : DueAge.allCases.filter { Part(of: $0) == self } }

        /// What was due so many hours ago, and before so many.
        var span: (from: Int32, before: Int32) {
            switch self {
            case .recent: (DueAge.hour.hours, DueAge.threeDays.hours)
            case .older: (DueAge.threeDays.hours, DueAge.end)
            case .due: (DueAge.hour.hours, DueAge.day.hours)
            }
        }

        /// How long it rests at least: what is old changes slowly, and takes long to count.
        var rest: Duration {
            switch self {
            case .recent: .seconds(300)
            case .older: .seconds(3600)
            case .due: .seconds(1800)
            }
        }
    }

    /// Counts what is due and not heard of, each part of it unless that was done a short while ago. One worker at a time counts a part; another
    /// one that comes meanwhile does nothing.
    ///
    /// A count reads the subscriptions whose end lies in a range of time. It is followed by a rest, nine times as long as it took at least,
    /// that all workers keep. `storehook rebuild --check` does not look at counts: they are of an instant that is over.
    /// - Parameters:
    ///   - instant: the instant that the counts are of; nil for the beginning of the transaction.
    ///   - least: how long each rest is at least; by default five minutes, half an hour or an hour.
    /// - Returns: whether it counted anything.
    /// - Throws: `PostgresError`.
    package func count(at instant: Timestamp? = nil, restingAtLeast least: Duration? = nil) async throws -> Bool {
        var isCounted = false
        for part in Part.allCases {
            let (start, rest) = (ContinuousClock.now, least ?? part.rest)
            do {
                if try await count(part, at: instant, restingAtLeast: rest) { isCounted = true }
            } catch let error as PostgresError {
                // One that fails has cost as much, and is followed by the same rest.
                _ = try? await pool.query(.postpone(part, by: max(rest, (ContinuousClock.now - start) * 9)))
                throw error
            }
        }
        return isCounted
    }

    private func count(_ part: Part, at instant: Timestamp?, restingAtLeast least: Duration) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(60), goesByIndexes: true, name: "due.count")
        let graceDays = graceDays
        return try await pool.withTransaction(options) { session in
            guard try !session.query(.takeTurn(part)).isEmpty else { return false }
            if part == .due {
                try session.query(PostgresQuery("due.uncount_days", "delete from storehook.due_days"))
                try session.query(.countDue(at: instant, graceDays), deadline: .seconds(600))
            } else {
                try session.query(.uncount(part))
                try session.query(.countUnheard(part, at: instant, graceDays), deadline: .seconds(600))
            }
            try session.query(.restFromCounting(part, atLeast: least, at: instant))
            return true
        }
    }
}

extension PostgresQuery {
    /// Locks the state of a part where a count is due; no row where it is not, or another worker has it. A state of the future is that of
    /// a clock that was set back since.
    fileprivate static func takeTurn(_ part: DueEnds.Part) -> PostgresQuery {
        PostgresQuery(
            "due.take_turn",
            """
            select part from storehook.due_count_state
             where part = \(part.rawValue) and (due_at <= clock_timestamp() or counted_at > clock_timestamp())
               for update skip locked
            """)
    }

    fileprivate static func restFromCounting(
        _ part: DueEnds.Part, atLeast least: Duration, at instant: Timestamp?
    ) -> PostgresQuery {
        PostgresQuery(
            "due.rest_from_counting",
            """
            update storehook.due_count_state
               set counted_at = coalesce(\(instant.map { PostgresTimestamp($0) })::timestamptz, now()),
                   due_at = clock_timestamp() + greatest(
                       \(Int64(least / .milliseconds(1))) * interval '1 millisecond', 9 * (clock_timestamp() - now()))
             where part = \(part.rawValue)
            """)
    }

    fileprivate static func postpone(_ part: DueEnds.Part, by rest: Duration) -> PostgresQuery {
        PostgresQuery(
            "due.postpone_counting",
            """
            update storehook.due_count_state
               set due_at = greatest(due_at, clock_timestamp() + \(Int64(rest / .milliseconds(1))) * interval '1 millisecond')
             where part = \(part.rawValue)
            """)
    }

    fileprivate static func uncount(_ part: DueEnds.Part) -> PostgresQuery {
        PostgresQuery(
            "due.uncount", "delete from storehook.due_counts where age = any (\(part.ages.map(\.rawValue)))")
    }

    /// Counts what is not heard of, and lists the latest of it. Scalar subqueries: each can only be an index lookup.
    fileprivate static func countUnheard(
        _ part: DueEnds.Part, at instant: Timestamp?, _ graceDays: Int64
    ) -> PostgresQuery {
        let ages = part.ages.map(\.rawValue)
        return PostgresQuery(
            "due.count_unheard",
            """
            with w as materialized (\(part, at: instant, graceDays: graceDays))
            , lines as materialized (\(unescaped: DueLines.ended))
            , found as materialized (
                select s.bundle_id, s.original_transaction_id, d.kind, d.ends_at, d.product_id,
                       \(unescaped: DueAge.name(of: "(select at from w) - d.ends_at")) as age,
                       not coalesce((select true from storehook.notifications n
                                      where n.original_transaction_id = s.original_transaction_id and n.bundle_id = s.bundle_id
                                        and n.environment = s.environment and n.source <> 'operator' limit 1), false)
                       and not coalesce((select true from storehook.records r
                                          where r.original_transaction_id = s.original_transaction_id and r.bundle_id = s.bundle_id
                                            and r.environment = s.environment and r.source <> 'operator' limit 1), false)
                           as is_imported
                  from \(unescaped: DueLines.ends)
                 where not coalesce((select true from storehook.purchase_facts f
                                      where f.original_transaction_id = s.original_transaction_id and f.bundle_id = s.bundle_id
                                        and f.environment = s.environment
                                        and f.signed_at >= d.ends_at - interval '24 hours' limit 1), false)
                   and not coalesce((select true from storehook.refreshes r
                                      where r.original_transaction_id = s.original_transaction_id and r.bundle_id = s.bundle_id
                                        and r.environment = s.environment
                                        and r.asked_at >= d.ends_at - interval '24 hours' limit 1), false)
            ), kept as materialized (
                select * from found
                 order by ends_at desc, bundle_id desc, original_transaction_id desc, kind desc
                 limit \(DueEnds.mostListed)
            ), gone as (
                delete from storehook.due_unheard u
                 where u.age = any (\(ages))
                   and not exists (
                       select from kept k
                        where k.ends_at = u.ends_at and k.bundle_id = u.bundle_id
                          and k.original_transaction_id = u.original_transaction_id and k.kind = u.kind)
            ), listed as (
                insert into storehook.due_unheard as known
                       (ends_at, bundle_id, original_transaction_id, kind, age, product_id, is_imported)
                select ends_at, bundle_id, original_transaction_id, kind, age, product_id, is_imported from kept
                    on conflict (ends_at, bundle_id, original_transaction_id, kind) do update
                   set age = excluded.age, product_id = excluded.product_id, is_imported = excluded.is_imported
                 where (known.age, known.product_id, known.is_imported)
                       is distinct from (excluded.age, excluded.product_id, excluded.is_imported)
            )
            insert into storehook.due_counts (bundle_id, age, unheard, imported)
            select bundle_id, age, count(*) filter (where not is_imported), count(*) filter (where is_imported)
              from found group by bundle_id, age
            """)
    }

    /// Counts what was due, heard of or not. What was renewed or bought again since has a transaction that began at the end or later.
    fileprivate static func countDue(at instant: Timestamp?, _ graceDays: Int64) -> PostgresQuery {
        PostgresQuery(
            "due.count_days",
            """
            with w as materialized (\(DueEnds.Part.due, at: instant, graceDays: graceDays))
            , lines as materialized (
                \(unescaped: DueLines.ended)
                union
                select t.original_transaction_id, t.bundle_id from storehook.transactions t
                 where t.purchased_at > (select after from w) and t.purchased_at <= (select at from w)
                   and t.environment = 'Production'
            )
            insert into storehook.due_days (bundle_id, due)
            select s.bundle_id, count(*) from \(unescaped: DueLines.ends) group by s.bundle_id
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    /// A query of one row, by which ``DueLines`` reads: `at`, `after` and `until` of the ends that are counted, and `grace`, which lasts so long
    /// where Apple gives it no date.
    fileprivate mutating func appendInterpolation(_ part: DueEnds.Part, at instant: Timestamp?, graceDays: Int64) {
        let span = part.span
        appendLiteral("select at, at - make_interval(hours => ")
        appendInterpolation(span.before)
        appendLiteral(") as after, at - make_interval(hours => ")
        appendInterpolation(span.from)
        appendLiteral(") as until, make_interval(hours => 24 * ")
        appendInterpolation(Int32(clamping: graceDays))
        appendLiteral(") as grace from (select coalesce(")
        appendInterpolation(instant.map { PostgresTimestamp($0) })
        appendLiteral("::timestamptz, now()) as at) i")
    }
}

/// Which subscriptions may have an end in a span of time, and which ends these have, as SQL. A query `w` gives the span.
private enum DueLines {
    /// The keys of subscriptions that ended in the span, or whose grace or retries did, where nothing came after that. Each by its index.
    static let ended = """
        select s.original_transaction_id, s.bundle_id from storehook.subscriptions s
                 where s.environment = 'Production'
                   and (s.paid_until > (select after from w) and s.paid_until <= (select until from w)
                        or s.paid_until > (select after - interval '1440 hours' from w)
                       and s.paid_until <= (select until - interval '1440 hours' from w)
                        or s.paid_until > (select after - grace from w) and s.paid_until <= (select until - grace from w))
                union
                select r.original_transaction_id, r.bundle_id from storehook.renewals r
                 where r.grace_expires_at > (select after from w) and r.grace_expires_at <= (select until from w)
                   and r.environment = 'Production'
        """

    /// The rows `s` of these subscriptions with their ends `d` in the span: a phase that something ended before is none, and neither is what a
    /// reported status alone rests on. An end of tries to charge lies 60 days of 24 hours after that of what was paid for (App Store Connect
    /// Help, "Reduce involuntary churn"). A period with auto-renew off is `cancelled`.
    static let ends = """
        lines l
                 cross join lateral (
                       select * from storehook.subscriptions s
                        where s.original_transaction_id = l.original_transaction_id and s.bundle_id = l.bundle_id
                          and s.environment = 'Production' offset 0) s
                 cross join lateral (
                       select e.kind, e.ends_at, e.product_id
                         from (select n, s.phase_product[n] as product_id,
                                      case s.phase_status[n] when 'active' then 'renewal' else s.phase_status[n] end as kind,
                                      case s.phase_status[n]
                                          when 'active' then s.phase_period_ends[n]
                                          when 'trial' then s.phase_period_ends[n]
                                          when 'grace_period' then s.phase_grace_ends[n]
                                          when 'billing_retry' then s.phase_expires[n] + interval '1440 hours'
                                      end as ends_at
                                 from generate_series(1, cardinality(s.phase_starts) - 1) n) e
                        where e.ends_at > (select after from w) and e.ends_at <= (select until from w)
                          and s.phase_starts[e.n] < e.ends_at and s.phase_starts[e.n + 1] >= e.ends_at
                          and s.phase_basis[e.n] <> 'reported_status') d
        """
}
