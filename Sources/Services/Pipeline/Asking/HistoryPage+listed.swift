import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
import Base
import Foundation

extension HistoryPage.Letter {
    /// A notification as Apple lists it; nil where its notificationUUID is none.
    package init?(_ listed: ListedNotification) {
        guard let identifier = UniqueIdentifier(listed.record.payload.payload.notificationUUID) else { return nil }
        self.init(notificationUUID: UUID(identifier), bytes: Array(listed.record.jws.utf8))
    }
}
