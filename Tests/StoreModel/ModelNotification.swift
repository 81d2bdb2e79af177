/// One notification that the store signed and posts.
package struct ModelNotification: Sendable, Hashable {
    /// The app of every model purchase.
    package static let bundleId = "com.example.app"
    /// Where every model purchase is made.
    package static let environment = "Production"

    /// The `notificationType`.
    package var type: String
    /// The `subtype`, where the type has one.
    package var subtype: String?
    /// The `notificationUUID`.
    package var uuid: String
    /// When the notification was signed, in epoch milliseconds.
    package var signedDate: Int64
    /// When both nested records were signed, in epoch milliseconds; at most 1500 earlier or 13 later.
    package var recordsSignedDate: Int64
    /// The app.
    package var bundleId = Self.bundleId
    /// The environment.
    package var environment = Self.environment
    /// The `data.status` at the outer signing: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    package var status: Int?
    /// Why the customer wants a refund, on a `CONSUMPTION_REQUEST`.
    package var consumptionRequestReason: String?
    /// The first transaction of the purchase.
    package var originalTransactionId: String
    /// The payload of `signedTransactionInfo`: the transaction that the action is about.
    package var transactionJSON: [UInt8]?
    /// The payload of `signedRenewalInfo`: always about the newest period.
    package var renewalJSON: [UInt8]?
    /// Whether it may never arrive.
    ///
    /// In a random life that is so for every one; in a story only where the rest still tells everything afterwards.
    package var mayBeLost = true

    /// The type and, after a slash, the subtype.
    package var name: String {
        subtype.map { "\(type)/\($0)" } ?? type
    }
}
