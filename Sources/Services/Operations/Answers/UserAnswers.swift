package import AccountStore
import Accounts
package import Base
package import FigureStore
import Figures

/// The numbers of accounts at the end of days or months.
package struct UserFigure: Sendable {
    /// A split of accounts.
    package enum Split: String, Sendable, Hashable, CaseIterable {
        /// The tier.
        case tier
        /// The status.
        case status
    }

    /// The accounts of a period, or of one tier or status in it.
    package struct Line: Sendable {
        /// The period as people write it.
        package let period: String
        /// The instant of the counts.
        package let at: Timestamp
        /// Whether the period has not ended: the numbers are those of the last count then.
        package let isRunning: Bool
        /// Whether they were worked out more than a day after the period's end. Accounts that were erased by then do not count.
        package let isLate: Bool
        /// The tier or the status; nil without a split.
        package let group: String?
        /// All accounts of the period.
        package let all: AccountCounts
        /// The accounts of the group.
        package let groups: [AccountCounts.Group]

        /// The number of accounts of the group that are not on trial.
        package var users: Int64 { count { $0.status != .trial } }
        /// The number of accounts of the group on trial.
        package var onTrial: Int64 { count { $0.status == .trial } }
        /// The number of all accounts of the period.
        package var total: Int64 { all.groups.reduce(0) { $0 + $1.count } }

        package func count(where counts: (AccountCounts.Group) -> Bool) -> Int64 {
            groups.reduce(0) { $0 + (counts($1) ? $1.count : 0) }
        }

        package func count(_ standing: AccountCounts.Standing) -> Int64 { count { $0.standing == standing } }

        /// A share of all accounts, in thousandths of a percent; nil without accounts.
        package func share(_ part: Int64) -> Int64? { FigureColumn.share(of: Int128(part), in: Int128(total)) }
    }

    /// The environment of the accounts.
    package let environment: String
    /// The days. Months are whole.
    package let days: ClosedRange<CalendarDay>
    /// The periods.
    package let step: CalendarStep
    /// The split.
    package let split: Split?
    /// By period, then by the catalog's tiers or by status. Tiers and statuses without accounts are left out.
    package let lines: [Line]
    /// The number of periods that have ended without a count.
    package let missing: Int

    /// Its definition.
    package static let about =
        "Known accounts that are not erased, at the end of the period, or now while the period runs. A month has the numbers of its last day. users are not on trial, on_trial are on Apple's or the app's own trial, total is both, and shares are of total. subscribers have a running subscription of Apple's; expired have no access, and had a purchase or a trial; free never had one. anonymous counts purchases without an account. A day is counted once it has ended, and keeps its count."

    /// The accounts of some days.
    /// - Parameters:
    ///   - tiers: the tiers of the catalog, in their order.
    ///   - until: only periods that end by this day; nil for all.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    package init(
        _ days: ClosedRange<CalendarDay>, by step: CalendarStep, _ split: Split?, environment: String,
        tiers: [String], today: CalendarDay, until: CalendarDay? = nil, _ accounts: AccountStore
    ) async throws {
        let days = step.whole(days)
        guard step.count(of: days) <= FigureQuestion.mostCells else { throw TooManyCells() }
        (self.environment, self.days, self.step, self.split) = (environment, days, step, split)
        let periods = step.periods(of: days).filter { period in until.map { period.upperBound <= $0 } ?? true }
        let kept = Dictionary(
            uniqueKeysWithValues: try await accounts.days(periods.map(\.upperBound), in: environment)
                .map { ($0.day, $0) })
        let now = try await accounts.counts(in: environment)
        var (lines, missing) = ([Line](), 0)
        for period in periods {
            let name = step.name(of: period.lowerBound)
            if let day = kept[period.upperBound] {
                let isLate = day.counts.countedAt.map { $0 > day.endsAt.adding(days: 1) } ?? false
                lines += Self.lines(name, day.counts, at: day.endsAt, isLate: isLate, by: split, tiers)
            } else if period.contains(today) {
                guard let countedAt = now.countedAt else { continue }
                lines += Self.lines(name, now, at: countedAt, isRunning: true, by: split, tiers)
            } else if period.upperBound < today {
                missing += 1
            }
        }
        guard lines.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        (self.lines, self.missing) = (lines, missing)
    }

    private static func lines(
        _ period: String, _ counts: AccountCounts, at instant: Timestamp, isRunning: Bool = false, isLate: Bool = false,
        by split: Split?, _ tiers: [String]
    ) -> [Line] {
        func line(_ group: String?, _ groups: [AccountCounts.Group]) -> Line {
            Line(
                period: period, at: instant, isRunning: isRunning, isLate: isLate, group: group, all: counts,
                groups: groups)
        }
        switch split {
        case nil: return [line(nil, counts.groups)]
        case .tier:
            let parts = Dictionary(grouping: counts.groups, by: \.tier)
            // The accounts of a day may have been counted under another catalog.
            let names = tiers + Set(parts.keys).subtracting(tiers).sorted()
            return names.compactMap { name in parts[name].map { line(name, $0) } }
        case .status:
            let parts = Dictionary(grouping: counts.groups, by: \.status)
            return AccountStatus.allCases.compactMap { status in parts[status].map { line(status.rawValue, $0) } }
        }
    }
}

