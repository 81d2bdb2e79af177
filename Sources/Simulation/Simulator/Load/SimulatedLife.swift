/// One subscriber's endless life for load: buys, renews, hesitates, fails to pay, comes back, in proportions like an app's.
///
/// The life is a stream: it acts only as far ahead as the next notification, so that thousands of lives fit in memory.
struct SimulatedLife: Sendable {
    /// Something that happens at an instant.
    struct Appointment: Sendable {
        var instant: Milliseconds
        var act: LifeAct
        /// The subscription concerned; none for what is not about one.
        var line: SubscriptionLine.Reference?
    }

    var subscriber: SimulatedSubscriber
    var random: SeededGenerator
    /// What is to come, the soonest last.
    private var agenda: [Appointment] = []
    /// What has been emitted and not yet handed over, the soonest last.
    private var pending: [UnsignedNotification] = []
    /// The transaction of a subscription whose money is asked back.
    var disputed: SimulatedSubscriber.SoldItem?
    /// The one-time purchase whose money is asked back.
    var disputedPurchase: SimulatedSubscriber.SoldItem?
    private var lastMoment: Milliseconds = 0

    /// - Parameters:
    ///   - birth: the first purchase follows within hours.
    init(app: SimulatedApp, number: Int, seed: UInt64, pace: Int64, birth: Milliseconds) {
        // The number is spread over the seed space, so that neighbours' lives have nothing in common.
        var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0xD1B5_4A32_D192_ED03)
        let storefront = Storefront.all[Int(random.number(in: 0...Int64(Storefront.all.count - 1)))]
        // One customer in five never signs in before buying.
        let token = random.chance(80) ? random.uuid() : nil
        subscriber = SimulatedSubscriber(
            app: app, storefront: storefront, appAccountToken: token, lane: Self.firstLane(seed) + number,
            seed: random.next(), pace: pace)
        self.random = random
        schedule(random.chance(6) ? .purchaseOnce : .subscribe, nil, at: birth + paced(.minutes(within(1...300))))
        if random.chance(2) { schedule(.callTest, nil, at: birth) }
    }

    /// Two simulations of different seeds are of different customers: a hundred stretches of 100,000 lanes, which leave
    /// identifiers their usual length.
    private static func firstLane(_ seed: UInt64) -> Int { Int(seed % 100) * 100_000 }

    /// The outer signed date of the next notification.
    var nextSignedDate: Milliseconds { pending.last?.signedDate ?? .max }

    /// Lives on until the next notification is known. To be called once after `init`, and after each `takeNext`.
    mutating func advance() {
        while pending.isEmpty {
            guard let appointment = agenda.popLast() else {
                // Never reached by the plans, all of which end in a next appointment; a quiet life begins anew.
                schedule(.subscribe, nil, at: lastMoment)
                continue
            }
            lastMoment = appointment.instant
            perform(appointment)
            pending = subscriber.takeNotifications().reversed()
        }
    }

    /// Hands over the next notification and lives on until the one after it.
    mutating func takeNext() -> UnsignedNotification? {
        defer { advance() }
        return pending.popLast()
    }

    // MARK: - The agenda

    /// Adds an appointment.
    mutating func schedule(_ act: LifeAct, _ line: SubscriptionLine.Reference?, at instant: Milliseconds) {
        let position = agenda.lastIndex { $0.instant > instant }.map { $0 + 1 } ?? 0
        agenda.insert(Appointment(instant: instant, act: act, line: line), at: position)
    }

    /// Forgets everything planned for a subscription: its dates have moved.
    mutating func cancelPlans(for line: SubscriptionLine.Reference) {
        agenda.removeAll { $0.line == line }
    }

    func paced(_ span: Milliseconds) -> Milliseconds { subscriber.paced(span) }

    mutating func within(_ range: ClosedRange<Int64>) -> Int64 { random.number(in: range) }
}
