package import AppStorePayloads
package import Base
package import Subscriptions

/// How a batch changed one purchase, for the events written in the same transaction: its state now and before.
package struct PurchaseNews: Sendable {
    /// The purchase.
    package var key: PurchaseKey
    /// The subscription's phases, if it is one: those that were derived, which include the present and all later ones.
    package var phases: [Phase]
    /// Its periods that the batch brought new records about.
    package var periods: [PaidPeriod]
    /// Those periods before the batch.
    package var periodsBefore: [PaidPeriod]
    private var state: PurchaseState?
    /// All of its periods, as far as they were derived.
    package var allPeriods: [PaidPeriod] { state?.paidPeriods ?? periods }
    /// The one-time purchase, if it is one.
    package var oneTime: OneTimePurchase?
    /// The one-time purchase before the batch.
    package var oneTimeBefore: OneTimePurchase?
    /// Whether a subscription was recorded before the batch.
    package var wasKnown: Bool
    /// The batch's entries about it that were not recorded before.
    package var words: [Word]

    /// The part of an entry that events need; an entry is large.
    package struct Word: Sendable {
        /// Which way it came.
        package var source: EvidenceSource
        /// A notification's type. For a record that came by itself this is nil, and so are subtype and UUID.
        package var type: NotificationType?
        /// Its subtype.
        package var subtype: NotificationSubtype?
        /// Its UUID.
        package var uuid: UniqueIdentifier?
        /// When the notification was signed.
        package var notifiedAt: Timestamp?
        /// When the first of its parts was signed.
        package var asOf: Timestamp
        /// The transaction that it is about.
        package var transactionID: String?
        /// Why a customer wants the money back, where Apple asks for data about a refund.
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
    /// The part that events need.
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
    /// What the batch changed. Not an initializer, which would take an update as its own: it is large to copy.
    func news(_ words: [PurchaseNews.Word]) -> PurchaseNews {
        let periods = state.paidPeriods(after: records, upon: known.facts)
        return PurchaseNews(
            key: key, phases: state.subscription?.phases ?? [], periods: periods.now, periodsBefore: periods.before,
            state: state, oneTime: state.oneTime,
            oneTimeBefore: state.oneTime == nil ? nil : OneTimePurchase(counting: known.facts),
            wasKnown: known.earlierPhases != nil, words: words)
    }
}
