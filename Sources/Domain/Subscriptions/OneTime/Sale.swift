public import AppStorePayloads
public import Base

extension OneTimePurchase {
    /// What was paid for once, whatever copies restores made of it.
    public struct Sale: Sendable, Hashable {
        /// The transaction that stands for it: the first one that says a price, else the first one.
        public var transactionID: String
        /// When it was bought.
        public var purchasedAt: Timestamp
        /// How many were bought.
        public var quantity: Int64
        /// When it was refunded; nil while it stands.
        public var revokedAt: Timestamp?
        /// How much of it was taken back, in thousandths of a percent: 0 while it stands, 100000 for all.
        public var revokedShare: Int64
        /// Why Apple refunded; nil while it stands, and where Apple does not say.
        public var revokedReason: RevocationReason?

        /// Memberwise.
        public init(
            transactionID: String, purchasedAt: Timestamp, quantity: Int64 = 1, revokedAt: Timestamp? = nil,
            revokedShare: Int64 = 0, revokedReason: RevocationReason? = nil
        ) {
            self.transactionID = transactionID
            self.purchasedAt = purchasedAt
            self.quantity = quantity
            self.revokedAt = revokedAt
            self.revokedShare = revokedShare
            self.revokedReason = revokedReason
        }

        /// How much was taken back, in 1/100,000 of a unit. Apple's share is a whole number of thousandths of a percent,
        /// so that nothing is rounded.
        public var takenBack: Int64 { quantity.multipliedReportingOverflow(by: revokedShare).partialValue }
    }
}

extension [OneTimePurchase.Sale] {
    /// How much of all of them was taken back, in 1/100,000 of a unit.
    var takenBack: Int64 { reduce(0) { $0 + $1.takenBack } }

    /// Why Apple refunded at an instant; where none of them was refunded then, why it did last.
    func reason(ofRefundAt instant: Timestamp) -> RevocationReason? {
        let refunds = filter { $0.revokedReason != nil }
        return (refunds.first { $0.revokedAt == instant } ?? refunds.last)?.revokedReason
    }
}
