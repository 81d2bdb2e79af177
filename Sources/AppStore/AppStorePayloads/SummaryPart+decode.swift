extension SummaryPart {
    init(_ fields: PayloadFields) throws(PayloadError) {
        self.init(
            requestIdentifier: try fields.string(.requestIdentifier),
            environment: try fields.code(.environment),
            appAppleId: fields.integer("appAppleId"),
            bundleId: try fields.string(.bundleId),
            productId: try fields.string(.productId),
            storefrontCountryCodes: try fields.strings(.storefrontCountryCodes),
            succeededCount: fields.integer("succeededCount"),
            failedCount: fields.integer("failedCount")
        )
    }
}
