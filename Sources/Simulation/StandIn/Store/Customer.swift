import Base

/// A customer of the stand-in.
struct Customer: Sendable, Hashable, Codable {
    let id: String
    let joined: Milliseconds
    /// Whether he lives by himself.
    let isLively: Bool
    var life: SimulatedLife
    /// How fast he lives, where that is not the shop's speed.
    var speed: StandInConfiguration.Speed?
    /// How many percent of the posts about him are lost, where that is not the shop's share.
    var lossPercent: Double?
    /// How many notifications were listed before there was this customer; none if nil.
    var firstPost: Int?

    var subscriber: SimulatedSubscriber {
        get { life.subscriber }
        _modify { yield &life.subscriber }
    }

    /// Where he buys.
    var place: SimulatedApp.Environment { subscriber.app.environment }

    /// A subscription by its original transaction.
    func line(_ originalTransactionId: String) -> SubscriptionLine.Reference? {
        subscriber.allLines.first { subscriber[$0].originalTransactionId == originalTransactionId }
    }

    /// Something sold, by its transaction.
    func item(_ transactionId: String) -> SimulatedSubscriber.SoldItem? {
        subscriber.allItems.first { subscriber[$0].transactionId == transactionId }
    }
}
