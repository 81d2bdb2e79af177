package import Accounts
package import Base
import Foundation
import Postgres

/// The numbers of accounts in an environment, at the instant of a count.
package struct AccountCounts: Sendable, Hashable {
    /// What an account is.
    package enum Standing: String, Sendable, Hashable, CaseIterable {
        /// It has access, and a subscription of Apple's that is no trial runs. The tier may come from something else.
        case subscriber
        /// It has access without one: by a trial, by a grant of staff, or by something that was bought once.
        case access
        /// It has no access, and had a purchase or a trial.
        case expired
        /// It has no access, and had neither.
        case free
    }

    /// The number of accounts with the same standing, tier and status.
    package struct Group: Sendable, Hashable {
        /// Their standing.
        package var standing: Standing
        /// Their tier.
        package var tier: String
        /// Their status.
        package var status: AccountStatus
        /// The number.
        package var count: Int64

        /// Memberwise.
        package init(_ standing: Standing, tier: String, _ status: AccountStatus, count: Int64) {
            self.standing = standing
            self.tier = tier
            self.status = status
            self.count = count
        }
    }

    /// The instant of the count; nil before the first one.
    package var countedAt: Timestamp?
    /// The known accounts that are not erased. An account with purchases in two environments counts in both. An account with nothing but its name
    /// counts in Production.
    package var groups: [Group] = []
    /// The number of subscriptions and one-time purchases, consumables left out, that no counted account ever had. Either Apple signed no account
    /// into them and no account proved them, or their accounts were erased.
    package var anonymous: Int64 = 0

    /// None.
    package init() {}

    /// Adds a stored group: `standing`, `tier`, `status` and `count`, all null without one.
    mutating func add(_ row: PostgresRow) throws {
        guard let count = try row.decode("count", as: Int64?.self) else { return }
        if try row.decode("standing", as: String.self) == "anonymous" {
            anonymous = count
        } else {
            groups.append(
                Group(
                    try row.decode("standing", among: Standing.self), tier: try row.decode("tier"),
                    try row.decode("status", among: AccountStatus.self), count: count))
        }
    }
}

extension AccountStore {
    /// Counts all accounts as they are now, if the rest after the last count is over. Then counts a day that has ended, if one is due. One worker at
    /// a time does this: a second one returns at once.
    ///
    /// A count reads all accounts, because a status may change by the passing of time alone. All workers rest after a count, at least as long as
    /// ``BackgroundWork`` states. `storehook rebuild --check` does not check counts: their instant is over, and the next count replaces them.
    /// - Parameter least: the shortest rest.
    /// - Returns: whether it counted.
    /// - Throws: `PostgresError`; ``UnreadableCatalog`` where a newer release applied the catalog.
    package func count(restingAtLeast least: Duration = .seconds(60)) async throws -> Bool {
        let start = ContinuousClock.now
        do {
            return try await countOnce(restingAtLeast: least)
        } catch let error as PostgresError {
            // A failed count has cost as much: the same rest follows.
            let rest = max(least, BackgroundWork.rest(after: ContinuousClock.now - start))
            _ = try? await pool.query(
                PostgresQuery(
                    "accounts.postpone_counting",
                    """
                    update storehook.account_count_state
                       set due_at = greatest(due_at, clock_timestamp() + \(Int64(rest / .milliseconds(1))) * interval '1 millisecond')
                    """))
            throw error
        }
    }

