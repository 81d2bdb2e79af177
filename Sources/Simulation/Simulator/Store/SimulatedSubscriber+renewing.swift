extension SimulatedSubscriber {
    /// What the renewal info says about grace when a charge fails.
    public enum Grace: Sendable, Hashable {
        /// The app has no grace period: DID_FAIL_TO_RENEW without subtype.
        case none
        /// With `gracePeriodExpiresDate`.
        case dated
        /// Apple's status says grace, and the date is left out.
        case undated
        /// Apple's status says grace, and the date is null.
        case nullDate
    }

    /// Why a subscription ended.
    public enum End: Int, Sendable, Hashable, Codable {
        /// The customer had switched auto-renew off.
        case voluntary = 1
        /// Sixty days of retries did not help.
        case billing = 2
        /// The customer did not agree to a price increase.
        case priceIncrease = 3
        /// The product was no longer sold.
        case productUnavailable = 4
        /// Another reason; no subtype.
        case other = 5

        var subtype: String? {
            switch self {
            case .voluntary: "VOLUNTARY"
            case .billing: "BILLING_RETRY"
            case .priceIncrease: "PRICE_INCREASE"
            case .productUnavailable: "PRODUCT_NOT_FOR_SALE"
            case .other: nil
            }
        }
    }

    /// A charge succeeds: the next period, of the scheduled product. DID_RENEW.
    ///
    /// - Parameter instant: when it is charged; nil for some hours before the end of the present period, as Apple does. The new period
    ///   begins at that end all the same, so its purchase date lies in the future of the signed date.
    public mutating func renew(_ line: SubscriptionLine.Reference, at instant: Milliseconds? = nil) {
        let end = lines[line.index].expiresDate
        let early = end - paced(.minutes(random.number(in: 60...1200)))
        continuePaying(line, from: end)
        emit("DID_RENEW", on: line, at: instant ?? early)
    }

    /// A charge fails: billing retry, with or without grace. DID_FAIL_TO_RENEW.
    ///
    /// - Parameter instant: nil for just after the end of the present period.
    public mutating func failToRenew(
        _ line: SubscriptionLine.Reference, grace: Grace = .none, at instant: Milliseconds? = nil
    ) {
        let end = lines[line.index].expiresDate
        lines[line.index].phase = grace == .none ? .billingRetry : .gracePeriod
        lines[line.index].renewal.expirationIntent = End.billing.rawValue
        lines[line.index].renewal.isInBillingRetryPeriod = true
        lines[line.index].renewal.gracePeriodExpiresDate =
            switch grace {
            case .none, .undated: .absent
            case .nullDate: .null
            case .dated: .date(end + gracePeriod(of: line))
            }
        emit("DID_FAIL_TO_RENEW", grace == .none ? nil : "GRACE_PERIOD", on: line, at: instant ?? end + .seconds(2))
    }

    /// Grace is over, Apple goes on trying. GRACE_PERIOD_EXPIRED.
    ///
    /// - Parameter instant: nil for the end of the grace period.
    public mutating func graceExpires(_ line: SubscriptionLine.Reference, at instant: Milliseconds? = nil) {
        lines[line.index].phase = .billingRetry
        let end = lines[line.index].expiresDate + gracePeriod(of: line)
        emit("GRACE_PERIOD_EXPIRED", on: line, at: instant ?? end + .seconds(2))
    }

    /// How long grace lasts: what the app has set, but no more than six days where a period has seven (App Store Connect Help, "Enable
    /// Billing Grace Period for auto-renewable subscriptions").
    func gracePeriod(of line: SubscriptionLine.Reference) -> Milliseconds {
        let isWeekly = lines[line.index].product.period <= .days(7)
        return paced(isWeekly ? min(app.gracePeriod, .days(6)) : app.gracePeriod).wholeSeconds
    }

    /// The charge succeeds after all. DID_RENEW/BILLING_RECOVERY.
    ///
    /// In grace the new period begins where the last one ended, so that no paid day is lost or given; later it begins now.
    public mutating func recover(_ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        let inGrace = lines[line.index].phase == .gracePeriod
        continuePaying(line, from: inGrace ? lines[line.index].expiresDate : instant.wholeSeconds)
        emit("DID_RENEW", "BILLING_RECOVERY", on: line, at: instant)
    }

    /// The end. EXPIRED.
    ///
    /// - Parameters:
    ///   - statingReason: Apple has been seen to leave `expirationIntent` out.
    ///   - winBackOffers: offers that the customer may now take.
    ///   - instant: nil for the end of the present period, or of sixty days of retries.
    public mutating func expire(
        _ line: SubscriptionLine.Reference,
        _ end: End = .voluntary,
        statingReason: Bool = true,
        winBackOffers: [SimulatedOffer] = [],
        at instant: Milliseconds? = nil
    ) {
        lines[line.index].phase = .expired
        lines[line.index].renewal.expirationIntent = statingReason ? end.rawValue : nil
        lines[line.index].renewal.isInBillingRetryPeriod = false
        lines[line.index].renewal.autoRenewStatus = 0
        lines[line.index].renewal.eligibleWinBackOfferIds =
            winBackOffers.isEmpty ? nil : winBackOffers.compactMap(\.identifier)
        refreshRenewal(line)
        let wait = end == .billing ? paced(.days(60)) : 0
        emit("EXPIRED", end.subtype, on: line, at: instant ?? lines[line.index].expiresDate + wait + .seconds(5))
    }

    /// The customer switches auto-renew. DID_CHANGE_RENEWAL_STATUS.
    ///
    /// In billing retry, switching it off ends the retries, and with them the subscription: EXPIRED is the caller's to add.
    ///
    /// - Parameter subtyped: false for the notification without a subtype.
    public mutating func switchAutoRenew(
        _ line: SubscriptionLine.Reference, on: Bool, subtyped: Bool = true, at instant: Milliseconds
    ) {
        lines[line.index].renewal.autoRenewStatus = on ? 1 : 0
        if !on && lines[line.index].phase == .billingRetry {
            lines[line.index].phase = .expired
            lines[line.index].renewal.isInBillingRetryPeriod = false
        }
        refreshRenewal(line)
        let subtype = on ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"
        emit("DID_CHANGE_RENEWAL_STATUS", subtyped ? subtype : nil, on: line, at: instant)
    }

    /// Another plan from the next renewal on. DID_CHANGE_RENEWAL_PREF/DOWNGRADE.
    ///
    /// - Parameters:
    ///   - offer: the offer under which the next period will be bought.
    ///   - type: `OFFER_REDEEMED` where an offer made the customer do it.
    public mutating func downgrade(
        _ line: SubscriptionLine.Reference,
        to product: SimulatedProduct,
        offer: SimulatedOffer? = nil,
        announcedAs type: String = "DID_CHANGE_RENEWAL_PREF",
        at instant: Milliseconds
    ) {
        lines[line.index].scheduledProduct = product
        lines[line.index].comingOffer = offer
        refreshRenewal(line)
        emit(type, "DOWNGRADE", on: line, at: instant)
    }

    /// The customer stays with the present plan after all. DID_CHANGE_RENEWAL_PREF without subtype.
    public mutating func cancelDowngrade(_ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        lines[line.index].scheduledProduct = lines[line.index].product
        lines[line.index].comingOffer = nil
        refreshRenewal(line)
        emit("DID_CHANGE_RENEWAL_PREF", on: line, at: instant)
    }

    /// An active subscriber takes an offer for the next renewal of the same product. OFFER_REDEEMED without subtype.
    public mutating func redeem(
        _ offer: SimulatedOffer, _ line: SubscriptionLine.Reference, at instant: Milliseconds
    ) {
        lines[line.index].comingOffer = offer
        refreshRenewal(line)
        emit("OFFER_REDEEMED", on: line, at: instant)
    }

    /// The next renewal will be dearer. PRICE_INCREASE/PENDING, or ACCEPTED at once where no consent is needed.
    public mutating func raisePrice(
        _ line: SubscriptionLine.Reference, toDollarMilliunits price: Int64, needsConsent: Bool,
        at instant: Milliseconds
    ) {
        lines[line.index].raisedDollarMilliunits = price
        lines[line.index].renewal.priceIncreaseStatus = needsConsent ? 0 : 1
        refreshRenewal(line)
        emit("PRICE_INCREASE", needsConsent ? "PENDING" : "ACCEPTED", on: line, at: instant)
    }

    /// The customer agrees to the price increase. PRICE_INCREASE/ACCEPTED.
    public mutating func acceptPrice(_ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        lines[line.index].renewal.priceIncreaseStatus = 1
        emit("PRICE_INCREASE", "ACCEPTED", on: line, at: instant)
    }

    /// The present period lasts longer. RENEWAL_EXTENDED.
    public mutating func extend(
        _ line: SubscriptionLine.Reference, by span: Milliseconds, at instant: Milliseconds
    ) {
        self[latest(of: line)].expiresDate = lines[line.index].expiresDate + paced(span).wholeSeconds
        refreshRenewal(line)
        emit("RENEWAL_EXTENDED", on: line, at: instant)
    }

    /// The next period, of the scheduled product and under the offer for it.
    private mutating func continuePaying(_ line: SubscriptionLine.Reference, from start: Milliseconds) {
        let offer = lines[line.index].comingOffer
        if lines[line.index].scheduledProduct != lines[line.index].product {
            lines[line.index].raisedDollarMilliunits = nil
        }
        lines[line.index].product = lines[line.index].scheduledProduct
        lines[line.index].comingOffer = nil
        clearFailure(line)
        begin(line, at: start, reason: "RENEWAL", offer: offer)
    }
}
