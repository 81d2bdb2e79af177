package import Accounts
import AppStorePayloads
package import Base
import Crypto
package import Foundation
package import Postgres
import PurchaseStore

/// What accounts have used of the catalog's features.
///
/// One statement checks a limit and uses it up, so that it holds under concurrency. Counters are never reset: a new
/// day has a counter of its own, which is inserted by its first report. A report whose answer was lost may be sent
/// again if it has a key; without one it may count twice, as when a failover comes between the commit and the answer.
package struct Usage: Sendable {
    let pool: PostgresPool
    private let clock: @Sendable () -> Timestamp

    /// The usage behind a pool of connections.
    /// - Parameter clock: an estimate of the database's clock, which selects the window to try first; a wrong one
    ///   costs a round trip.
    package init(_ pool: PostgresPool, clock: @escaping @Sendable () -> Timestamp = Usage.machineClock) {
        self.pool = pool
        self.clock = clock
    }

    /// How far a counter counts: readers of JSON distinguish whole numbers up to 2^53.
    package static let most: Int64 = 1_000_000_000_000_000

    /// This machine's clock.
    package static let machineClock: @Sendable () -> Timestamp = {
        Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Counts a report of a feature, if its limit has room for it.
    ///
    /// Usage at another time counts to the day or month of that time. A key is kept until 35 days after that has
    /// ended, or, for what is counted in total, until 35 days after the report. The account's ``WriteBudget`` pays for
    /// the key. A report without a key adds no row, and costs nothing.
    /// - Parameters:
    ///   - feature: what is counted in the account's tier.
    ///   - token: the account's.
    ///   - timeZone: the catalog's.
    /// - Throws: `PostgresError`. If it may have taken effect, only a report with a key may be sent again.
    package func count(
        _ report: UsageReport, of feature: CountedFeature, for token: UniqueIdentifier, in timeZone: TimeZone
    ) async throws -> UsageOutcome {
        if case .add = report.act {} else if feature.period != .total { return .noStock }
        return try await atItsTime(report.usedAt) { instant, isSure in
            let window = UsageWindow(feature.period, at: instant, in: timeZone)
            let row: PostgresRow
            do {
                row = try await pool.query(
                    .count(report, of: feature, for: token, in: window, isSure: isSure), durably: true
                ).one()
            } catch let error as PostgresError where error.isOfFullCounter {
                return .found(.full(try await used(of: feature, by: token, in: window)))
            }
            if try row.decode("outcome", as: String.self) == "elsewhere" {
                return .elsewhere(Timestamp(try row.decode("clock", as: PostgresTimestamp.self)))
            }
            return .found(try UsageOutcome(row, feature.id, window))
        }
    }

    private func used(
        of feature: CountedFeature, by token: UniqueIdentifier, in window: UsageWindow
    ) async throws -> UsageCount {
        let row = try await pool.query(.current([(feature.id, window)], of: token)).one()
        return UsageCount(feature: feature.id, window: window, used: try row.decode("used"), limit: feature.limit)
    }

    /// What an account has used of these features in their windows now, in their order.
    /// - Parameter timeZone: the catalog's.
    package func current(
        _ features: [CountedFeature], of token: UniqueIdentifier, in timeZone: TimeZone
    ) async throws -> [UsageCount] {
        guard !features.isEmpty else { return [] }
        return try await atItsTime(nil) { instant, isSure in
            // Features of one period have one window.
            let periods = Set(features.map(\.period))
            let windows = Dictionary(
                uniqueKeysWithValues: periods.map { ($0, UsageWindow($0, at: instant, in: timeZone)) })
            func window(of feature: CountedFeature) -> UsageWindow { windows[feature.period] ?? .total }
            let rows = try await pool.query(.current(features.map { ($0.id, window(of: $0)) }, of: token))
            if let now = try rows.first.map({ Timestamp(try $0.decode("clock", as: PostgresTimestamp.self)) }),
                !isSure, windows.values.contains(where: { !$0.contains(now) })
            {
                return .elsewhere(now)
            }
            return .found(
                try zip(features, rows).map { feature, row in
                    UsageCount(
                        feature: feature.id, window: window(of: feature), used: try row.decode("used"),
                        limit: feature.limit)
                })
        }
    }

    /// Deletes an account's usage, for its erasure.
    /// - Returns: how many counters and reports.
    @discardableResult
    package static func erase(_ token: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> Int {
        let token = UUID(token)
        let keys = try session.query(
            PostgresQuery("usage.erase_keys", "delete from storehook.usage_keys where token = \(token)"))
        let counters = try session.query(
            PostgresQuery("usage.erase_counters", "delete from storehook.usage_counters where token = \(token)"))
        return keys.affectedRows + counters.affectedRows
    }

    /// The result of a statement about a window.
    private enum Attempt<Value> {
        case found(Value)
        /// The database's clock is in another window.
        case elsewhere(Timestamp)
    }

    /// Runs a statement for the window of an instant, by default of this machine's clock; if the database's clock is
    /// in another window, for that one. The last attempt takes the window as it is: clocks do not jump by days.
    private func atItsTime<Value>(
        _ instant: Timestamp?, _ ask: (_ instant: Timestamp, _ isSure: Bool) async throws -> Attempt<Value>
    ) async throws -> Value {
        var now = instant ?? clock()
        for _ in 0..<2 {
            switch try await ask(now, false) {
            case .found(let value): return value
            case .elsewhere(let clock): now = clock
            }
        }
        guard case .found(let value) = try await ask(now, true) else {
            throw PostgresError(.decoding, "a window was refused that was not to be looked at", operation: "usage")
        }
        return value
    }
}

extension PostgresQuery {
    /// - Parameter isSure: do not compare the window with the database's clock.
    fileprivate static func count(
        _ report: UsageReport, of feature: CountedFeature, for token: UniqueIdentifier, in window: UsageWindow,
        isSure: Bool
    ) -> PostgresQuery {
        let opensAt = isSure ? nil : window.startsAt.map { PostgresTimestamp($0) }
        let act = report.act
        return PostgresQuery(
            "usage.count",
            """
            select \(unescaped: PostgresQuery.durableSettings),
                   outcome, clock, out_used as used, out_allowed as allowed, out_period as period,
                   to_char(out_starts_on, 'YYYY-MM-DD') as day, out_resets_at as resets_at
              from storehook.count_usage(
                   \(UUID(token)), \(feature.id), \(act.name), \(act.amount), \(feature.limit),
                   \(window.period.rawValue), \(window.storedDay)::text::date, \(opensAt),
                   \(window.resetsAt.map { PostgresTimestamp($0) }),
                   \(report.usedAt.map { PostgresTimestamp($0) }), \(report.key.map { UUID(digestOf: $0) }))
            """)
    }

    /// What is used in these windows, in their order: 0 where nothing was yet.
    fileprivate static func current(
        _ windows: [(feature: String, window: UsageWindow)], of token: UniqueIdentifier
    ) -> PostgresQuery {
        PostgresQuery(
            "usage.current",
            """
            select coalesce(c.used, 0) as used, now() as clock
              from unnest(\(windows.map(\.feature)), \(windows.map(\.window.period.rawValue)),
                          \(windows.map(\.window.storedDay))::text[]::date[])
                   with ordinality as w (feature, period, starts_on, place)
              left join storehook.usage_counters c
                   on c.token = \(UUID(token)) and c.feature = w.feature and c.period = w.period
                  and c.starts_on = w.starts_on
             order by w.place
            """)
    }
}

extension PostgresError {
    /// Whether a counter would have gone beyond its bound, or beyond 2^63. The latter occurs where it passed the bound before the
    /// bound was introduced.
    fileprivate var isOfFullCounter: Bool { constraint == "usage_counters_bound" || sqlState == "22003" }
}

extension UsageWindow {
    /// What the database has as the first day of all time.
    static let storedFirstDay = "-infinity"

    /// Its first day, as the database has it.
    fileprivate var storedDay: String { day ?? Self.storedFirstDay }
}

extension UsageOutcome {
    /// Reads the statement's row; a repeated report may have been counted in another window.
    fileprivate init(_ row: PostgresRow, _ feature: String, _ window: UsageWindow) throws {
        func count() throws -> UsageCount {
            let period = try row.decode("period", among: Catalog.UsagePeriod.self)
            let day = try row.decode("day", as: String?.self)
            let then =
                period == .total
                ? UsageWindow.total
                : UsageWindow(
                    period: period, day: day, startsAt: day == window.day ? window.startsAt : nil,
                    resetsAt: try row.decode("resets_at", as: PostgresTimestamp?.self).map { Timestamp($0) })
            return UsageCount(
                feature: feature, window: then, used: try row.decode("used"), limit: try row.decode("allowed"))
        }
        switch try row.decode("outcome", among: StoredOutcome.self) {
        case .counted: self = .counted(try count())
        case .repeated: self = .repeated(try count())
        case .limitReached: self = .limitReached(try count())
        case .keyReused: self = .keyReused
        case .exhausted: self = .exhausted(WriteBudget.Exhausted(at: try row.decode("clock")))
        case .tooOld: self = .tooOld
        case .inTheFuture: self = .inTheFuture
        }
    }

    private enum StoredOutcome: String {
        case counted, repeated
        case limitReached = "limit_reached"
        case keyReused = "key_reused"
        case exhausted = "write_budget"
        case tooOld = "too_old"
        case inTheFuture = "in_the_future"
    }
}

extension UUID {
    /// The digest that identifies a key: keys have any length and any characters.
    fileprivate init(digestOf key: String) {
        self.init(
            uuid: SHA256.hash(data: Data(key.utf8)).withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
