extension SummaryPart {
    init(_ fields: PayloadFields) {
        self.init(
            requestIdentifier: fields.string("requestIdentifier"),
            environment: fields.code("environment"),
            appAppleId: fields.integer("appAppleId"),
            bundleId: fields.string("bundleId"),
            productId: fields.string("productId"),
            storefrontCountryCodes: fields.strings("storefrontCountryCodes"),
            succeededCount: fields.integer("succeededCount"),
            failedCount: fields.integer("failedCount")
        )
    }
}
