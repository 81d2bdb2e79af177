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
    private var earlier: [FigureMeasure: FigureSum] = [:]
    private var cohorts: [Int: Cohort] = [:]
    private var payments: [Int: FigureSum] = [:]

    /// Of nothing.
    package init() {}

    /// Takes the sums of all days before the period.
    package mutating func follow(_ sums: FigureSums) { earlier = sums.sums }

    /// The sums of all days before the period.
    private var before: FigureSums {
        var before = FigureSums()
        before.sums = earlier
        return before
    }

    /// The sums of all days until the end of the period.
    package var through: FigureSums {
        var through = before
        through.sums.merge(sums, uniquingKeysWith: +)
        return through
    }

    /// The sum of a measure.
    package subscript(measure: FigureMeasure) -> FigureSum {
        get { sums[measure] ?? FigureSum() }
        set { sums[measure] = newValue }
    }

    /// What became of the customers of ``FigureMeasure/customerNew`` so many months later, 0 to 36.
    package subscript(months months: Int) -> Cohort {
        get { cohorts[months] ?? Cohort() }
        set { cohorts[months] = newValue }
    }

    /// What the customers of ``FigureMeasure/customerNew`` paid so many months after their first payment, 0 to 36, and not before: sales and
    /// reversals less refunds.
    package subscript(paidAfter months: Int) -> FigureSum {
        get { payments[months] ?? FigureSum() }
        set { payments[months] = newValue }
    }

    /// What they paid until so many months after it, in all.
    package func paid(through months: Int) -> FigureSum {
        payments.filter { $0.key <= months }.values.reduce(FigureSum(), +)
    }

    /// How many rows all measures count; of payments of customers how many these are.
    package var count: Int64 {
        payments.isEmpty ? sums.values.reduce(FigureSum(), +).count : paid(through: .max).count
    }

    /// Adds other sums.
    package mutating func add(_ others: FigureSums) {
        sums.merge(others.sums, uniquingKeysWith: +)
        earlier.merge(others.earlier, uniquingKeysWith: +)
        cohorts.merge(others.cohorts, uniquingKeysWith: +)
        payments.merge(others.payments, uniquingKeysWith: +)
    }

    /// What was given back: refunds less reversals.
    package var refunded: Int128 { self[.refund].amount - self[.reversal].amount }

    /// What refunds take back of proceeds, less what reversals give again.
    package var proceedsRefunded: Int128 { self[.proceedsBack].amount - self[.proceedsAgain].amount }

    /// How many of Apple's trials are neither converted nor lapsed.
    package var openTrials: Int64 { self[.trial].count - self[.trialConverted].count - self[.trialLapsed].count }

    /// How many of the app's own trials are neither converted nor lapsed.
    package var openOwnTrials: Int64 {
        self[.ownTrial].count - self[.ownTrialConverted].count - self[.ownTrialLapsed].count
    }

    /// How many accounts had no payment before the period: accounts known at its start, and accounts that became known in it.
    package var accountsToPay: Int64 { through.accountsKnown - before[.accountPaid].count }

    /// How many accounts became known. An account with an earlier payment became known by it.
    package var accountsKnown: Int64 { self[.accountKnown].count - self[.accountEarly].count }

    // MARK: Recurring revenue

    /// What is paid a month at the end of the period.
    package var standing: FigureSum { through.entered }

    /// What was paid a month before the period.
    package var standingBefore: FigureSum { before.entered }

    /// How many customers pay at the end of the period.
    package var active: Int64 { through.won }

    /// How many customers paid before the period.
    package var activeBefore: Int64 { before.won }

    /// How many customers stopped to pay in the period.
    package var lost: Int64 {
        self[.customerLostVoluntary].count + self[.customerLostBilling].count + self[.customerLostOther].count
    }

    /// What customers pay more a month by the period's movements.
    package var moved: Int128 { FigureMeasure.movements.reduce(0) { $0 + self[$1].amount } }

    /// Takes what stood at the end of a month, as it was recorded, as what stood before it and what changed in it.
    package mutating func spread() {
        if let standing = sums.removeValue(forKey: .standing) {
            var before = standing
            before.amount -= moved
            earlier[.enter] = before
            sums[.enter] = FigureSum(amount: moved)
        }
        if let customers = sums.removeValue(forKey: .standingCustomer) {
            earlier[.customerNew] = FigureSum(count: customers.count - won)
        }
    }

    private var entered: FigureSum {
        let (enter, leave) = (self[.enter], self[.leave])
        return FigureSum(
            count: enter.count - leave.count, free: 0, unknown: enter.unknown - leave.unknown,
            amount: enter.amount - leave.amount)
    }

    private var won: Int64 { self[.customerNew].count + self[.customerBack].count - lost }
}
