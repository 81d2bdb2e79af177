import Base

/// A line of a shop's file: something as it stands from there on. The rows of a file, in their order, are the shop.
struct StateRow: Codable, Sendable {
    /// What there is one of.
    struct Standing: Codable, Sendable, Equatable {
        /// Of the root that signs everything: the directory of keys belongs to the file.
        var rootFingerprint: String
        var random: SeededGenerator
        var lanes: Int
        /// How far the store's clock is ahead of the machine's.
        var ahead: Milliseconds
        /// When the store lived last.
        var lived: Milliseconds?
        var speed: StandInConfiguration.Speed
        /// The speed that it was started with: a different one at the next start replaces `speed`.
        var startedWithSpeed: StandInConfiguration.Speed
        var forgeries: Int
        var provoked: [SimulatedAppStore.Provocation]
        var massExtensions: [SimulatedAppStore.MassExtension]
        /// They speak for the store where no customer does.
        var houses: [SimulatedSubscriber]
    }

    /// Something sold to a customer, as it was signed last.
    struct Sale: Codable, Sendable {
        var customer: String
        var item: SimulatedSubscriber.SoldItem
        var record: TransactionRecord
    }

    /// A place in the list of notifications.
    struct Post: Codable, Sendable {
        var index: Int
        /// Nil in all rows but the first of a place: a notification never changes.
        var notification: UnsignedNotification?
        var place: SimulatedApp.Environment
        var attempts: [ListedPost.Attempt]
        var next: Milliseconds?
    }

    // One of them has a value.
    var standing: Standing?
    /// Without what was sold to the customer.
    var customer: Customer?
    var sale: Sale?
    var post: Post?
    /// Places in the list by the tokens of test notifications.
    var tests: [String: Int]?
    var extensionDates: [String: [Milliseconds]]?
    /// What came since, as JSON texts.
    var received: [String]?
    /// The customer of each receipt, by the receipt's digest.
    var receipts: [String: String]?
    /// The transactions that an app has finished, each as it stood then. Files of before have none: all is handed out again.
    var finished: [String: Milliseconds]?
    /// Ends what was saved at once: the digest of all rows so far.
    var saved: String?
}
