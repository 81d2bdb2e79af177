/// A customer's life: the subscriptions, the customer's planned acts with their times, and how they are carried out.
///
/// - With ``Habits/isStaged`` every act is planned, ends of periods too, and only planned acts happen. A load generator
///   can so produce a life ahead of time.
/// - Otherwise periods end by themselves (`SimulatedLife+course.swift`), since a person may change a subscription at
///   any time. Only whims are planned, and those that no longer fit are dropped.
/// - Without habits nothing is planned.
struct SimulatedLife: Sendable, Hashable, Codable {
    /// What a customer does by himself, and how often.
    struct Habits: Sendable, Hashable {
        /// Everything is planned, in proportions like an app's; the percentages do not count.
        var isStaged: Bool
        /// What is bought, each as often as it stands here.
        var plans: [SimulatedProduct]
        /// The introductory offer that a customer may begin with.
        var trial = SimulatedOffer.freeWeek
        /// How many percent of the charges fail.
        var failurePercent: Double = 0
        /// How many percent of the paid periods a refund is asked for.
        var refundPercent: Double = 0
        /// Whether the customer does everything that the store knows, each about as often; the percentages do not count
        /// then, and nothing is staged.
        var hasEveryVerb = false
        /// What customers plan happens at multiples of this, so that a test that follows many of them has few instants to
        /// look at; 0 for any instant.
        var step: Milliseconds = 0
    }

    /// Something that happens at an instant.
    struct Appointment: Sendable, Hashable, Codable {
        var instant: Milliseconds
        var act: LifeAct
        /// The subscription concerned; none for what is not about one.
        var line: SubscriptionLine.Reference?
    }

    // The habits are the setting's, and are not kept.
    private enum CodingKeys: CodingKey {
        case subscriber, random, agenda, failing, disputed, disputedPurchase
    }

    var subscriber: SimulatedSubscriber
    /// Decides what the customer does by himself.
    var random: SeededGenerator
    var habits: Habits?
    /// What is to come, the soonest last.
    private(set) var agenda: [Appointment] = []
    /// Subscriptions whose charges fail at present.
    var failing: Set<SubscriptionLine.Reference> = []
    /// The transaction of a subscription whose money is asked back.
    var disputed: SimulatedSubscriber.SoldItem?
    /// The one-time purchase whose money is asked back.
    var disputedPurchase: SimulatedSubscriber.SoldItem?

    /// A life in which nothing is planned yet.
    init(_ subscriber: SimulatedSubscriber, random: SeededGenerator, habits: Habits?) {
        self.subscriber = subscriber
        self.random = random
        self.habits = habits
    }

    // MARK: - The agenda

    /// Adds an appointment.
    /// - Parameter isExact: at that very instant, whatever step the customers keep.
    mutating func schedule(
        _ act: LifeAct, _ line: SubscriptionLine.Reference?, at instant: Milliseconds, isExact: Bool = false
    ) {
        var instant = instant
        if !isExact, let step = habits?.step, step > 0 { instant = (instant + step - 1) / step * step }
        let position = agenda.lastIndex { $0.instant > instant }.map { $0 + 1 } ?? 0
        agenda.insert(Appointment(instant: instant, act: act, line: line), at: position)
    }

    /// Takes the next appointment off the agenda.
    mutating func takeAppointment() -> Appointment? { agenda.popLast() }

    /// Forgets everything planned for a subscription: its dates have moved.
    mutating func cancelPlans(for line: SubscriptionLine.Reference) {
        agenda.removeAll { $0.line == line }
    }

    /// Whether the end of a subscription is planned, whatever would come by itself.
    func isEnding(_ line: SubscriptionLine.Reference) -> Bool {
        agenda.contains { appointment in
            if appointment.line == line, case .expire = appointment.act { true } else { false }
        }
    }

    /// Forgets everything planned.
    mutating func cancelPlans() { agenda = [] }

    func paced(_ span: Milliseconds) -> Milliseconds { subscriber.paced(span) }

    mutating func within(_ range: ClosedRange<Int64>) -> Int64 { random.number(in: range) }
}
