import Base
import Foundation
import Postgres
import Subscriptions

/// Groups reports into attempts: an attempt has the reports of one account, product and environment within 24 hours of its first one.
struct AttemptGrouping {
    /// The most attempts of an account and day with an order.
    static let mostADay: Int64 = 20

    /// A report of an attempt to buy.
    struct Report: Sendable {
        let id: Int64
        let key: AttemptKey
        let at: PostgresTimestamp
        let day: String
        let outcome: AttemptMatching.Outcome
        let reason: String?

        init(_ row: PostgresRow) throws {
            id = try row.decode("id")
            key = try AttemptKey(row)
            at = try row.decode("at")
            day = try row.decode("day")
            // Completed without a transaction: Apple has yet to record it.
            outcome =
                AttemptMatching.Outcome(rawValue: try row.decode("outcome", as: String.self)) ?? .pending
            reason = try row.decode("reason")
        }
    }

    /// An attempt by the reports of it.
    struct Attempt: Sendable {
        let id: Int64
        let key: AttemptKey
        let day: String
        var outcome: AttemptMatching.Outcome
        var reason: String?
        var reports: Int32
        var firstAt: PostgresTimestamp
        var lastAt: PostgresTimestamp
        var lastReport: Int64
        let isStored: Bool
        var isChanged: Bool

        init(_ report: Report) {
            (id, key, day) = (report.id, report.key, report.day)
            (outcome, reason, reports) = (report.outcome, report.reason, 1)
            (firstAt, lastAt, lastReport) = (report.at, report.at, report.id)
            (isStored, isChanged) = (false, true)
        }

        init(_ row: PostgresRow) throws {
            id = try row.decode("id")
            key = try AttemptKey(row)
            day = try row.decode("day")
            outcome = try row.decode("outcome", among: AttemptMatching.Outcome.self)
            reason = try row.decode("reason")
            reports = try row.decode("reports")
            firstAt = try row.decode("first_at")
            lastAt = try row.decode("last_at")
            lastReport = try row.decode("last_report")
            (isStored, isChanged) = (true, false)
        }

        /// Whether a report belongs to this attempt. A report that was committed late may be earlier than the first one.
        func takes(_ report: Report) -> Bool {
            let (first, last, at) = (Timestamp(firstAt), Timestamp(lastAt), Timestamp(report.at))
            return first <= at
                ? at <= first.adding(seconds: AttemptMatching.span) : last <= at.adding(seconds: AttemptMatching.span)
        }

        mutating func add(_ report: Report) {
            reports += 1
            firstAt = min(firstAt, report.at)
            if (lastAt, lastReport) < (report.at, report.id) {
                (lastAt, lastReport) = (report.at, report.id)
                (outcome, reason) = (report.outcome, report.reason)
            }
            isChanged = true
        }
    }

    struct AccountDay: Hashable {
        var token: UniqueIdentifier
        var day: String
    }

    /// The attempts of each account, product and environment, by their first reports.
    private(set) var attempts: [AttemptKey: [Attempt]]
    /// The number of attempts of each account on a day.
    private var counts: [AccountDay: Int64]
    /// The reports without an order.
    private(set) var surplus: Set<Int64> = []

    /// - Parameters:
    ///   - attempts: the stored attempts near the reports, by their first reports.
    ///   - counts: the numbers of stored attempts on the reports' days.
    init(_ attempts: [Attempt], counts: [AccountDay: Int64]) {
        self.attempts = Dictionary(grouping: attempts, by: \.key)
        self.counts = counts
    }

    /// Adds a report to its attempt, or begins one with it. A report without an attempt stays alone where the account has the most of a day.
    mutating func add(_ report: Report) {
        var known = attempts[report.key] ?? []
        if let place = known.firstIndex(where: { $0.takes(report) }) {
            known[place].add(report)
        } else if counts[AccountDay(token: report.key.token, day: report.day), default: 0] < Self.mostADay {
            counts[AccountDay(token: report.key.token, day: report.day), default: 0] += 1
            known.insert(Attempt(report), at: known.firstIndex { report.at < $0.firstAt } ?? known.endIndex)
        } else {
            surplus.insert(report.id)
        }
        attempts[report.key] = known
    }
}
