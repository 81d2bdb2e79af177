/// The kinds of record that Apple signs, told apart by members that no other kind has.
///
/// They share most of what is required of each (a transaction has everything that a renewal info must have), so what is read as
/// one kind must not be another: what it then seemed to say would be Apple's word for something that Apple never said.
enum PayloadKind: String {
    case notification
    case transaction
    case renewalInfo = "renewal info"
    case appTransaction = "app transaction"

    /// The members of which one alone says which kind it is.
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
