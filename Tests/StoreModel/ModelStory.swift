/// A short course of events written by hand, with the truth at chosen instants.
package struct ModelStory: Sendable {
    /// What happens, in a few words.
    package let name: String
    /// What the store sends, by signing date.
    package let notifications: [ModelNotification]
    /// The truth at chosen instants, each notification's signing among them.
    package let expectations: [Expectation]
    /// What cannot be known when a certain notification is lost.
    package let blindSpots: [BlindSpot]

    /// The truth of one purchase at one instant.
    package struct Expectation: Sendable, Hashable {
        /// The first transaction of the purchase.
        package let originalTransactionId: String
        /// The instant, in epoch milliseconds.
        package let instant: Int64
        /// What is so then.
        package let truth: ModelTruth
    }

    /// A stretch over which the rest of the story does not tell the truth.
    package struct BlindSpot: Sendable, Hashable {
        /// Position of the lost notification in the story.
        package let lost: Int
        /// Where the stretch begins, in epoch milliseconds.
        package let from: Int64
        /// Where it ends, in epoch milliseconds; absent if nothing ever tells.
        package let until: Int64?
        /// Why no listener can know.
        package let reason: String
    }

    /// What a listener must hold for true when all has arrived but the notification at the position, or simply all.
    ///
    /// It starts with the signing of the last notification that did arrive: before that the rest may be on its way.
    package func expectations(losing lost: Int?) -> [Expectation] {
        let arrived = notifications.indices.last { $0 != lost }
        let start = arrived.map { notifications[$0].signedDate } ?? Int64.max
        return expectations.filter { expectation in
            let instant = expectation.instant
            return instant >= start
                && !blindSpots.contains { $0.lost == lost && $0.from <= instant && instant < $0.until ?? Int64.max }
        }
    }

    /// Every story.
    package static let catalogue: [ModelStory] = plans + renewals + endings + billing + refunds
}
