public import Base

extension RenewalInfoPayload {
    /// Reads the payload's JSON text.
    ///
    /// - Parameter date: the date of a record that has no signedDate of its own: when the notification around it was
    ///   signed. By default such a record is refused.
    /// - Throws: ``PayloadError`` for a text that is not strict JSON, another kind of record, a key that is missing, or a date
    ///   that cannot be stored.
    public static func decode(
        _ json: [UInt8], undatedAt date: Timestamp? = nil
    ) throws(PayloadError) -> RenewalInfoPayload {
        let fields = try PayloadFields(json, of: .renewalInfo)
        return RenewalInfoPayload(
            originalTransactionId: try fields.key(.originalTransactionId),
            signedDate: try fields.requiredDate("signedDate", else: date),
            environment: try fields.code(.environment),
            productId: try fields.string(.productId),
            autoRenewProductId: try fields.string(.autoRenewProductId),
            autoRenewStatus: fields.code("autoRenewStatus"),
            renewalDate: try fields.date("renewalDate"),
            expirationIntent: fields.code("expirationIntent"),
            isInBillingRetryPeriod: fields.bool("isInBillingRetryPeriod"),
            gracePeriodExpiresDate: try fields.date("gracePeriodExpiresDate"),
            priceIncreaseStatus: fields.code("priceIncreaseStatus"),
            renewalPrice: fields.integer("renewalPrice"),
            currency: try fields.string(.currency),
            offerType: fields.code("offerType"),
            offerIdentifier: try fields.string(.offerIdentifier),
            offerDiscountType: try fields.code(.offerDiscountType),
            offerPeriod: try fields.string(.offerPeriod),
            eligibleWinBackOfferIds: try fields.strings(.eligibleWinBackOfferIds),
            recentSubscriptionStartDate: try fields.date("recentSubscriptionStartDate"),
            appAccountToken: try fields.accountToken(.appAccountToken),
            appTransactionId: try fields.string(.appTransactionId),
            json: json
        )
    }
}
