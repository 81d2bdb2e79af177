/// What became of customers some months after their first payment: on the same day of the month, or on the month's last day if it has no such
/// day.
package struct Cohort: Sendable, Hashable {
    /// The numbers of months after the first payment.
    package static let months = 0...36
    /// The number of customers for which that day has ended.
    package var due: Int64
    /// How many of these had monthly recurring revenue at the end of that day. Whether they had stopped in between does not matter.
    package var retained: Int64

    /// Of no customers by default.
    package init(due: Int64 = 0, retained: Int64 = 0) {
        self.due = due
        self.retained = retained
    }

    /// Both together. Sums beyond what 64 bits count stay at the most.
    package static func + (a: Cohort, b: Cohort) -> Cohort {
        Cohort(
            due: Int64(clamping: Int128(a.due) + Int128(b.due)),
            retained: Int64(clamping: Int128(a.retained) + Int128(b.retained)))
    }
}

extension Cohort {
    /// The share of retained customers for each number of months. A table shows some of them.
    static var shares: [FigureColumn] {
        months.map { months in
            var column = FigureColumn.share("m\(months)") {
                (Int128($0[months: months].retained), Int128($0[months: months].due))
            }
            column.showing = shownMonths.contains(months) ? .brief : .none
            column.isPartial = { sums in
                let due = sums[months: months].due
                return due > 0 && due < sums[.customerNew].count
            }
            return column
        }
    }

    /// The parts of each share: how many customers are retained, and how many are due. No table shows them.
    static var counts: [FigureColumn] {
        months.map { months in
            FigureColumn(
                name: "retained\(months)", unit: .count,
                value: { $0[months: months].due > 0 ? $0[months: months].retained : nil }, showing: .none)
        }
            + months.map { months in
                FigureColumn(
                    name: "due\(months)", unit: .count, value: { $0[months: months].due }, showing: .none)
            }
    }

    /// What a customer paid on average, and what all customers paid, for each number of months; nil until that day has ended for all of them. A
    /// table shows some of the averages.
    static var values: [FigureColumn] {
        func column(_ name: String, _ months: Int, _ value: @escaping @Sendable (Int128, Int128) -> Int128)
            -> FigureColumn
        {
            FigureColumn(name: "\(name)\(months)", unit: .money) { sums in
                let customers = sums[.customerNew].count
                guard customers > 0, sums[months: months].due >= customers else { return nil }
                return Int64(clamping: value(sums.paid(through: months).amount, Int128(customers)))
            }
        }
        return months.map { months in
            var value = column("m", months) { $0.dividedHalfEven(by: $1) }
            value.showing = months == 0 || shownMonths.contains(months) ? .brief : .none
            return value
        }
            + months.map { months in
                var total = column("total", months) { total, _ in total }
                total.showing = .none
                return total
            }
    }

    private static let shownMonths: Set<Int> = [1, 2, 3, 4, 5, 6, 9, 12, 18, 24, 30, 36]
}
