extension AppTransactionPayload {
    /// Reads the payload's JSON text.
    ///
    /// - Throws: ``PayloadError`` for a text that is not strict JSON, another kind of record, a key that is missing, or a date
    ///   that cannot be stored.
    public static func decode(_ json: [UInt8]) throws(PayloadError) -> AppTransactionPayload {
        let fields = try PayloadFields(json, of: .appTransaction)
        return AppTransactionPayload(
            bundleId: try fields.key(.bundleId),
            receiptType: try fields.code(.receiptType),
            signedDate: try fields.date("signedDate"),
            receiptCreationDate: try fields.date("receiptCreationDate"),
            appTransactionId: try fields.string(.appTransactionId),
            appAppleId: fields.integer("appAppleId"),
            applicationVersion: try fields.string(.applicationVersion),
            originalApplicationVersion: try fields.string(.originalApplicationVersion),
            originalPurchaseDate: try fields.date("originalPurchaseDate"),
            preorderDate: try fields.date("preorderDate"),
            originalPlatform: try fields.string(.originalPlatform),
            versionExternalIdentifier: fields.integer("versionExternalIdentifier"),
            deviceVerification: try fields.string(.deviceVerification),
            deviceVerificationNonce: try fields.string(.deviceVerificationNonce),
            json: json
        )
    }
}
