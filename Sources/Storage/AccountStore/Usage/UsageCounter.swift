package import Accounts
package import Base
import Foundation
import Postgres

/// A counter: how much one account has used of one feature in one day, one month, or in total.
package struct UsageCounter: Sendable, Hashable {
    /// The account's token.
    package var account: UniqueIdentifier
    /// The feature's id.
    package var feature: String
    /// The period it is counted over.
    package var period: Catalog.UsagePeriod
    /// The period's first day, as in ``UsageWindow/day``; nil for all time.
    package var day: String?

    /// The counter of a window.
    package init(of account: UniqueIdentifier, _ feature: String, in window: UsageWindow) {
        self.account = account
        self.feature = feature
        period = window.period
        day = window.day
    }
}

extension Usage {
    /// What these counters say, in their order: 0 where nothing was counted. One indexed statement, whatever the number of counters in
    /// the database; of many accounts it costs little more than of one.
    /// - Throws: `PostgresError`.
    package func used(_ counters: [UsageCounter]) async throws -> [Int64] {
        try await pool.query(
            PostgresQuery(
                "usage.counters",
                """
                select coalesce(c.used, 0) as used
                  from unnest(\(counters.map { UUID($0.account) }), \(counters.map(\.feature)),
                              \(counters.map(\.period.rawValue)),
                              \(counters.map { $0.day ?? UsageWindow.storedFirstDay })::text[]::date[])
                       with ordinality as w (token, feature, period, starts_on, place)
                  left join storehook.usage_counters c
                       on c.token = w.token and c.feature = w.feature and c.period = w.period
                      and c.starts_on = w.starts_on
                 order by w.place
                """)
        ).map { try $0.decode("used") }
    }
}
