extension EventKind {
    /// What an event carries beside the members that all events have; see `EventKind+schema.swift` for its shape.
    public enum Payload: String, Sendable, Hashable, CaseIterable {
        /// `subscription` and what it was before; a period or refund as `transaction`.
        case subscription
        /// `purchase`, something bought once, and what it was before.
        case purchase
        /// `access`, what the account has, and what it had before.
        case access
        /// `consumption`: Apple's question about a refund, or the answer.
        case consumption
        /// Nothing.
        case nothing
    }

    /// What an event of this kind carries.
    public var payload: Payload {
        switch self {
        case .subscriptionStarted, .subscriptionTrialStarted, .subscriptionConverted, .subscriptionRenewed,
            .subscriptionRecovered, .subscriptionCancelled, .subscriptionUncancelled, .subscriptionGracePeriodStarted,
            .subscriptionBillingRetryStarted, .subscriptionExpired, .subscriptionProductChanged,
            .subscriptionRenewalProductChanged, .subscriptionExtended, .subscriptionRefunded,
            .subscriptionRefundReversed, .subscriptionRevoked, .subscriptionPriceIncreasePending,
            .subscriptionPriceIncreaseAgreed, .subscriptionExpiringSoon, .subscriptionTransferred:
            .subscription
        case .purchaseCompleted, .purchaseRefunded, .purchaseRefundReversed, .purchaseRevoked, .purchaseTransferred:
            .purchase
        case .accountAccessChanged: .access
        case .consumptionRequested, .consumptionAnswered: .consumption
        case .test: .nothing
        }
    }

    /// When an event of this kind is sent, in a sentence: the chapter's table and the published document have it.
    public var when: String {
        switch self {
        case .accountAccessChanged:
            "The account's tier, its status or the end of its access is another. Most backends need this kind alone."
        case .subscriptionStarted:
            "A paid period was bought while nothing gave access, for the first time or again after an end."
        case .subscriptionTrialStarted: "The introductory free trial began."
        case .subscriptionConverted:
            "The first paid period after a free trial was charged: up to a day before the trial ends, or later where the charge failed first."
        case .subscriptionRenewed: "A period was renewed. It may be charged up to a day before it begins."
        case .subscriptionRecovered: "A period was renewed after a charge had failed."
        case .subscriptionCancelled: "Auto-renew was switched off. Access goes on to the end of what is paid."
        case .subscriptionUncancelled: "Auto-renew was switched on again."
        case .subscriptionGracePeriodStarted: "A charge failed, and access goes on for a while."
        case .subscriptionBillingRetryStarted: "A charge failed, and access does not go on."
        case .subscriptionExpired: "The subscription ended."
        case .subscriptionProductChanged: "Another product took the place of the former one."
        case .subscriptionRenewalProductChanged: "The next renewal will be to another product than was reported."
        case .subscriptionExtended: "The end of what is paid was moved."
        case .subscriptionRefunded: "Apple gave money back for the transaction that the event names, old or present."
        case .subscriptionRefundReversed: "A refund was taken back."
        case .subscriptionRevoked: "Access ended, because money went back or the family no longer shares it."
        case .subscriptionPriceIncreasePending: "Apple asks the customer to agree to a higher price."
        case .subscriptionPriceIncreaseAgreed: "The customer agreed to the higher price, or need not be asked any more."
        case .subscriptionExpiringSoon:
            "All access of the account ends with this subscription, some days from now, and nothing renews it."
        case .subscriptionTransferred: "The subscription is another account's. Both accounts get the event."
        case .purchaseCompleted: "Something was bought once."
        case .purchaseRefunded: "Apple gave money back for something bought once."
        case .purchaseRefundReversed: "A refund of something bought once was taken back."
        case .purchaseRevoked: "The family no longer shares something bought once."
        case .purchaseTransferred: "Something bought once is another account's. Both accounts get the event."
        case .consumptionRequested: "A customer asked for a refund, and Apple asks for data about the purchase."
        case .consumptionAnswered: "Apple was sent that data."
        case .test: "An operator asked for it, to see whether events arrive."
        }
    }
}
