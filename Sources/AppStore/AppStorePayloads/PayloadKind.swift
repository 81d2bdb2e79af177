/// The kinds of record that Apple signs, distinguished by members that no other kind has.
///
/// They share most of their required members (a transaction has everything that a renewal info must have). So a record
/// of one kind must not be read as another: the result would pass for a statement of Apple that Apple never made.
enum PayloadKind: String {
    case notification
    case transaction
    case renewalInfo = "renewal info"
    case appTransaction = "app transaction"

    /// Members that each identify one kind.
    private static let marks: [(kind: PayloadKind, name: StaticString)] = [
        (.notification, "notificationUUID"), (.transaction, "transactionId"), (.renewalInfo, "autoRenewStatus"),
        (.renewalInfo, "autoRenewProductId"), (.appTransaction, "receiptType"),
    ]

    /// - Throws: ``PayloadError`` where a member says that this is of another kind.
    func require(_ object: JSONObject) throws(PayloadError) {
        for mark in Self.marks where mark.kind != self && object.has(mark.name) {
            throw PayloadError(message: "This is no \(rawValue) but a \(mark.kind.rawValue): it has \(mark.name).")
        }
    }
}
