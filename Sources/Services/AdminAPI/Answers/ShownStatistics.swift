import AccountStore
import Accounts
import Base
import FigureStore
import Figures

/// An amount in one currency, or a share of amounts in it.
struct CurrencyValue: Sendable, Hashable {
    /// ISO 4217; empty where no record states it.
    let currency: String
    /// In thousandths of the currency, or of a percent.
    let value: Int64
}

extension Figure {
    /// Its first value in each currency; currencies without a value are left out.
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
    /// The sales without a known rate.
    var lost: [FigureAnswer.Unconverted] {
        unconverted.sorted { $0.key < $1.key }.compactMap { currency, sums in
            guard sums[.sale].count > 0 else { return nil }
            return FigureAnswer.Unconverted(
                currency: currency, count: sums[.sale].count, amount: Figure.gross.value(of: sums) ?? 0)
        }
    }
}

/// Sales and refunds of all days and of today.
struct ShownOrderStatistics: Sendable {
    /// The measures of statistics.
    static let measures: [FigureMeasure] = [.order, .sale, .refund, .reversal]

    /// The environment of the purchases.
    let environment: String
    /// The sums.
    let totals: FigureTotals
    /// The number of requests for refunds that wait for a decision.
    let pendingRefunds: Int64

    /// The number of transactions without a signed price.
    var unpriced: Int64 { totals.ofAllDays.values.reduce(0) { $0 + $1[.sale].unknown } }
    /// The number of refunds, and of their reversals, of an unknown amount.
    var unknownRefunds: Int64 {
        totals.ofAllDays.values.reduce(0) { $0 + $1[.refund].unknown + $1[.reversal].unknown }
    }
}

/// Revenue by month.
struct ShownSupportStatistics: Sendable {
    /// The number of shown months.
    static let months = 12

    /// The revenue of a month.
    struct Trend: Sendable {
        /// Such as `2026-10`.
        let month: String
        /// In each currency.
        let revenue: [CurrencyValue]
        /// In the reporting currency; nil without one.
        let converted: Int64?
        /// The amounts without a known rate.
        let notConverted: [CurrencyValue]
        /// How final it is.
        let standing: FigureAnswer.Standing
    }

    /// The gross by month.
    let answer: FigureAnswer
    /// The same in the reporting currency; nil without one.
    let converted: FigureAnswer?

    /// The latest month first. Months without revenue are included.
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

    /// As final as the less final of two.
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

/// The numbers of accounts, by tier and by status.
struct ShownAccountStatistics: Sendable {
    /// A tier's accounts.
    struct TierCount: Sendable {
        /// The tier.
        let tier: String
        /// The accounts that are not on trial.
        let users: Int64
        /// The accounts on trial.
        let onTrial: Int64
        /// `users` as a share of all accounts, in thousandths of a percent; nil without accounts.
        let share: Int64?
    }

    /// A status's accounts.
    struct StatusCount: Sendable {
        /// The status.
        let status: AccountStatus
        /// The number of accounts.
        let users: Int64
    }

    /// The environment of the accounts.
    let environment: String
    /// The last count.
    let counts: AccountCounts
    /// The tiers of the catalog, in their order.
    let catalogTiers: [String]
    /// Apple's trials and their outcomes.
    let trials: FigureTotals

    /// The number of all accounts.
    var total: Int64 { count { _ in true } }

    /// The number of accounts of some groups.
    func count(where counts: (AccountCounts.Group) -> Bool) -> Int64 {
        self.counts.groups.reduce(0) { $0 + (counts($1) ? $1.count : 0) }
    }

    /// The tiers of the catalog, also without accounts. Then other tiers: the accounts may have been counted under another catalog.
    var tiers: [TierCount] {
        let others = Set(counts.groups.map(\.tier)).subtracting(catalogTiers).sorted()
        return (catalogTiers + others).map { tier in
            let users = count { $0.tier == tier && $0.status != .trial }
            return TierCount(
                tier: tier, users: users, onTrial: count { $0.tier == tier && $0.status == .trial },
                share: FigureColumn.share(of: Int128(users), in: Int128(total)))
        }
    }

    /// All statuses, also without accounts.
    var statuses: [StatusCount] {
        AccountStatus.allCases.map { status in StatusCount(status: status, users: count { $0.status == status }) }
    }
}
