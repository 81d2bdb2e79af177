@testable import Simulation

/// Lets a script tell a story: hands out subscribers and instants, and collects notifications and expectations.
struct StoryTeller {
    let app: SimulatedApp
    private let start: Milliseconds
    private let firstLane: Int
    private var random: SeededGenerator
    private var subscribers = 0
    private var apps: [SimulatedApp] = []
    private var notifications: [UnsignedNotification] = []
    private var expectations: [StoryExpectation] = []
    private var longestDelay: Milliseconds = 0

    init(name: String, app: SimulatedApp, start: Milliseconds, variation: Int) {
        self.app = app
        self.start = start.wholeSeconds
        // FNV-1a over the name: a story keeps its identifiers when others are added before it.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        random = SeededGenerator(seed: hash &+ UInt64(truncatingIfNeeded: variation) &* 0x9E37_79B9)
        // Lanes far above those that a load simulation gives out. A million places for names, four subscribers each.
        firstLane = 50_000_000 + min(99, max(0, variation)) * 4_000_000 + Int(hash % 1_000_000) * 4
    }

    /// An instant of the story, counted from its start.
    func day(_ day: Int64, hour: Int64 = 0) -> Milliseconds { start + .days(day) + .hours(hour) }

    /// An account token.
    mutating func token() -> String { random.uuid() }

    /// A customer of the story's app, or of another.
    mutating func subscriber(
        in otherApp: SimulatedApp? = nil, _ storefront: Storefront = .unitedStates, token: String? = nil
    ) -> SimulatedSubscriber {
        defer { subscribers += 1 }
        return SimulatedSubscriber(
            app: otherApp ?? app, storefront: storefront, appAccountToken: token, lane: firstLane + subscribers,
            seed: random.next())
    }

    /// Two customers in different apps or environments whose identifiers happen to be the same.
    mutating func twins(_ first: SimulatedApp, _ second: SimulatedApp) -> (SimulatedSubscriber, SimulatedSubscriber) {
        let seed = random.next()
        defer { subscribers += 1 }
        let lane = firstLane + subscribers
        let one = SimulatedSubscriber(app: first, lane: lane, seed: seed)
        // Another seed for the UUIDs, which never repeat; the identifiers come from the lane.
        var other = SimulatedSubscriber(app: second, lane: lane, seed: ~seed)
        other.mint = one.mint
        return (one, other)
    }

    /// Takes over what has happened to a customer.
    mutating func tell(_ subscriber: inout SimulatedSubscriber) {
        if !apps.contains(subscriber.app) { apps.append(subscriber.app) }
        longestDelay = max(longestDelay, subscriber.longestDelay)
        notifications += subscriber.takeNotifications()
    }

    /// Claims the state of a subscription.
    mutating func expect(
        _ subscriber: SimulatedSubscriber, _ line: SubscriptionLine.Reference, at instant: Milliseconds,
        _ status: StoryExpectation.Status, renews: Bool?, _ product: SimulatedProduct, next: SimulatedProduct? = nil,
        pricePending: Bool? = nil, account: StoryExpectation.Account = .anyone
    ) {
        claim(
            subscriber, at: instant,
            .subscription(
                StoryExpectation.Subscription(
                    originalTransactionId: subscriber[line].originalTransactionId, status: status, willRenew: renews,
                    productId: product.id, renewalProductId: next?.id, priceIncreasePending: pricePending,
                    account: account)))
    }

    /// Claims an account's right to a product.
    mutating func expect(
        _ subscriber: SimulatedSubscriber, at instant: Milliseconds, access: Bool, _ product: SimulatedProduct,
        account: StoryExpectation.Account
    ) {
        let kind =
            switch product.kind {
            case .nonConsumable: "non_consumable"
            case .nonRenewing: "non_renewing"
            case .autoRenewable, .consumable: "subscription"
            }
        claim(
            subscriber, at: instant,
            .entitlement(
                StoryExpectation.Entitlement(account: account, productId: product.id, kind: kind, access: access)))
    }

    /// Claims that a consumable counts, or not.
    mutating func expect(
        _ subscriber: SimulatedSubscriber, _ item: SimulatedSubscriber.SoldItem, at instant: Milliseconds,
        credited: Bool
    ) {
        claim(
            subscriber, at: instant,
            .consumable(transactionId: subscriber[item].transactionId, credited: credited))
    }

    /// Claims that nothing was bought.
    mutating func expectNothing(_ subscriber: SimulatedSubscriber, at instant: Milliseconds) {
        claim(subscriber, at: instant, .nothing)
    }

    private mutating func claim(
        _ subscriber: SimulatedSubscriber, at instant: Milliseconds, _ claim: StoryExpectation.Claim
    ) {
        expectations.append(StoryExpectation(instant: instant, app: subscriber.app, claim: claim))
    }

    func performance(of story: Story) -> StoryPerformance {
        StoryPerformance(
            story: story, apps: apps, notifications: notifications.sorted { $0.signedDate < $1.signedDate },
            expectations: expectations, longestDelay: longestDelay)
    }
}