    private func countOnce(restingAtLeast least: Duration) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(60), name: "accounts.count")
        let isCounted = try await pool.withTransaction(options) { session in
            let turn = try session.query(.takeTurnToCount)
            // Before the first catalog, there are no tiers and no statuses.
            guard !turn.isEmpty, let catalog = try current(session)?.catalog else { return false }
            try session.query(PostgresQuery("accounts.uncount", "delete from storehook.account_counts"))
            try session.query(.count(under: catalog), deadline: .seconds(600))
            try session.query(.restFromCounting(atLeast: least))
            return true
        }
        guard isCounted else { return false }
        // In a transaction of its own: if the day cannot be counted, the count above stays.
        try await pool.withTransaction(TransactionOptions(idleTimeout: .seconds(60), name: "accounts.count_day")) {
            session in
            guard try !session.query(.lockCount).isEmpty, let catalog = try current(session)?.catalog else { return }
            try keepDay(under: catalog, session)
            try session.query(.restFromDay)
        }
        return true
    }

    /// The numbers of accounts in an environment at the last count.
    package func counts(in environment: String) async throws -> AccountCounts {
        // One statement: the instant belongs to the rows.
        let rows = try await pool.query(
            PostgresQuery(
                "accounts.counts",
                """
                select s.counted_at, c.standing, c.tier, c.status, c.count
                  from storehook.account_count_state s
                  left join storehook.account_counts c on c.environment = \(environment)
                 order by c.standing, c.tier, c.status
                """
            ).keepingPlan())
        var counts = AccountCounts()
        for row in rows {
            counts.countedAt = try row.decode("counted_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
            try counts.add(row)
        }
        return counts
    }
}

extension PostgresQuery {
    /// Locks the state if a count is due; no row if none is, or if another worker has the lock. A rest that begins in the future is over, too: the
    /// clock was set back.
    fileprivate static let takeTurnToCount = PostgresQuery(
        "accounts.take_turn_to_count",
        // A statement that reads all accounts has a high estimate. PostgreSQL would compile it, which takes longer than running it.
        """
        select set_config('jit', 'off', true) from storehook.account_count_state
         where due_at <= clock_timestamp() or counted_at > clock_timestamp()
           for update skip locked
        """)

    /// Locks the state; no row while another worker has the lock.
    fileprivate static let lockCount = PostgresQuery(
        "accounts.lock_count",
        "select set_config('jit', 'off', true) from storehook.account_count_state for update skip locked")

    /// An interval: the rest after the time that the transaction has taken so far.
    private static let restFromTransaction = "\(BackgroundWork.restFactor) * (clock_timestamp() - now())"

    /// Lengthens the rest by the time that the day took.
    fileprivate static let restFromDay = PostgresQuery(
        "accounts.rest_from_day",
        """
        update storehook.account_count_state
           set due_at = greatest(due_at, clock_timestamp()) + \(unescaped: restFromTransaction)
        """)

    fileprivate static func restFromCounting(atLeast least: Duration) -> PostgresQuery {
        PostgresQuery(
            "accounts.rest_from_counting",
            """
            update storehook.account_count_state
               set counted_at = now(),
                   due_at = clock_timestamp() + greatest(
                       \(Int64(least / .milliseconds(1))) * interval '1 millisecond', \(unescaped: restFromTransaction))
            """)
    }

