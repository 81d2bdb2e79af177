import Base
import FigureStore
import Figures
import OrderSupport
import Postgres

/// A second way to the figures of trials: reads all transactions of each order, and follows each trial by itself. Days are in UTC, and all bookings
/// are long past.
struct TrialModel {
    private struct Period {
        var start: Timestamp
        var end: Timestamp
        var isTrial: Bool
        var isPaid: Bool
        var isGivenBack: Bool
        var isAddition: Bool
        var endsByChoice: Bool
    }

    /// What came of a trial.
    enum Outcome { case converted, refunded, lapsed }

    private var outcomes: [FigureMonth: [Outcome]] = [:]
    private let own: OwnTrialModel
    /// The days of trials.
    let span: ClosedRange<CalendarDay>

    init?(_ database: FigureDatabase) async throws {
        own = try await OwnTrialModel(database.site)
        var orders: [Int64: [Period]] = [:]
        for row in try await database.site.pool.query(
            """
            select t.*, coalesce(t.price, 1) as paid, coalesce(t.revoked_share, 1) as back
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             where o.class_id is not null and o.environment = 'Production' and not t.is_void and t.ends_at is not null
            """)
        {
            orders[try row.decode("order_id"), default: []].append(
                Period(
                    start: Timestamp(try row.decode("starts_at", as: PostgresTimestamp.self)),
                    end: Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self)),
                    isTrial: try row.decode("is_trial"), isPaid: try row.decode("paid", as: Int64.self) > 0,
                    isGivenBack: try row.decode("back", as: Int32.self) > 0,
                    isAddition: try row.decode("part_of", as: String?.self).map { try $0 != row.decode("item") }
                        ?? false,
                    endsByChoice: try row.decode("is_renewal_off", as: Bool?.self) ?? false))
        }
        var days: [CalendarDay] = []
        for periods in orders.values {
            let paid = periods.filter { !$0.isTrial && $0.isPaid }.sorted { $0.start < $1.start }
            for trial in periods where trial.isTrial && !trial.isAddition {
                let day = CalendarDay(number: trial.start.millisecondsSince1970 / 86_400_000)
                days.append(day)
                let next = paid.first { $0.start > trial.start }
                let isSoon = next.map { $0.start.milliseconds(since: trial.end) <= 60 * 86_400_000 } ?? false
                let outcome: Outcome = !isSoon ? .lapsed : next?.isGivenBack == true ? .refunded : .converted
                outcomes[FigureMonth(day), default: []].append(outcome)
            }
        }
        days += own.days
        guard let first = days.min(), let last = days.max() else { return nil }
        span = first...last
    }

    /// What the figure is to answer by month, a line a value as ``FigureAnswer/lines`` has them.
    func lines(_ figure: Figure) -> [String] {
        Set(outcomes.keys).union(own.outcomes.keys).map { month in
            ([month.days.lowerBound.description]
                + [outcomes, own.outcomes].map { Self.words(figure, of: $0[month] ?? []) })
                .joined(separator: " ")
        }.sorted()
    }

    private static func words(_ figure: Figure, of all: [Outcome]) -> String {
        let (refunded, lapsed) = (all.count { $0 == .refunded }, all.count { $0 == .lapsed })
        let converted = all.count - lapsed
        guard figure == .trialConversion else { return "\(all.count) \(converted) \(lapsed) 0" }
        let rate = all.isEmpty ? "-" : "\((200_000 * converted + all.count) / (2 * all.count))"
        return "\(rate) \(converted) \(all.count) 0 \(refunded)"
    }
}
