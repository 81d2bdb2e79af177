import Figures
import Testing

@Suite("The values of a figure")
struct FigureTests {
    /// Four sales of 29.94 in all: one is free, one has no price; one of 9.98 was refunded by half in these days, 1.00 of an earlier
    /// refund was taken back.
    private var sums: FigureSums {
        var sums = FigureSums()
        sums[.sale] = FigureSum(count: 4, free: 1, unknown: 1, amount: 29_940)
        sums[.refundedSale] = FigureSum(count: 1, amount: 4990)
        sums[.refund] = FigureSum(count: 2, unknown: 1, amount: 4990)
        sums[.reversal] = FigureSum(count: 1, amount: 1000)
        sums[.lateSale] = FigureSum(count: 2, amount: 500)
        sums[.lateRefund] = FigureSum(count: 1, amount: 200)
        sums[.lateReversal] = FigureSum(count: 1, amount: 50)
        sums[.proceeds] = FigureSum(count: 3, unknown: 1, amount: 20_958)
        sums[.proceedsBack] = FigureSum(count: 2, unknown: 1, amount: 3493)
        sums[.proceedsAgain] = FigureSum(count: 1, amount: 700)
        return sums
    }

    private func values(_ figure: Figure) -> [String: Int64] {
        figure.columns.reduce(into: [:]) { $0[$1.name] = $1.value(sums) }
    }

    @Test("that are money are made of measures that are kept in other currencies")
    func money() {
        for figure in Figure.allCases where figure.isMoney && !figure.isByMonthsLater {
            #expect(Set(figure.measures).isSubset(of: FigureMeasure.money), "\(figure)")
        }
    }

    @Test("are worked by hand")
    func byHand() {
        #expect(values(.orders) == ["orders": 0])
        #expect(values(.transactions) == ["transactions": 3, "free": 1, "unpriced": 1])
        #expect(values(.gross) == ["gross": 29_940, "transactions": 3, "unpriced": 1])
        #expect(values(.refunded) == ["refunded": 3990, "refunds": 2, "reversals": 1, "unknown": 1])
        #expect(values(.net) == ["net": 25_950, "gross": 29_940, "refunded": 3990])
        #expect(
            values(.proceeds)
                == ["proceeds": 18_165, "ofSales": 20_958, "ofRefunds": 2793, "transactions": 3, "unpriced": 1])
        #expect(values(.heardLate) == ["heardLate": 350, "transactions": 2, "refunds": 1, "reversals": 1])
        #expect(
            values(.refundRate) == [
                // 3.99 of 29.94 are 13.3266 %, one of three 33.3333 %, 4.99 of 29.94 are 16.6667 %.
                "refundRate": 13_327, "refundRateInNumber": 33_333, "ofPurchases": 16_667,
                "ofPurchasesInNumber": 33_333, "refunded": 3990, "gross": 29_940,
            ])
    }

    @Test("of trials are Apple's and the app's own, each apart")
    func trials() {
        var sums = FigureSums()
        (sums[.trial], sums[.trialConverted]) = (FigureSum(count: 4), FigureSum(count: 1))
        sums[.trialLapsed] = FigureSum(count: 2)
        (sums[.ownTrial], sums[.ownTrialConverted]) = (FigureSum(count: 10), FigureSum(count: 3))
        (sums[.ownTrialLapsed], sums[.ownTrialRefunded]) = (FigureSum(count: 3), FigureSum(count: 1))
        func values(_ figure: Figure) -> [String: Int64] {
            figure.columns.reduce(into: [:]) { $0[$1.name] = $1.value(sums) }
        }
        #expect(
            values(.trials) == [
                "trials": 4, "converted": 1, "lapsed": 2, "open": 1, "ownTrials": 10, "ownConverted": 3,
                "ownLapsed": 3, "ownOpen": 4,
            ])
        #expect(
            values(.trialConversion) == [
                "conversionRate": 33_333, "converted": 1, "trials": 4, "open": 1, "refunded": 0,
                "ownConversionRate": 50_000, "ownConverted": 3, "ownTrials": 10, "ownOpen": 4, "ownRefunded": 1,
            ])
    }

    @Test("are rounded half even for one of the customers, and none before the day has ended for all of them")
    func lifetime() {
        var sums = FigureSums()
        sums[.customerNew] = FigureSum(count: 4)
        for months in 0...2 { sums[months: months] = Cohort(due: months < 2 ? 4 : 3) }
        sums[paidAfter: 0] = FigureSum(count: 4, amount: 10)
        sums[paidAfter: 1] = FigureSum(count: 2, amount: 20)
        let values: [String: Int64] = Figure.lifetimeValue.columns.reduce(into: [:]) { $0[$1.name] = $1.value(sums) }
        #expect(values == ["customers": 4, "m0": 2, "total0": 10, "m1": 8, "total1": 30])
        sums[paidAfter: 1].amount = -20
        #expect(Figure.lifetimeValue.columns.first { $0.name == "m1" }?.value(sums) == -2)
        #expect(sums.count == 6)
    }

    @Test("are none of a share of nothing, and stay at the most that 64 bits count")
    func limits() {
        var sums = FigureSums()
        sums[.refund] = FigureSum(count: 1, amount: 4990)
        #expect(Figure.refundRate.columns.first?.value(sums) == nil)
        sums[.sale] = FigureSum(count: 1, amount: Int128(Int64.max) * 4)
        #expect(Figure.gross.columns.first?.value(sums) == Int64.max)
        #expect((FigureSum(count: .max) + FigureSum(count: 1)).count == .max)
    }

    @Test("are made of measures that the figure names")
    func measures() {
        for figure in Figure.allCases {
            // Of measures that it does not name nothing shows.
            var other = FigureSums()
            for measure in FigureMeasure.allCases where !figure.measures.contains(measure) {
                other[measure] = FigureSum(count: 7, free: 2, unknown: 3, amount: 11)
            }
            #expect(figure.columns.allSatisfy { ($0.value(other) ?? 0) == 0 }, "\(figure)")
        }
    }
}
