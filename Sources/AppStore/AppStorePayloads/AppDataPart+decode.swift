extension AppDataPart {
    init(_ fields: PayloadFields) {
        self.init(
            environment: fields.code("environment"),
            bundleId: fields.string("bundleId"),
            appAppleId: fields.integer("appAppleId"),
            signedAppTransactionInfo: fields.string("signedAppTransactionInfo")
        )
    }
}
