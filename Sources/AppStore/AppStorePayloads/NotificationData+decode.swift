extension NotificationData {
    init(_ fields: PayloadFields) throws(PayloadError) {
        self.init(
            environment: try fields.code(.environment),
            bundleId: try fields.string(.bundleId),
            appAppleId: fields.integer("appAppleId"),
            bundleVersion: try fields.string(.bundleVersion),
            status: fields.code("status"),
            signedTransactionInfo: try fields.string(.signedTransactionInfo),
            signedRenewalInfo: try fields.string(.signedRenewalInfo),
            consumptionRequestReason: try fields.code(.consumptionRequestReason)
        )
    }
}
