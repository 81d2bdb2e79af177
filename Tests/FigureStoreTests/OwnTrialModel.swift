import Base
import Figures
import OrderSupport
import Postgres

/// A second way to the figures of the app's own trials: all payments of each account are read, and each trial is followed by itself. Days are
/// those of UTC, and whatever is booked is long past.
struct OwnTrialModel {
    /// What came of the trials of each month.
    private(set) var outcomes: [FigureMonth: [TrialModel.Outcome]] = [:]
    /// The days of trials.
    private(set) var days: [CalendarDay] = []

    init(_ site: OrderDatabase) async throws {
        var owners: [String: Set<String>] = [:]
        for row in try await site.pool.query(
            "select original_transaction_id, token::text from storehook.account_lines where environment = 'Production'")
        {
            owners[try row.decode(0), default: []].insert(try row.decode(1))
        }
        var firsts: [String: (at: Timestamp, isGivenBack: Bool)] = [:]
        for row in try await site.pool.query(
            """
            select coalesce(o.original_transaction_id, o.order_key) as purchase, t.starts_at, coalesce(t.revoked_share, 1) > 0 as is_given_back
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             where o.class_id is not null and o.environment = 'Production' and not t.is_void and not t.is_trial and coalesce(t.price, 1) > 0
            """)
        {
            let purchase: String = try row.decode("purchase")
            // What several accounts had is the payment of none.
            guard let tokens = owners[purchase], tokens.count == 1, let token = tokens.first else { continue }
            let at = Timestamp(try row.decode("starts_at", as: PostgresTimestamp.self))
            if at < firsts[token]?.at ?? .distantFuture { firsts[token] = (at, try row.decode("is_given_back")) }
        }
        for row in try await site.pool.query("select token::text as token, started_at, ends_at from storehook.trials") {
            let start = Timestamp(try row.decode("started_at", as: PostgresTimestamp.self))
            let end = Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self))
            let token: String = try row.decode("token")
            let day = CalendarDay(number: start.day)
            var outcome = TrialModel.Outcome.lapsed
            if let first = firsts[token], first.at >= start, first.at.milliseconds(since: end) <= 60 * 86_400_000 {
                outcome = first.isGivenBack ? .refunded : .converted
            }
            outcomes[FigureMonth(day), default: []].append(outcome)
            days.append(day)
        }
    }
}
