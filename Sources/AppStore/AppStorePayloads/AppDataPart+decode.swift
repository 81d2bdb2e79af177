extension AppDataPart {
    init(_ fields: PayloadFields) throws(PayloadError) {
        self.init(
            environment: try fields.code(.environment),
            bundleId: try fields.string(.bundleId),
            appAppleId: fields.integer("appAppleId"),
            signedAppTransactionInfo: try fields.string(.signedAppTransactionInfo)
        )
    }
}
