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
            transactionId: try fields.key(.transactionId),
            originalTransactionId: try fields.key(.originalTransactionId),
            bundleId: try fields.key(.bundleId),
            signedDate: try fields.requiredDate("signedDate", else: date),
            environment: try fields.code(.environment),
            webOrderLineItemId: try fields.string(.webOrderLineItemId),
            productId: try fields.string(.productId),
            subscriptionGroupIdentifier: try fields.string(.subscriptionGroupIdentifier),
            purchaseDate: try fields.date("purchaseDate"),
            originalPurchaseDate: try fields.date("originalPurchaseDate"),
            expiresDate: try fields.date("expiresDate"),
            quantity: fields.integer("quantity"),
            type: try fields.code(.type),
            inAppOwnershipType: try fields.code(.inAppOwnershipType),
            appAccountToken: try fields.accountToken(.appAccountToken),
            revocationDate: try fields.date("revocationDate"),
            revocationReason: fields.code("revocationReason"),
            revocationType: try fields.code(.revocationType),
            revocationPercentage: fields.integer("revocationPercentage"),
            isUpgraded: fields.bool("isUpgraded"),
            offerType: fields.code("offerType"),
            offerIdentifier: try fields.string(.offerIdentifier),
            offerDiscountType: try fields.code(.offerDiscountType),
            offerPeriod: try fields.string(.offerPeriod),
            transactionReason: try fields.code(.transactionReason),
            additionalTransactionReason: try fields.string(.additionalTransactionReason),
            storefront: try fields.string(.storefront),
            storefrontId: try fields.string(.storefrontId),
            price: fields.integer("price"),
            currency: try fields.string(.currency),
            appTransactionId: try fields.string(.appTransactionId),
            billingPlanType: try fields.string(.billingPlanType),
            appAppleId: fields.integer("appAppleId"),
            json: json
        )
    }
}
