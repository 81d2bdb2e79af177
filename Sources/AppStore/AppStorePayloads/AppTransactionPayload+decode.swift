extension AppTransactionPayload {
    /// Reads the payload's JSON text.
    ///
    /// - Throws: ``PayloadError`` for a text that is not strict JSON, another kind of record, a key that is missing, or a date
    ///   that cannot be stored.
    public static func decode(_ json: [UInt8]) throws(PayloadError) -> AppTransactionPayload {
        let fields = try PayloadFields(json, of: .appTransaction)
        return AppTransactionPayload(
            bundleId: try fields.key("bundleId"),
            receiptType: fields.code("receiptType"),
            signedDate: try fields.date("signedDate"),
            receiptCreationDate: try fields.date("receiptCreationDate"),
            appTransactionId: fields.string("appTransactionId"),
            appAppleId: fields.integer("appAppleId"),
            applicationVersion: fields.string("applicationVersion"),
            originalApplicationVersion: fields.string("originalApplicationVersion"),
            originalPurchaseDate: try fields.date("originalPurchaseDate"),
            preorderDate: try fields.date("preorderDate"),
            originalPlatform: fields.string("originalPlatform"),
            versionExternalIdentifier: fields.integer("versionExternalIdentifier"),
            deviceVerification: fields.string("deviceVerification"),
            deviceVerificationNonce: fields.string("deviceVerificationNonce"),
            json: json
        )
    }
}
