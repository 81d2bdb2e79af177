import Base

/// What changed in a shop since it was last written down: a line of its file. All of them together, in their order, are the shop.
struct StateChange: Codable, Sendable {
    /// What there is one of.
    struct Standing: Codable, Sendable, Equatable {
        /// Of the root that everything is signed under: the directory of keys belongs to the file.
        var rootFingerprint: String
        var random: SeededGenerator
        var lanes: Int
        /// How far the store's clock is ahead of the machine's.
        var ahead: Milliseconds
        /// When the store lived last.
        var lived: Milliseconds?
        var speed: StandInConfiguration.Speed
        /// What it was started with: another speed at the next start is meant.
        var startedWithSpeed: StandInConfiguration.Speed
        var forgeries: Int
        var provoked: [AppStore.Provocation]
        var massExtensions: [AppStore.MassExtension]
        /// They speak for the store where no customer does.
        var houses: [SimulatedSubscriber]
    }

    /// Something sold to a customer, as it was signed last.
    struct Sale: Codable, Sendable {
        var customer: String
        var item: SimulatedSubscriber.SoldItem
        var record: TransactionRecord
    }

    /// A notification, which never changes.
    struct Letter: Codable, Sendable {
        var index: Int
        var notification: UnsignedNotification
        var place: SimulatedApp.Environment
    }

    /// How posting a notification goes.
    struct Way: Codable, Sendable {
        var index: Int
        var attempts: [ListedPost.Attempt]
        var next: Milliseconds?
    }

    var standing: Standing?
    /// Without what was sold to them.
    var customers: [Customer]?
    var sales: [Sale]?
    var letters: [Letter]?
    var ways: [Way]?
    /// Places in the list by the tokens of test notifications.
    var tests: [String: Int]?
    var extensionDates: [String: [Milliseconds]]?
    /// What came since.
    var received: [JSONValue]?
    /// Whose a receipt is, by its digest.
    var receipts: [String: String]?
    /// The mark after the shop as a whole: what comes behind it came since. Nil in every other line.
    var isWhole: Bool?

    var isEmpty: Bool {
        standing == nil && customers == nil && sales == nil && letters == nil && ways == nil && tests == nil
            && extensionDates == nil && received == nil && receipts == nil && isWhole == nil
    }
}

extension Collection {
    /// Nil where there is nothing: what did not change is not written.
    var unlessEmpty: Self? { isEmpty ? nil : self }
}
