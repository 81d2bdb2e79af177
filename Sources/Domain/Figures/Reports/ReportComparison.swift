/// Apple's report held against the books, key by key.
package struct ReportComparison: Sendable, Hashable {
    /// What is compared.
    package enum Measure: Sendable, Hashable {
        /// Units and what customers paid: of a sales report.
        case unitsAndAmounts
        /// Units alone: of a financial report. Its amounts are shares, and not prices.
        case units
    }

    /// How a key came out.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// Both have the same.
        case equal
        /// The report has it and the books have not.
        case onlyTheirs = "only_theirs"
        /// The books have it and the report has not.
        case onlyOurs = "only_ours"
        /// Both have it, with other units.
        case otherUnits = "other_units"
        /// Both have it, with the same units and another amount.
        case otherAmount = "other_amount"
    }

    /// One key.
    package struct Line: Sendable, Hashable {
        /// The key.
        package let key: ReportKey
        /// What the report has.
        package let theirs: ReportTotals?
        /// What the books have.
        package let ours: ReportTotals?
        /// How it came out.
        package let outcome: Outcome
    }

    /// Apple's Partner Share beside the books' estimate of it. They are never compared as equal: exchange, tax and rounding are
    /// Apple's.
    package struct PartnerShare: Sendable, Hashable {
        /// The currency of both.
        package let currency: String
        /// What Apple has of the keys that both have, less refunds, in milliunits.
        package let theirs: Int64
        /// What the books estimate of the same keys; nil where they have none in that currency.
        package let ours: Int64?
        /// How much theirs is of ours, in thousandths of a percent, rounded half even; nil where ours is not above 0.
        package let ratio: Int64?
    }

    /// What was compared.
    package let measure: Measure
    /// All keys, in order.
    package let lines: [Line]
    /// The Partner Share by currency, in order; empty for a report that has none.
    package let partnerShares: [PartnerShare]

    /// Compares a report with the books of its days.
    package init(_ report: AppleReport, with books: [ReportKey: ReportTotals]) {
        if case .financial = report {
            self.init(theirs: report.totals, ours: books, by: .units)
        } else {
            self.init(theirs: report.totals, ours: books, by: .unitsAndAmounts)
        }
    }

    /// Compares two sides. A key with neither units nor an amount is left out.
    package init(theirs: [ReportKey: ReportTotals], ours: [ReportKey: ReportTotals], by measure: Measure) {
        self.measure = measure
        let theirs = theirs.filter { $1.units != 0 || $1.amount != 0 }
        let ours = ours.filter { $1.units != 0 || $1.amount != 0 }
        lines = Set(theirs.keys).union(ours.keys).sorted().map { key in
            Line(
                key: key, theirs: theirs[key], ours: ours[key],
                outcome: Self.outcome(theirs[key], ours[key], by: measure))
        }
        partnerShares = Self.partnerShares(lines)
    }

    /// How many keys came out like this.
    package func count(_ outcome: Outcome) -> Int { lines.count { $0.outcome == outcome } }

    /// Whether the differences are small enough. The differences in units, of sales and of refunds, are added up without their signs: the sum is
    /// at most a share of the report's units. Where amounts are compared, the same holds for the amounts of each currency.
    /// - Parameter tolerance: the share; with 0 everything has to be equal.
    package func isWithin(_ tolerance: PriceShare) -> Bool {
        var sums: [String?: (difference: Int128, theirs: Int128)] = [:]
        func add(_ group: String?, _ theirs: Int64, _ ours: Int64) {
            let sum = sums[group] ?? (0, 0)
            let difference = Int128((Int128(theirs) - Int128(ours)).magnitude)
            sums[group] = (sum.difference + difference, sum.theirs + Int128(theirs.magnitude))
        }
        for line in lines {
            // Units stand under no currency.
            add(nil, line.theirs?.units ?? 0, line.ours?.units ?? 0)
            guard measure == .unitsAndAmounts else { continue }
            add(line.key.currency, line.theirs?.amount ?? 0, line.ours?.amount ?? 0)
        }
        return sums.values.allSatisfy {
            $0.difference * Int128(PriceShare.whole) <= $0.theirs * Int128(tolerance.thousandthsOfPercent)
        }
    }

    private static func outcome(_ theirs: ReportTotals?, _ ours: ReportTotals?, by measure: Measure) -> Outcome {
        guard let theirs else { return .onlyOurs }
        guard let ours else { return .onlyTheirs }
        if theirs.units != ours.units { return .otherUnits }
        return measure == .unitsAndAmounts && theirs.amount != ours.amount ? .otherAmount : .equal
    }

    private static func partnerShares(_ lines: [Line]) -> [PartnerShare] {
        var sums: [String: (theirs: Int128, ours: Int128?)] = [:]
        for line in lines {
            guard let theirs = line.theirs, let ours = line.ours else { continue }
            let sign: Int128 = line.key.kind == .sale ? 1 : -1
            for (currency, share) in theirs.proceeds {
                var sum = sums[currency] ?? (0, nil)
                sum.theirs += sign * Int128(share)
                if let estimate = ours.proceeds[currency] { sum.ours = (sum.ours ?? 0) + sign * Int128(estimate) }
                sums[currency] = sum
            }
        }
        return sums.sorted { $0.key < $1.key }.map { currency, sum in
            let ratio = sum.ours.flatMap { ours in
                ours > 0 ? (sum.theirs * Int128(PriceShare.whole)).dividedHalfEven(by: ours) : nil
            }
            return PartnerShare(
                currency: currency, theirs: Int64(clamping: sum.theirs), ours: sum.ours.map { Int64(clamping: $0) },
                ratio: ratio.map { Int64(clamping: $0) })
        }
    }
}
