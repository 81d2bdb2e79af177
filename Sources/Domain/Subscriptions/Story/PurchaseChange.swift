public import AppStorePayloads
public import Base

/// One thing that a piece of evidence changed.
public struct PurchaseChange: Sendable, Hashable {
    /// What changed; the raw values are those of the commands' JSON.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A first period was bought.
        case bought
        /// A first period began as the introductory free trial.
        case trialStarted = "trial_started"
        /// A period was bought after the last one had ended, or beside it.
        case boughtAgain = "bought_again"
        /// Access through the family began.
        case familyShared = "family_shared"
        /// The next period was paid for.
        case renewed
        /// A charge that had failed went through.
        case recovered
        /// A better plan, effective at once.
        case upgraded
        /// Another product within a period, effective at once.
        case productChanged = "product_changed"
        /// A period whose own notification never arrived; a later one named it.
        case periodTold = "period_told"
        /// Apple reports that a later purchase took this period's place.
        case replaced
        /// A renewal that was charged ahead never begins: another plan was bought before it did.
        case renewalReplaced = "renewal_replaced"
        /// What it renews to is another product now.
        case renewalProductChanged = "renewal_product_changed"
        /// It renews to its own product again.
        case renewalProductKept = "renewal_product_kept"
        /// Auto-renew was switched off.
        case autoRenewOff = "auto_renew_off"
        /// Auto-renew was switched on.
        case autoRenewOn = "auto_renew_on"
        /// The charge failed; `until` is the end of grace, where there is one.
        case chargeFailed = "charge_failed"
        /// Grace is over.
        case graceEnded = "grace_ended"
        /// It ended; `intent` says why.
        case expired
        /// Money went back, of this period or an older one.
        case refunded
        /// A refund was taken back.
        case refundReversed = "refund_reversed"
        /// Access through the family ended.
        case familyRevoked = "family_revoked"
        /// The period's end was moved.
        case extended
        /// A mass extension failed for this purchase.
        case extensionFailed = "extension_failed"
        /// The customer is asked to agree to a higher price.
        case priceIncreasePending = "price_increase_pending"
        /// The customer agreed to a higher price, or need not.
        case priceIncreaseAgreed = "price_increase_agreed"
        /// The customer asked for a refund; Apple asks for consumption data.
        case consumptionRequested = "consumption_requested"
        /// Apple declined a refund.
        case refundDeclined = "refund_declined"
        /// An offer was taken that begins with the next renewal.
        case offerRedeemed = "offer_redeemed"
        /// Something was bought once.
        case oneTimeBought = "one_time_bought"
        /// What was bought once turned up again on another device.
        case restored
        /// Advanced Commerce changed the price, the texts, or where it is managed.
        case commerceChanged = "commerce_changed"
        /// A type of notification that this release does not know.
        case unknownType = "unknown_type"
        /// Nothing new.
        case nothingNew = "nothing_new"
    }

    /// What changed.
    public var kind: Kind
    /// The product it is about.
    public var productID: String?
    /// The product of the period before, where this one is of another.
    public var formerProductID: String?
    /// The first instant of the period it is about.
    public var from: Timestamp?
    /// The end of that period, or of grace.
    public var until: Timestamp?
    /// What was paid, or went back.
    public var amount: Money?
    /// How much of the price went back, in thousandths of a percent, where it is a refund.
    public var share: Int64?
    /// How many were bought, where it is a one-time purchase.
    public var quantity: Int64?
    /// Why it ended, where it did: 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 unavailable, 5 other.
    public var intent: Int?
    /// Why Apple gave money back, where it did and says why.
    public var refundReason: RevocationReason?
    /// Apple's own word, where there is nothing else to say.
    public var reason: String?

    /// A change.
    public init(
        _ kind: Kind, productID: String? = nil, from: Timestamp? = nil, until: Timestamp? = nil, amount: Money? = nil,
        share: Int64? = nil, quantity: Int64? = nil, intent: Int? = nil, refundReason: RevocationReason? = nil,
        reason: String? = nil
    ) {
        self.kind = kind
        self.productID = productID
        self.from = from
        self.until = until
        self.amount = amount
        self.share = share
        self.quantity = quantity
        self.intent = intent
        self.refundReason = refundReason
        self.reason = reason
    }
}
