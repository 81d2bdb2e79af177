public import Base

/// Matches transactions with attempts to buy, by their dates alone: the order of arrival does not matter.
public enum AttemptMatching {
    /// How an attempt ended, by the latest report that an app made of it.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It goes on, or it is over and Apple has yet to record it.
        case pending
        /// It failed.
        case failed
        /// The customer gave it up.
        case cancelled

        /// How long after its latest report a transaction may have been made that completes it, in seconds.
        public var patience: Int64 { self == .pending ? 7 * 86_400 : 86_400 }
    }

    /// How long before the first report of an attempt a transaction may have been made that completes it, in seconds.
    public static let lead: Int64 = 600

    /// Reports within so many seconds of the first one are of one attempt.
    public static let span: Int64 = 86_400

    /// An attempt to buy a product.
    public struct Attempt: Sendable, Hashable {
        /// Its number.
        public var id: Int64
        /// The app; empty where it is not known, and any will do.
        public var bundleID: String
        /// Its outcome.
        public var outcome: Outcome
        /// The first report.
        public var firstAt: Timestamp
        /// The latest report.
        public var lastAt: Timestamp

        /// Memberwise.
        public init(id: Int64, bundleID: String, outcome: Outcome, firstAt: Timestamp, lastAt: Timestamp) {
            self.id = id
            self.bundleID = bundleID
            self.outcome = outcome
            self.firstAt = firstAt
            self.lastAt = lastAt
        }

        /// The last instant at which a transaction may have been made that completes it.
        public var closesAt: Timestamp { lastAt.adding(seconds: outcome.patience) }

        /// How far a transaction is from its reports, in milliseconds: 0 between the first and the latest. Nil where the transaction
        /// cannot complete it.
        fileprivate func distance(to sale: Sale) -> Int64? {
            guard bundleID.isEmpty || bundleID == sale.bundleID, sale.at <= closesAt,
                firstAt.adding(seconds: -AttemptMatching.lead) <= sale.at
            else { return nil }
            return max(firstAt.milliseconds(since: sale.at), sale.at.milliseconds(since: lastAt), 0)
        }
    }

    /// A transaction of the account's with that product.
    public struct Sale: Sendable, Hashable {
        /// Its order.
        public var orderID: Int64
        /// Which transaction of the order.
        public var item: String
        /// The app.
        public var bundleID: String
        /// Apple's purchaseDate.
        public var at: Timestamp

        /// Memberwise.
        public init(orderID: Int64, item: String, bundleID: String, at: Timestamp) {
            self.orderID = orderID
            self.item = item
            self.bundleID = bundleID
            self.at = at
        }
    }

    /// The transactions that complete attempts, by the attempts' numbers: the nearest pair first, and each attempt and transaction once.
    ///
    /// Of pairs that are equally near, the earliest transaction comes first, then the earliest attempt.
    public static func pairs(of attempts: [Attempt], _ sales: [Sale]) -> [Int64: Sale] {
        struct Pair {
            var distance: Int64
            var sale: Sale
            var attempt: Attempt

            func precedes(_ other: Pair) -> Bool {
                let mine = (distance, sale.at.millisecondsSince1970, attempt.firstAt.millisecondsSince1970, attempt.id)
                let others = (
                    other.distance, other.sale.at.millisecondsSince1970, other.attempt.firstAt.millisecondsSince1970,
                    other.attempt.id
                )
                if mine != others { return mine < others }
                return (sale.item, sale.orderID) < (other.sale.item, other.sale.orderID)
            }
        }
        let near = attempts.flatMap { attempt in
            sales.compactMap { sale in
                attempt.distance(to: sale).map { Pair(distance: $0, sale: sale, attempt: attempt) }
            }
        }
        var (pairs, taken) = ([Int64: Sale](), Set<Sale>())
        for pair in near.sorted(by: { $0.precedes($1) })
        where pairs[pair.attempt.id] == nil && taken.insert(pair.sale).inserted {
            pairs[pair.attempt.id] = pair.sale
        }
        return pairs
    }
}
