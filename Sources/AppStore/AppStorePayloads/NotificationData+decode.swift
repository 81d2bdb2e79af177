extension NotificationData {
    init(_ fields: PayloadFields) {
        self.init(
            environment: fields.code("environment"),
            bundleId: fields.string("bundleId"),
            appAppleId: fields.integer("appAppleId"),
            bundleVersion: fields.string("bundleVersion"),
            status: fields.code("status"),
            signedTransactionInfo: fields.string("signedTransactionInfo"),
            signedRenewalInfo: fields.string("signedRenewalInfo"),
            consumptionRequestReason: fields.code("consumptionRequestReason")
        )
    }
}
