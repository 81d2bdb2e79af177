/// A life as a stream of notifications for load: buys, renews, hesitates, fails to pay, comes back, in proportions like an app's. Endless.
///
/// It acts only as far ahead as the next notification, so that thousands of lives fit in memory.
struct StagedLife: Sendable {
    private static let habits = SimulatedLife.Habits(
        isStaged: true,
        plans: [
            .basicWeekly, .basicWeekly, .basicMonthly, .basicMonthly, .basicMonthly, .premiumMonthly, .premiumMonthly,
            .basicYearly, .premiumYearly,
        ])

    private var life: SimulatedLife
    /// What has been emitted and not yet handed over, the soonest last.
    private var pending: [UnsignedNotification] = []
    private var lastMoment: Milliseconds = 0

    /// Lives until the first notification is known.
    ///
    /// - Parameter birth: the first purchase follows within hours.
    init(app: SimulatedApp, number: Int, seed: UInt64, pace: Int64, birth: Milliseconds) {
        // The number is spread over the seed space, so that neighbours' lives have nothing in common.
        var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0xD1B5_4A32_D192_ED03)
        let storefront = Storefront.all[Int(random.number(in: 0...Int64(Storefront.all.count - 1)))]
        // One customer in five never signs in before buying.
        let token = random.chance(80) ? random.uuid() : nil
        let subscriber = SimulatedSubscriber(
            app: app, storefront: storefront, appAccountToken: token, lane: Self.firstLane(seed) + number,
            seed: random.next(), pace: pace)
        life = SimulatedLife(subscriber, random: random, habits: Self.habits)
        life.begin(at: birth)
        advance()
    }

    /// Two simulations of different seeds are of different customers: a hundred stretches of 100,000 lanes, which leave
    /// identifiers their usual length.
    private static func firstLane(_ seed: UInt64) -> Int { Int(seed % 100) * 100_000 }

    /// The outer signed date of the next notification.
    var nextSignedDate: Milliseconds { pending.last?.signedDate ?? .max }

    /// Hands over the next notification and lives on until the one after it.
    mutating func takeNext() -> UnsignedNotification? {
        defer { advance() }
        return pending.popLast()
    }

    private mutating func advance() {
        while pending.isEmpty {
            guard let appointment = life.takeAppointment() else {
                // Never reached, as every plan ends with a next appointment: a customer without one would subscribe
                // anew.
                life.schedule(.subscribe, nil, at: lastMoment)
                continue
            }
            lastMoment = appointment.instant
            life.perform(appointment)
            pending = life.subscriber.takeNotifications().reversed()
        }
    }
}
