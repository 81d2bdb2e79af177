/// What really happened to one purchase, each with the date it happened: the source of ``ModelTruth``.
///
/// It knows nothing of notifications or signed records, so that a mistake in what was sent cannot become the truth.
package struct ModelLedger: Sendable {
    /// One thing that happened. Periods are named by their `webOrderLineItemId`.
    enum Happening: Sendable {
        /// The store took the money for a period, which may begin later.
        case charged(Period)
        /// Another period took the place of this one.
        case replaced(String)
        /// The customer bought something else before this one began, which it therefore never does.
        case dropped(String)
        /// A refund, or the family's access ended.
        case takenBack(String)
        /// A refund was undone.
        case givenBack(String)
        /// The period's end was moved, to epoch milliseconds.
        case extended(String, to: Int64)
        /// The charge at a period's end failed; grace, if any, lasts to the instant in epoch milliseconds.
        case chargeFailed(graceEnd: Int64?)
        /// The store stopped trying to charge.
        case gaveUp
        /// Auto-renew was switched.
        case renewing(Bool)
    }

    /// A paid stretch of one product; dates are epoch milliseconds.
    struct Period: Sendable {
        /// Its name.
        var name: String
        /// What was bought.
        var productId: String
        /// Its first instant.
        var begins: Int64
        /// The first instant after it.
        var ends: Int64
        /// Whether it is a free introductory one.
        var isTrial: Bool
        /// The account it was bought for.
        var appAccountToken: String?
        /// Whether it is refunded or otherwise revoked.
        var isTakenBack = false

        /// Whether it gives access at the instant.
        func covers(_ instant: Int64) -> Bool {
            !isTakenBack && begins <= instant && instant < ends
        }
    }

    /// What stood at one instant.
    private struct Standing {
        var periods: [Period] = []
        var failure: (at: Int64, graceEnd: Int64?)?
        var renews = true

        mutating func change(_ name: String, _ edit: (inout Period) -> Void) {
            for index in periods.indices where periods[index].name == name {
                edit(&periods[index])
            }
        }

        mutating func take(_ happening: Happening, at date: Int64) {
            switch happening {
            case .charged(let period):
                periods.append(period)
                failure = nil
            case .replaced(let name): change(name) { $0.ends = min($0.ends, date) }
            case .dropped(let name): periods.removeAll { $0.name == name }
            case .takenBack(let name): change(name) { $0.isTakenBack = true }
            case .givenBack(let name): change(name) { $0.isTakenBack = false }
            case .extended(let name, let end): change(name) { $0.ends = end }
            case .chargeFailed(let graceEnd): failure = (date, graceEnd)
            case .gaveUp: failure = nil
            case .renewing(let renews): self.renews = renews
            }
        }
    }

    /// The first transaction of the purchase.
    package let originalTransactionId: String
    private var entries: [(at: Int64, what: Happening)] = []
    /// Stretches in which the store already knew an undated fact that it had not told yet, in epoch milliseconds.
    package private(set) var untold: [Range<Int64>] = []

    /// A purchase to which nothing has happened yet.
    init(originalTransactionId: String) {
        self.originalTransactionId = originalTransactionId
    }

    /// Writes down what happened at the instant, in epoch milliseconds and in ascending order.
    mutating func write(_ what: Happening, at date: Int64) {
        entries.append((date, what))
    }

    /// Notes that a fact without a date of its own was told only at the range's end.
    mutating func noteUntold(_ range: Range<Int64>) {
        untold.append(range)
    }

    /// How many periods give access at the instant: never more than one.
    package func periodsInForce(at instant: Int64) -> Int {
        standing(at: instant).periods.filter { $0.covers(instant) }.count
    }

    /// The truth at the instant, in epoch milliseconds; absent before the first period.
    package func truth(at instant: Int64) -> ModelTruth? {
        let standing = standing(at: instant)
        let begun = standing.periods.filter { $0.begins <= instant }
        guard let last = begun.max(by: { $0.begins < $1.begins }) else { return nil }
        var truth = ModelTruth(
            status: 2, productId: last.productId, hasAccess: false, isTrial: false, accessUntil: nil, renews: false,
            appAccountToken: last.appAccountToken)
        if let current = begun.last(where: { $0.covers(instant) }) {
            truth.status = 1
            truth.productId = current.productId
            truth.hasAccess = true
            truth.isTrial = current.isTrial
            truth.accessUntil = Self.endOfStretch(from: current, in: standing.periods)
            truth.renews = standing.renews
            truth.appAccountToken = current.appAccountToken
        } else if last.isTakenBack {
            truth.status = 5
        } else if let failure = standing.failure, instant < failure.at + ModelTime.retry {
            truth.renews = true
            truth.status = 3
            if let graceEnd = failure.graceEnd, instant < graceEnd {
                truth.status = 4
                truth.hasAccess = true
                truth.accessUntil = graceEnd
            }
        }
        return truth
    }

    private func standing(at instant: Int64) -> Standing {
        var standing = Standing()
        for entry in entries where entry.at <= instant {
            standing.take(entry.what, at: entry.at)
        }
        return standing
    }

    private static func endOfStretch(from period: Period, in periods: [Period]) -> Int64 {
        var end = period.ends
        while let next = periods.first(where: { $0.begins == end && $0.ends > end && !$0.isTakenBack }),
            next.productId == period.productId
        {
            end = next.ends
        }
        return end
    }
}
