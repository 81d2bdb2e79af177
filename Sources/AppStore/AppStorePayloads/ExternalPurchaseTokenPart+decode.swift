extension ExternalPurchaseTokenPart {
    init(_ fields: PayloadFields) throws(PayloadError) {
        self.init(
            externalPurchaseId: fields.string("externalPurchaseId"),
            tokenCreationDate: try fields.date("tokenCreationDate"),
            appAppleId: fields.integer("appAppleId"),
            bundleId: fields.string("bundleId"),
            tokenExpirationDate: try fields.date("tokenExpirationDate"),
            tokenType: fields.string("tokenType")
        )
    }
}
