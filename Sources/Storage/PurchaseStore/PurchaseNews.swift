package import AppStorePayloads
package import Base
package import Subscriptions

/// What a batch made of one purchase, for who tells of it in the same transaction: what stands, and what stood.
package struct PurchaseNews: Sendable {
    /// The purchase.
    package var key: PurchaseKey
    /// The subscription's phases, if it is one: those that were derived, with which the present and all that is to come are.
    package var phases: [Phase]
    /// Its periods of which anything new was said.
    package var periods: [PaidPeriod]
    /// The same before the batch.
    package var periodsBefore: [PaidPeriod]
    private var state: PurchaseState?
    /// All of its periods, as far as they were derived.
    package var allPeriods: [PaidPeriod] { state?.paidPeriods ?? periods }
    /// What was bought once, if that is what it is.
    package var oneTime: OneTimePurchase?
    /// The same before the batch.
    package var oneTimeBefore: OneTimePurchase?
    /// Whether a subscription stood before the batch.
    package var wasKnown: Bool
    /// What the batch said of it that was not recorded before.
    package var words: [Word]

    /// What one entry says of itself: who tells needs no more of it, and an entry is large.
    package struct Word: Sendable {
        /// Which way it came.
        package var source: EvidenceSource
        /// A notification's type; nil for a record that came by itself, as its subtype and name.
        package var type: NotificationType?
        /// Its subtype.
        package var subtype: NotificationSubtype?
        /// Its name.
        package var uuid: UniqueIdentifier?
        /// When the notification was signed.
        package var notifiedAt: Timestamp?
        /// When the first of its parts was signed.
        package var asOf: Timestamp
        /// The transaction that it speaks of.
        package var transactionID: String?
        /// Why a customer wants the money back, where Apple asks for data about that.
        package var refundReason: String?
    }

    /// Memberwise.
    package init(
        key: PurchaseKey, phases: [Phase] = [], periods: [PaidPeriod] = [], periodsBefore: [PaidPeriod] = [],
        state: PurchaseState? = nil, oneTime: OneTimePurchase? = nil, oneTimeBefore: OneTimePurchase? = nil,
        wasKnown: Bool = false,
        words: [Word] = []
    ) {
        self.key = key
        self.phases = phases
        self.periods = periods
        self.periodsBefore = periodsBefore
        self.state = state
        self.oneTime = oneTime
        self.oneTimeBefore = oneTimeBefore
        self.wasKnown = wasKnown
        self.words = words
    }
}

extension LedgerEntry {
    /// What it says of itself.
    var word: PurchaseNews.Word {
        var asOf = min(
            notification?.signedDate ?? .distantFuture, transaction?.payload.signedDate ?? .distantFuture,
            renewal?.payload.signedDate ?? .distantFuture)
        if asOf == .distantFuture { asOf = .distantPast }
        var refundReason: String?
        if notification?.notificationType == .consumptionRequest, case .data(let data) = notification?.part {
            refundReason = data.consumptionRequestReason?.rawValue
        }
        return PurchaseNews.Word(
            source: source, type: notification?.notificationType, subtype: notification?.subtype,
            uuid: notification?.uuid, notifiedAt: notification?.signedDate, asOf: asOf,
            transactionID: transaction?.payload.transactionId, refundReason: refundReason)
    }
}

extension PurchaseUpdate {
    /// What it makes of the purchase. Not an initializer, which would take an update as its own: it is large to copy.
    func news(_ words: [PurchaseNews.Word]) -> PurchaseNews {
        let periods = state.paidPeriods(after: records, upon: known.facts)
        return PurchaseNews(
            key: key, phases: state.subscription?.phases ?? [], periods: periods.now, periodsBefore: periods.before,
            state: state, oneTime: state.oneTime,
            oneTimeBefore: state.oneTime == nil ? nil : OneTimePurchase(counting: known.facts),
            wasKnown: known.earlierPhases != nil, words: words)
    }
}
