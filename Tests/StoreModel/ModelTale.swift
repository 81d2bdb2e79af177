/// Puts a ``ModelStory`` together, one notification after the other.
struct ModelTale {
    /// The name and all that was told so far.
    private(set) var story: ModelStory
    private var random: ModelRandom
    private let base: Int64
    private var bought: Int64 = 0

    /// The instant so many days after the beginning of every story, in epoch milliseconds.
    static func day(_ count: Int64) -> Int64 {
        1_704_067_200_000 + count * ModelTime.day
    }

    /// A story in which nothing happened yet.
    init(_ name: String) {
        // FNV-1a: the standard library's own hash differs from run to run.
        let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        random = ModelRandom(seed: hash)
        base = random.between(910_000_000_000_000, 989_999_999_999_000)
        story = ModelStory(name: name, notifications: [], expectations: [], blindSpots: [])
    }

    /// The first transaction of a purchase.
    mutating func purchase(
        _ plan: ModelPlan, at begins: Int64, appAccountToken: String? = nil, offer: ModelOffer? = nil
    ) -> ModelTransaction {
        let identifier = number()
        return ModelTransaction(
            identifier, of: identifier, plan: plan, begins: begins, firstBought: begins, reason: "PURCHASE",
            appAccountToken: appAccountToken, offer: offer)
    }

    /// A later transaction of the same purchase, a renewal unless said otherwise.
    mutating func next(
        after old: ModelTransaction, _ plan: ModelPlan, at begins: Int64, reason: String = "RENEWAL",
        appAccountToken: String? = nil
    ) -> ModelTransaction {
        ModelTransaction(
            number(), of: old.originalTransactionId, plan: plan, begins: begins, firstBought: old.originalPurchaseDate,
            reason: reason, appAccountToken: appAccountToken ?? old.appAccountToken)
    }

    private mutating func number() -> String {
        bought += 1
        return String(base + bought)
    }

    /// Sends a notification, `TYPE` or `TYPE/SUBTYPE`, at the instant in epoch milliseconds, with what is true then.
    mutating func tell(
        _ name: String, at date: Int64, _ transaction: ModelTransaction, _ renewal: ModelRenewal, _ truth: ModelTruth
    ) {
        let parts = name.split(separator: "/")
        let count = story.notifications.count
        // The nested records are signed a little before or after the whole.
        let recordsSignedDate = date + [0, -1_500, 13, -400, 0, 7][count % 6]
        let notification = ModelNotification(
            type: parts.first.map { String($0) } ?? name, subtype: parts.dropFirst().first.map { String($0) },
            uuid: random.uuid(), signedDate: date, recordsSignedDate: recordsSignedDate, status: truth.status,
            consumptionRequestReason: name == "CONSUMPTION_REQUEST" ? "UNSATISFIED_WITH_PURCHASE" : nil,
            originalTransactionId: transaction.originalTransactionId,
            transactionJSON: transaction.json(signedDate: recordsSignedDate),
            renewalJSON: renewal.json(signedDate: recordsSignedDate))
        story = ModelStory(
            name: story.name, notifications: story.notifications + [notification], expectations: story.expectations,
            blindSpots: story.blindSpots)
        expect(transaction, at: [date], truth)
    }

    /// The truth at instants in epoch milliseconds of the purchase to which the transaction belongs.
    mutating func expect(_ transaction: ModelTransaction, at instants: [Int64], _ truth: ModelTruth) {
        let added = instants.map { instant in
            ModelStory.Expectation(
                originalTransactionId: transaction.originalTransactionId, instant: instant, truth: truth)
        }
        story = ModelStory(
            name: story.name, notifications: story.notifications, expectations: story.expectations + added,
            blindSpots: story.blindSpots)
    }

    /// The notification sent last is one that no listener can do without, from the instant on, in epoch milliseconds.
    mutating func cannotLoseThat(from: Int64, because reason: String) {
        cannotLose(story.notifications.count - 1, from: from, until: nil, because: reason)
    }

    /// The notification at the position is missed over a stretch given in epoch milliseconds.
    mutating func cannotLose(_ index: Int, from: Int64, until: Int64?, because reason: String) {
        let spot = ModelStory.BlindSpot(lost: index, from: from, until: until, reason: reason)
        var notifications = story.notifications
        notifications[index].mayBeLost = false
        story = ModelStory(
            name: story.name, notifications: notifications, expectations: story.expectations,
            blindSpots: story.blindSpots + [spot])
    }
}

extension ModelStory {
    /// The instant so many days after the beginning of every story, in epoch milliseconds.
    static func day(_ count: Int64) -> Int64 {
        ModelTale.day(count)
    }

    /// A few seconds after the day's beginning, when a notification about it is signed, in epoch milliseconds.
    static func soonAfter(_ count: Int64) -> Int64 {
        day(count) + 20 * ModelTime.second
    }
}
