/// Rows of the books, added.
package struct FigureSum: Sendable, Hashable {
    /// How many rows.
    package var count: Int64
    /// How many of them have the amount 0.
    package var free: Int64
    /// How many have no amount.
    package var unknown: Int64
    /// In thousandths of the currency.
    package var amount: Int128

    /// Of no rows by default.
    package init(count: Int64 = 0, free: Int64 = 0, unknown: Int64 = 0, amount: Int128 = 0) {
        self.count = count
        self.free = free
        self.unknown = unknown
        self.amount = amount
    }

    /// How many rows are for money: those without an amount among them.
    package var paid: Int64 { count - free }

    /// Both together. Sums beyond what 64 bits count stay at the most.
    package static func + (a: FigureSum, b: FigureSum) -> FigureSum {
        FigureSum(
            count: Int64(clamping: Int128(a.count) + Int128(b.count)),
            free: Int64(clamping: Int128(a.free) + Int128(b.free)),
            unknown: Int64(clamping: Int128(a.unknown) + Int128(b.unknown)), amount: a.amount &+ b.amount)
    }
}

/// Sums by what they are of.
package struct FigureSums: Sendable, Hashable {
    private var sums: [FigureMeasure: FigureSum] = [:]

    /// Of nothing.
    package init() {}

    /// The sum of a measure.
    package subscript(measure: FigureMeasure) -> FigureSum {
        get { sums[measure] ?? FigureSum() }
        set { sums[measure] = newValue }
    }

    /// How many rows all measures count.
    package var count: Int64 { sums.values.reduce(FigureSum(), +).count }

    /// Adds those of others.
    package mutating func add(_ others: FigureSums) { sums.merge(others.sums, uniquingKeysWith: +) }

    /// What was given back: refunds less what of them was taken back.
    package var refunded: Int128 { self[.refund].amount - self[.reversal].amount }
}
