package import Accounts
package import Base
import Foundation
import Postgres

/// How many accounts there were in an environment when they were counted.
package struct AccountCounts: Sendable, Hashable {
    /// What an account is now: one of these.
    package enum Standing: String, Sendable, Hashable, CaseIterable {
        /// It has access, and a subscription of Apple's runs that is no trial. That need not be what gives it its tier.
        case subscriber
        /// It has access otherwise: by a trial, a grant of staff's, or something that was bought once.
        case access
        /// It has no access, and had a purchase or a trial.
        case expired
        /// It has no access, and had neither.
        case free
    }

    /// Accounts that are alike.
    package struct Group: Sendable, Hashable {
        /// What they are.
        package var standing: Standing
        /// Their tier.
        package var tier: String
        /// Their status.
        package var status: AccountStatus
        /// How many there are.
        package var count: Int64

        /// Memberwise.
        package init(_ standing: Standing, tier: String, _ status: AccountStatus, count: Int64) {
            self.standing = standing
            self.tier = tier
            self.status = status
            self.count = count
        }
    }

    /// The instant that all of it is of; nil before the first count.
    package var countedAt: Timestamp?
    /// The accounts that are known and not erased. One with purchases in two environments counts in both; one that nothing is known of but
    /// its name counts in Production.
    package var groups: [Group] = []
    /// How many subscriptions and one-time purchases, but for consumables, no account that is counted ever had: Apple signed no account
    /// into them and none proved them, or those that had them were erased.
    package var anonymous: Int64 = 0

    /// None.
    package init() {}

    /// Adds a stored one: `standing`, `tier`, `status` and `count`, all null where there is none.
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
    /// Counts all accounts by what they are now, unless that was done a short while ago. One worker at a time does this; another one that
    /// comes meanwhile does nothing.
    ///
    /// A count reads all accounts, because a status begins by time alone. So it is followed by a rest, nine times as long as it took at
    /// least, that all workers keep. `storehook rebuild --check` does not look at counts: they are of an instant that is over, at which
    /// nothing can be counted again, and the next count replaces them whole. After it a day that has ended is counted, if one is due.
    /// - Parameter least: how long the rest is at least.
    /// - Returns: whether it counted.
    /// - Throws: `PostgresError`; ``UnreadableCatalog`` where a newer release applied the catalog.
    package func count(restingAtLeast least: Duration = .seconds(60)) async throws -> Bool {
        let start = ContinuousClock.now
        do {
            return try await countOnce(restingAtLeast: least)
        } catch let error as PostgresError {
            // One that fails has cost as much, and is followed by the same rest.
            let rest = max(least, (ContinuousClock.now - start) * 9)
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
            // Before the first catalog there are no tiers, and no status is derived.
            guard !turn.isEmpty, let catalog = try current(session)?.catalog else { return false }
            try session.query(PostgresQuery("accounts.uncount", "delete from storehook.account_counts"))
            try session.query(.count(under: catalog), deadline: .seconds(600))
            try session.query(.restFromCounting(atLeast: least))
            return true
        }
        guard isCounted else { return false }
        // By itself: a day that cannot be counted leaves the count of now as it is.
        try await pool.withTransaction(TransactionOptions(idleTimeout: .seconds(60), name: "accounts.count_day")) {
            session in
            guard try !session.query(.lockCount).isEmpty, let catalog = try current(session)?.catalog else { return }
            try keepDay(under: catalog, session)
            try session.query(.restFromDay)
        }
        return true
    }

    /// How many accounts there were in an environment at the last count.
    package func counts(in environment: String) async throws -> AccountCounts {
        // In one statement: the instant is that of the rows.
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
    /// Locks the state where a count is due; no row where it is not, or another worker has it. A state of the future is that of a clock that
    /// was set back since.
    fileprivate static let takeTurnToCount = PostgresQuery(
        "accounts.take_turn_to_count",
        // One statement that reads all there is has a high estimate, and compiling it would take longer than running it.
        """
        select set_config('jit', 'off', true) from storehook.account_count_state
         where due_at <= clock_timestamp() or counted_at > clock_timestamp()
           for update skip locked
        """)

    /// Locks the state; no row where another worker has it.
    fileprivate static let lockCount = PostgresQuery(
        "accounts.lock_count",
        "select set_config('jit', 'off', true) from storehook.account_count_state for update skip locked")

    /// Lengthens the rest by what the day took.
    fileprivate static let restFromDay = PostgresQuery(
        "accounts.rest_from_day",
        """
        update storehook.account_count_state
           set due_at = greatest(due_at, clock_timestamp()) + 9 * (clock_timestamp() - now())
        """)

    fileprivate static func restFromCounting(atLeast least: Duration) -> PostgresQuery {
        PostgresQuery(
            "accounts.rest_from_counting",
            """
            update storehook.account_count_state
               set counted_at = now(),
                   due_at = clock_timestamp() + greatest(
                       \(Int64(least / .milliseconds(1))) * interval '1 millisecond', 9 * (clock_timestamp() - now()))
            """)
    }

    /// Counts accounts. As in `account_status_at`, an erased account that has had nothing since is none, and what the catalogs of the past
    /// made of accounts is in their history.
    /// - Parameters:
    ///   - target: a table and its columns, and what is inserted before the count's own.
    ///   - instant: what they were then counts, so far as they were known then or had a purchase or a trial; nil for the beginning of the
    ///     transaction.
    static func count(
        under catalog: Catalog, into target: AccountCountTarget = .now, at instant: Timestamp? = nil,
        of day: CalendarDay? = nil
    ) -> PostgresQuery {
        // Read with the rows: those of a catalog that is current no more are deleted.
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

/// Where a count of accounts is kept.
enum AccountCountTarget {
    /// As that of now, in the place of the one before.
    case now
    /// As that of a day's end.
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
