import Base

extension NotificationPayload {
    /// Reads the payload's JSON text.
    ///
    /// - Throws: ``PayloadError`` for a text that is not strict JSON, another kind of record, a missing type or date, a
    ///   notificationUUID that is no UUID, a date that cannot be stored, or more than one of the four parts: which of them
    ///   counts must not be anybody's choice.
    public static func decode(_ json: [UInt8]) throws(PayloadError) -> NotificationPayload {
        let fields = try PayloadFields(json, of: .notification)
        let name = try fields.key(.notificationUUID)
        guard let uuid = UniqueIdentifier(name) else { throw PayloadError(message: "notificationUUID is not a UUID.") }
        return NotificationPayload(
            notificationType: NotificationType(rawValue: try fields.key(.notificationType)),
            subtype: try fields.code(.subtype),
            notificationUUID: name,
            uuid: uuid,
            version: try fields.string(.version),
            signedDate: try fields.requiredDate("signedDate"),
            part: try Part(fields),
            json: json
        )
    }
}

extension NotificationPayload.Part {
    init(_ fields: PayloadFields) throws(PayloadError) {
        var parts: [Self] = []
        if let data = fields.object("data") { parts.append(.data(try NotificationData(data))) }
        if let summary = fields.object("summary") { parts.append(.summary(try SummaryPart(summary))) }
        if let token = fields.object("externalPurchaseToken") {
            parts.append(.externalPurchaseToken(try ExternalPurchaseTokenPart(token)))
        }
        if let app = fields.object("appData") { parts.append(.appData(try AppDataPart(app))) }
        guard parts.count <= 1 else {
            throw PayloadError(
                message: "The payload has more than one of data, summary, externalPurchaseToken and appData.")
        }
        self = parts.first ?? Self.none
    }
}
