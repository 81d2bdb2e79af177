public import Base

extension TransactionPayload {
    /// Reads the payload's JSON text.
    ///
    /// - Parameter date: the date of a record that has no signedDate of its own: when the notification around it was
    ///   signed. By default such a record is refused.
    /// - Throws: ``PayloadError`` for a text that is not strict JSON, another kind of record, a key that is missing, or a date
    ///   that cannot be stored.
    public static func decode(
        _ json: [UInt8], undatedAt date: Timestamp? = nil
    ) throws(PayloadError) -> TransactionPayload {
        let fields = try PayloadFields(json, of: .transaction)
        return TransactionPayload(
            transactionId: try fields.key("transactionId"),
            originalTransactionId: try fields.key("originalTransactionId"),
            bundleId: try fields.key("bundleId"),
            signedDate: try fields.requiredDate("signedDate", else: date),
            environment: fields.code("environment"),
            webOrderLineItemId: fields.string("webOrderLineItemId"),
            productId: fields.string("productId"),
            subscriptionGroupIdentifier: fields.string("subscriptionGroupIdentifier"),
            purchaseDate: try fields.date("purchaseDate"),
            originalPurchaseDate: try fields.date("originalPurchaseDate"),
            expiresDate: try fields.date("expiresDate"),
            quantity: fields.integer("quantity"),
            type: fields.code("type"),
            inAppOwnershipType: fields.code("inAppOwnershipType"),
            appAccountToken: fields.accountToken("appAccountToken"),
            revocationDate: try fields.date("revocationDate"),
            revocationReason: fields.code("revocationReason"),
            revocationType: fields.code("revocationType"),
            revocationPercentage: fields.integer("revocationPercentage"),
            isUpgraded: fields.bool("isUpgraded"),
            offerType: fields.code("offerType"),
            offerIdentifier: fields.string("offerIdentifier"),
            offerDiscountType: fields.code("offerDiscountType"),
            offerPeriod: fields.string("offerPeriod"),
            transactionReason: fields.code("transactionReason"),
            additionalTransactionReason: fields.string("additionalTransactionReason"),
            storefront: fields.string("storefront"),
            storefrontId: fields.string("storefrontId"),
            price: fields.integer("price"),
            currency: fields.string("currency"),
            appTransactionId: fields.string("appTransactionId"),
            billingPlanType: fields.string("billingPlanType"),
            appAppleId: fields.integer("appAppleId"),
            json: json
        )
    }
}