extension CommandAnswer {
    /// Accounts by period.
    package init(_ figure: UserFigure) {
        let shape = CommandShape<UserFigure.Line>.users(by: figure.split)
        self.init(
            .object([
                .init("figure", "users".json), .init("about", UserFigure.about.json),
                .init("environment", figure.environment.json), .init("from", figure.days.lowerBound.description.json),
                .init("to", figure.days.upperBound.description.json), .init("by", figure.step.rawValue.json),
                .init("split", figure.split?.rawValue.json ?? .null), .init("missing", figure.missing.json),
                .init("cells", shape.values(of: figure.lines)),
            ]),
            text: Self.text(figure.lines, shape, missing: figure.missing, UserFigure.about),
            csv: shape.csv(of: figure.lines))
    }

    /// A table, its definition, and the number of missing periods.
    static func text<Line>(_ lines: [Line], _ shape: CommandShape<Line>, missing: Int, _ about: String) -> String {
        let lost =
            missing == 0
            ? "" : "\n\(missing) \(missing == 1 ? "period" : "periods") that ended were not counted, and are left out."
        return (lines.isEmpty ? "nothing on these days" : shape.table(of: lines)) + "\n\n\(about)\(lost)"
    }
}

extension CommandShape<UserFigure.Line> {
    fileprivate static func users(by split: UserFigure.Split?) -> Self {
        var fields: [Field] = [.init("period", column: "PERIOD", \.period)]
        if let split {
            fields += [
                .init(split.rawValue, column: split.rawValue.uppercased()) { $0.group ?? "" },
                .init("users", column: "USERS", \.users), .init("on_trial", column: "ON TRIAL", \.onTrial),
                .init("share") { $0.share($0.users) },
                .column("SHARE", isNumeric: true) { percent($0.share($0.users)) },
                .init("on_trial_share") { $0.share($0.onTrial) },
                .column("OF TRIALS", isNumeric: true) { percent($0.share($0.onTrial)) },
            ]
        } else {
            fields += [
                .init("users", column: "USERS", \.users), .init("on_trial", column: "ON TRIAL", \.onTrial),
                .init("subscribers", column: "SUBSCRIBERS") { $0.count(.subscriber) },
                .init("expired", column: "EXPIRED") { $0.count(.expired) },
                .init("free", column: "FREE") { $0.count(.free) },
                .init("anonymous", column: "ANONYMOUS", \.all.anonymous),
            ]
        }
        return Self(
            fields + [
                .init("total", column: "TOTAL", \.total), .init("at", \.at), .init("counted_at", \.all.countedAt),
                .init("running", \.isRunning), .init("late", \.isLate),
                .column("NOT FINAL") { $0.isRunning ? "running" : $0.isLate ? "counted late" : nil },
            ])
    }

    private static func percent(_ share: Int64?) -> String? { share.map { FigureColumn.percent($0) } }
}
