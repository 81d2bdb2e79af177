import AccountStore
import Accounts
import Base
import FigureStore
import Figures

/// An amount in one currency, or a share of amounts in it.
struct CurrencyValue: Sendable, Hashable {
    /// ISO 4217; empty where no record says it.
    let currency: String
    /// In thousandths of the currency, or of a percent.
    let value: Int64
}

extension Figure {
    /// Its first value in each currency; currencies of nothing are left out.
    func values(of sums: [String: FigureSums]) -> [CurrencyValue] {
        guard let column = columns.first else { return [] }
        return sums.sorted { $0.key < $1.key }.compactMap { currency, sums in
            guard let value = column.value(sums), column.unit == .share || value != 0 else { return nil }
            return CurrencyValue(currency: currency, value: value)
        }
    }

    /// Its first value in one currency.
    func value(of sums: FigureSums) -> Int64? { columns.first?.value(sums) }

    /// Its first value, a number, in all currencies together.
    func count(of sums: [String: FigureSums]) -> Int64 { value(of: sums) ?? 0 }

    /// Its first value, no money, in all currencies together.
    func value(of sums: [String: FigureSums]) -> Int64? {
        value(
            of: sums.values.reduce(into: FigureSums()) { all, sums in
                for measure in measures { all[measure] = all[measure] + sums[measure] }
            })
    }
}

extension FigureTotals.Converted {
    /// What no rate is known for, of sales.
    var lost: [FigureAnswer.Unconverted] {
        unconverted.sorted { $0.key < $1.key }.compactMap { currency, sums in
            guard sums[.sale].count > 0 else { return nil }
            return FigureAnswer.Unconverted(
                currency: currency, count: sums[.sale].count, amount: Figure.gross.value(of: sums) ?? 0)
        }
    }
}

/// What was sold and refunded, in all and today.
struct ShownOrderStatistics: Sendable {
    /// What statistics are made of.
    static let measures: [FigureMeasure] = [.order, .sale, .refund, .reversal]

    /// Whose purchases count.
    let environment: String
    /// The sums.
    let totals: FigureTotals
    /// How many requests for refunds wait for a decision.
    let pendingRefunds: Int64

    /// How many transactions have no signed price.
    var unpriced: Int64 { totals.ofAllDays.values.reduce(0) { $0 + $1[.sale].unknown } }
    /// How many refunds, and reversals of them, are of an unknown amount.
    var unknownRefunds: Int64 {
        totals.ofAllDays.values.reduce(0) { $0 + $1[.refund].unknown + $1[.reversal].unknown }
    }
}

/// How revenue went, month by month.
struct ShownSupportStatistics: Sendable {
    /// How many months are shown.
    static let months = 12

    /// The revenue of a month.
    struct Trend: Sendable {
        /// Such as `2026-10`.
        let month: String
        /// In each currency.
        let revenue: [CurrencyValue]
        /// In the reporting currency; nil without one.
        let converted: Int64?
        /// What no rate is known for.
        let notConverted: [CurrencyValue]
        /// How final it is.
        let standing: FigureAnswer.Standing
    }

    /// The gross by month.
    let answer: FigureAnswer
    /// The same in the reporting currency; nil without one.
    let converted: FigureAnswer?

    /// The latest month first, those without revenue too.
    var trends: [Trend] {
        let months = Dictionary(grouping: answer.cells, by: \.period)
        let converted = converted.map { Dictionary(grouping: $0.cells, by: \.period) }
        return answer.periods.reversed().map { period in
            let cells = converted?[period] ?? []
            let whole = cells.first { !$0.isUnconverted }
            return Trend(
                month: answer.name(of: period), revenue: values(of: months[period] ?? []),
                converted: converted == nil ? nil : whole.flatMap { Figure.gross.value(of: $0.sums) } ?? 0,
                notConverted: values(of: cells.filter(\.isUnconverted)),
                standing: standing(of: period))
        }
    }

    /// As final as both are.
    private func standing(of period: CalendarDay) -> FigureAnswer.Standing {
        var standing = answer.standings[period] ?? .init()
        if converted?.standings[period]?.isPending == true { standing.isPending = true }
        return standing
    }

    private func values(of cells: [FigureAnswer.Cell]) -> [CurrencyValue] {
        answer.question.figure.values(
            of: Dictionary(uniqueKeysWithValues: cells.map { ($0.currency ?? "", $0.sums) }))
    }
}

/// How many accounts there are, by tier and by status.
struct ShownAccountStatistics: Sendable {
    /// A tier's accounts.
    struct TierCount: Sendable {
        /// The tier.
        let tier: String
        /// Those that are not on trial.
        let users: Int64
        /// Those that are on trial.
        let onTrial: Int64
        /// What share of all accounts `users` is, in thousandths of a percent; nil of none.
        let share: Int64?
    }

    /// A status's accounts.
    struct StatusCount: Sendable {
        /// The status.
        let status: AccountStatus
        /// How many.
        let users: Int64
    }

    /// Whose accounts count.
    let environment: String
    /// The last count.
    let counts: AccountCounts
    /// The tiers of the catalog, in their order.
    let catalogTiers: [String]
    /// What came of Apple's trials.
    let trials: FigureTotals

    /// How many there are in all.
    var total: Int64 { count { _ in true } }

    /// How many there are of these groups.
    func count(where counts: (AccountCounts.Group) -> Bool) -> Int64 {
        self.counts.groups.reduce(0) { $0 + (counts($1) ? $1.count : 0) }
    }

    /// Those of the catalog, also without accounts; then others: the accounts may have been counted under another catalog.
    var tiers: [TierCount] {
        let others = Set(counts.groups.map(\.tier)).subtracting(catalogTiers).sorted()
        return (catalogTiers + others).map { tier in
            let users = count { $0.tier == tier && $0.status != .trial }
            return TierCount(
                tier: tier, users: users, onTrial: count { $0.tier == tier && $0.status == .trial },
                share: FigureColumn.share(of: Int128(users), in: Int128(total)))
        }
    }

    /// All that there are, also without accounts.
    var statuses: [StatusCount] {
        AccountStatus.allCases.map { status in StatusCount(status: status, users: count { $0.status == status }) }
    }
}
