package import Foundation

/// One page of Apple's list, verified.
package struct HistoryPage: Sendable {
    /// A notification in it.
    package struct Letter: Sendable, Hashable {
        /// What Apple calls it.
        package var notificationUUID: UUID
        /// The compact JWS.
        package var bytes: [UInt8]

        /// A notification as Apple lists it.
        package init(notificationUUID: UUID, bytes: [UInt8]) {
            self.notificationUUID = notificationUUID
            self.bytes = bytes
        }
    }

    /// What Apple signed.
    package var letters: [Letter]
    /// How many it did not sign.
    package var refused: Int
    /// Why not: a verification code; nil if all verify.
    package var refusedReason: String?
    /// Asks for the next page; nil after the last.
    package var next: String?

    /// A page of these.
    package init(letters: [Letter], refused: Int, refusedReason: String?, next: String?) {
        self.letters = letters
        self.refused = refused
        self.refusedReason = refusedReason
        self.next = next
    }
}
