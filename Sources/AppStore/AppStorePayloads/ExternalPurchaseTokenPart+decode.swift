extension ExternalPurchaseTokenPart {
    init(_ fields: PayloadFields) throws(PayloadError) {
        self.init(
            externalPurchaseId: try fields.string(.externalPurchaseId),
            tokenCreationDate: try fields.date("tokenCreationDate"),
            appAppleId: fields.integer("appAppleId"),
            bundleId: try fields.string(.bundleId),
            tokenExpirationDate: try fields.date("tokenExpirationDate"),
            tokenType: try fields.string(.tokenType)
        )
    }
}
