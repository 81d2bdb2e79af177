/// What a report, or the books, have under one key. Nothing is negative: the key states what came back.
package struct ReportTotals: Sendable, Hashable {
    /// How many units.
    package private(set) var units: Int64
    /// What customers paid for them, or got back, in milliunits.
    package private(set) var amount: Int64
    /// What remains for the developer by currency, in milliunits: Apple's Partner Share, or the books' estimate. Empty where that is not
    /// known.
    package private(set) var proceeds: [String: Int64]

    /// Memberwise.
    package init(units: Int64 = 0, amount: Int64 = 0, proceeds: [String: Int64] = [:]) {
        self.units = units
        self.amount = amount
        self.proceeds = proceeds
    }

    /// Adds another; nil where a sum does not fit.
    package func adding(_ other: ReportTotals) -> ReportTotals? {
        var sum = self
        var isTooMuch = false
        func add(_ value: Int64, to place: inout Int64) {
            let (total, overflow) = place.addingReportingOverflow(value)
            (place, isTooMuch) = (total, isTooMuch || overflow)
        }
        add(other.units, to: &sum.units)
        add(other.amount, to: &sum.amount)
        for (currency, value) in other.proceeds { add(value, to: &sum.proceeds[currency, default: 0]) }
        return isTooMuch ? nil : sum
    }
}
