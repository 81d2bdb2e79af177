extension SimulatedSubscriber {
    /// A first purchase: a new line. SUBSCRIBED/INITIAL_BUY.
    ///
    /// - Parameters:
    ///   - type: `OFFER_REDEEMED` is what older versions of Apple's service said where an offer was taken.
    ///   - items: what the Advanced Commerce API sells under the product, where it does.
    @discardableResult
    public mutating func buy(
        _ product: SimulatedProduct,
        offer: SimulatedOffer? = nil,
        ownership: Ownership = .purchased,
        advancedCommerce: AdvancedCommerceRecord? = nil,
        announcedAs type: String = "SUBSCRIBED",
        at instant: Milliseconds
    ) -> SubscriptionLine.Reference {
        let original = mint.transactionId()
        let start = instant.wholeSeconds
        let line = SubscriptionLine.Reference(index: lines.count)
        lines.append(
            SubscriptionLine(
                originalTransactionId: original, phase: .active, product: product, scheduledProduct: product,
                transactions: [],
                renewal: RenewalRecord(
                    originalTransactionId: original, autoRenewProductId: product.id, productId: product.id,
                    autoRenewStatus: 1, gracePeriodExpiresDate: .absent, signedDate: start,
                    environment: app.environment.rawValue, recentSubscriptionStartDate: start,
                    appTransactionId: appTransactionId),
                // Apple's two clocks: the original purchase date of a first transaction is often some seconds later.
                originalPurchaseDate: signsAtOnce ? start : start + .seconds(random.number(in: 0...7)),
                ownership: ownership,
                appAccountToken: appAccountToken, advancedCommerce: advancedCommerce))
        begin(line, at: start, reason: "PURCHASE", offer: offer, id: original)
        emit(type, "INITIAL_BUY", on: line, at: instant)
        return line
    }

    /// A purchase after the end, on the same line. SUBSCRIBED/RESUBSCRIBE.
    public mutating func resubscribe(
        _ line: SubscriptionLine.Reference,
        to product: SimulatedProduct? = nil,
        offer: SimulatedOffer? = nil,
        announcedAs type: String = "SUBSCRIBED",
        at instant: Milliseconds
    ) {
        let lapse = instant - lines[line.index].expiresDate
        if lapse >= paced(.days(60)) {
            lines[line.index].renewal.recentSubscriptionStartDate = instant.wholeSeconds
        }
        if let product, product != lines[line.index].product {
            lines[line.index].product = product
            lines[line.index].raisedDollarMilliunits = nil
        }
        lines[line.index].comingOffer = nil
        lines[line.index].scheduledProduct = lines[line.index].product
        lines[line.index].appAccountToken = appAccountToken ?? lines[line.index].appAccountToken
        clearFailure(line)
        lines[line.index].renewal.autoRenewStatus = 1
        begin(line, at: instant.wholeSeconds, reason: "PURCHASE", offer: offer)
        emit(type, "RESUBSCRIBE", on: line, at: instant)
    }

    /// A dearer plan at once: the present period ends here, though Apple does not send it again. DID_CHANGE_RENEWAL_PREF/UPGRADE.
    ///
    /// - Parameter type: `OFFER_REDEEMED` where an offer made the customer do it.
    public mutating func upgrade(
        _ line: SubscriptionLine.Reference,
        to product: SimulatedProduct,
        offer: SimulatedOffer? = nil,
        announcedAs type: String = "DID_CHANGE_RENEWAL_PREF",
        at instant: Milliseconds
    ) {
        self[latest(of: line)].isUpgraded = true
        lines[line.index].product = product
        lines[line.index].scheduledProduct = product
        lines[line.index].raisedDollarMilliunits = nil
        lines[line.index].comingOffer = nil
        clearFailure(line)
        lines[line.index].renewal.autoRenewStatus = 1
        begin(line, at: instant.wholeSeconds, reason: "PURCHASE", offer: offer)
        emit(type, "UPGRADE", on: line, at: instant)
    }

    /// A restore, or another device: the present period under a new transaction identifier, the order's identifier unchanged.
    /// Nothing is sent for it; whatever comes next names the new transaction.
    public mutating func restore(_ line: SubscriptionLine.Reference) {
        var copy = self[latest(of: line)]
        copy.transactionId = mint.transactionId()
        lines[line.index].transactions.append(copy)
    }

    /// A one-time purchase. ONE_TIME_CHARGE.
    @discardableResult
    public mutating func charge(_ product: SimulatedProduct, quantity: Int = 1, at instant: Milliseconds) -> SoldItem {
        let id = mint.transactionId()
        let start = instant.wholeSeconds
        purchases.append(
            TransactionRecord(
                transactionId: id, originalTransactionId: id, bundleId: app.bundleId, productId: product.id,
                purchaseDate: start, originalPurchaseDate: start, quantity: quantity, type: product.kind.rawValue,
                appAccountToken: appAccountToken, inAppOwnershipType: Ownership.purchased.rawValue, signedDate: start,
                isUpgraded: false, environment: app.environment.rawValue, transactionReason: "PURCHASE",
                storefront: storefront.code, storefrontId: storefront.id,
                price: storefront.price(forDollarMilliunits: product.dollarMilliunits) * Int64(quantity),
                currency: storefront.currency, appTransactionId: appTransactionId))
        let item = SoldItem.single(purchases.count - 1)
        emit("ONE_TIME_CHARGE", about: item, at: instant)
        return item
    }

    /// The app binds a subscription to another account at Apple: the records signed from now on say so.
    public mutating func changeAccountToken(_ line: SubscriptionLine.Reference, to token: String?) {
        appAccountToken = token
        lines[line.index].appAccountToken = token
        lines[line.index].renewal.appAccountToken = token
        self[latest(of: line)].appAccountToken = token
    }

    /// Appends a period of the line's product and brings the renewal info up to date.
    mutating func begin(
        _ line: SubscriptionLine.Reference, at start: Milliseconds, reason: String, offer: SimulatedOffer?,
        id: String? = nil
    ) {
        let now = lines[line.index]
        let list = storefront.price(forDollarMilliunits: now.raisedDollarMilliunits ?? now.product.dollarMilliunits)
        lines[line.index].phase = .active
        lines[line.index].transactions.append(
            TransactionRecord(
                transactionId: id ?? mint.transactionId(), originalTransactionId: now.originalTransactionId,
                webOrderLineItemId: mint.webOrderLineItemId(), bundleId: app.bundleId,
                productId: now.product.id, subscriptionGroupIdentifier: now.product.group, purchaseDate: start,
                originalPurchaseDate: now.originalPurchaseDate,
                expiresDate: start + paced(offer?.length ?? now.product.period).wholeSeconds, quantity: 1,
                type: now.product.kind.rawValue, appAccountToken: now.appAccountToken,
                inAppOwnershipType: now.ownership.rawValue, signedDate: start, isUpgraded: false, offer: offer,
                environment: app.environment.rawValue, transactionReason: reason, storefront: storefront.code,
                storefrontId: storefront.id, price: list * (offer?.percent ?? 100) / 100,
                currency: storefront.currency, appTransactionId: appTransactionId,
                advancedCommerce: now.advancedCommerce))
        lines[line.index].renewal.appAccountToken = now.appAccountToken
        refreshRenewal(line)
    }

    /// Makes the renewal info agree with the line: products, prices and the date of the next charge.
    mutating func refreshRenewal(_ line: SubscriptionLine.Reference) {
        let now = lines[line.index]
        let renews = now.renewal.autoRenewStatus == 1
        let list = storefront.price(
            forDollarMilliunits: now.raisedDollarMilliunits ?? now.scheduledProduct.dollarMilliunits)
        lines[line.index].renewal.productId = now.product.id
        lines[line.index].renewal.autoRenewProductId = now.scheduledProduct.id
        lines[line.index].renewal.renewalDate = now.expiresDate
        lines[line.index].renewal.offer = now.comingOffer
        lines[line.index].renewal.renewalPrice = renews ? list * (now.comingOffer?.percent ?? 100) / 100 : nil
        lines[line.index].renewal.currency = renews ? storefront.currency : nil
    }

    /// Forgets a failed charge, an end, or a question about the price: the customer pays again.
    mutating func clearFailure(_ line: SubscriptionLine.Reference) {
        lines[line.index].renewal.expirationIntent = nil
        lines[line.index].renewal.isInBillingRetryPeriod = nil
        lines[line.index].renewal.gracePeriodExpiresDate = .absent
        lines[line.index].renewal.eligibleWinBackOfferIds = nil
        lines[line.index].renewal.priceIncreaseStatus = nil
    }
}