    /// Counts accounts. As in `account_status_at`, an erased account without a later purchase does not count. Statuses under earlier catalogs come
    /// from the accounts' history.
    /// - Parameters:
    ///   - target: a table and its columns, and the values of the columns before those of the count.
    ///   - instant: the instant of the count: accounts count that were known then, or had a purchase or a trial. Nil for the beginning of the
    ///     transaction.
    static func count(
        under catalog: Catalog, into target: AccountCountTarget = .now, at instant: Timestamp? = nil,
        of day: CalendarDay? = nil
    ) -> PostgresQuery {
        // Read with the rows: rows of an earlier catalog are deleted.
        let version = "(select current_version from storehook.catalog_state)"
        let (lowest, renewing) = (catalog.free.id, catalog.products.filter { $0.period.renewal != nil })
        return PostgresQuery(
            target.statement,
            """
            with i as materialized (
                select coalesce(\(instant.map { PostgresTimestamp($0) })::timestamptz, now()) as at, \(day?.description)::text::date as day
            ), gone as materialized (
                select s.token, s.environment
                  from storehook.accounts a join storehook.account_status s on s.token = a.token and s.catalog = \(unescaped: version)
                 where a.erased_at is not null and s.phase_status = array['free']
            )
            insert into storehook.\(unescaped: target.columns)
            select \(unescaped: target.prefix)environment, standing, tier, status, count(*)
              from (
                select s.environment, p.tier, p.status,
                       case when p.status not in ('active', 'trial', 'cancelled', 'grace_period') then
                                 case when s.phase_source[:p.n] && array['apple', 'trial']
                                        -- A grant of staff's may have hidden the purchase, and more phases may stand in the history.
                                        or exists (select from unnest(s.holding_starts) h (starts_at) where h.starts_at <= i.at)
                                        or s.known_from is not null and exists (
                                           select from storehook.account_history h
                                            where h.token = s.token and h.environment = s.environment
                                              and h.source in ('apple', 'trial') and h.starts_at <= i.at)
                                      then 'expired' else 'free' end
                            -- Mostly that is what gives the tier. The others are few, and their purchases are looked up.
                            when p.source = 'apple' and not p.is_trial
                                 and (p.bundle_id, p.product_id) in (
                                     select * from unnest(\(renewing.map(\.bundleID)), \(renewing.map(\.productID))))
                              or exists (
                                 select from unnest(s.holding_bundle, s.holding_purchase, s.holding_starts, s.holding_ends)
                                          as h (bundle_id, original_transaction_id, starts_at, ends_at)
                                   join storehook.subscriptions l
                                     on l.original_transaction_id = h.original_transaction_id and l.bundle_id = h.bundle_id
                                    and l.environment = s.environment
                                  where h.starts_at <= i.at and (h.ends_at is null or h.ends_at > i.at)
                                    and l.phase_trial[width_bucket(i.at, l.phase_starts)] is not true)
                            then 'subscriber' else 'access' end as standing
                  from i
                 cross join storehook.account_status s
                 cross join lateral (
                    select w.n, s.phase_tier[w.n] as tier, s.phase_status[w.n] as status, s.phase_source[w.n] as source,
                           s.phase_trial[w.n] as is_trial, s.phase_bundle[w.n] as bundle_id, s.phase_product[w.n] as product_id
                      from (select width_bucket(i.at, s.phase_starts) as n) w
                     where w.n > 0
                    union all
                    select 0, h.tier, h.status, h.source, h.in_trial, h.bundle_id, h.product_id
                      from storehook.account_history h
                     where s.known_from > i.at and h.token = s.token and h.environment = s.environment
                       and h.starts_at <= i.at and h.ends_at > i.at) p
                 where s.catalog = \(unescaped: version)
                   and not exists (select from gone g where g.token = s.token and g.environment = s.environment)
                   -- By its key: of the past these may be most accounts.
                   and not (p.status = 'free' and i.at < now()
                            and exists (select from storehook.accounts a where a.token = s.token and a.known_at > i.at))
                union all
                select 'Production', \(lowest), 'free', 'free' from storehook.accounts a
                 where a.erased_at is null and a.known_at <= (select at from i)
                   and not exists (select from storehook.account_status s where s.token = a.token and s.catalog = \(unescaped: version))
                union all
                select p.environment, '', '', 'anonymous'
                  from (select s.environment, s.bundle_id, s.original_transaction_id from storehook.subscriptions s
                         where s.phase_starts[1] <= (select at from i)
                            or s.earlier_phases > 0 and exists (
                               select from storehook.subscription_history h
                                where h.original_transaction_id = s.original_transaction_id and h.bundle_id = s.bundle_id
                                  and h.environment = s.environment and h.starts_at <= (select at from i))
                        union all
                        select environment, bundle_id, original_transaction_id from storehook.one_time_purchases
                         where kind <> 'consumable' and purchased_at <= (select at from i)) p
                 where not exists (
                        select from storehook.account_lines l
                         where l.original_transaction_id = p.original_transaction_id and l.bundle_id = p.bundle_id
                           and l.environment = p.environment
                           and not exists (select from gone g where g.token = l.token and g.environment = l.environment))
                 ) counted
             group by environment, standing, tier, status
            """)
    }
}

/// The place of a count of accounts.
enum AccountCountTarget {
    /// The current count, which replaces the one before.
    case now
    /// The count of a day's end.
    case day

    fileprivate var statement: String {
        switch self {
        case .now: "accounts.count"
        case .day: "accounts.count_day"
        }
    }

    fileprivate var columns: String {
        switch self {
        case .now: "account_counts (environment, standing, tier, status, count)"
        case .day: "account_day_counts (day, environment, standing, tier, status, count)"
        }
    }

    fileprivate var prefix: String {
        switch self {
        case .now: ""
        case .day: "(select day from i), "
        }
    }
}
