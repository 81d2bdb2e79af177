/// The deliveries of a simulation, made as they are asked for.
public struct Deliveries: Sequence, Sendable {
    /// Repeats are of one of the last so many unique notifications.
    static let memory = 256

    private let simulation: Simulation

    init(_ simulation: Simulation) {
        self.simulation = simulation
    }

    /// Begins a walk.
    public func makeIterator() -> Iterator { Iterator(simulation) }

    /// A walk over the deliveries.
    public struct Iterator: IteratorProtocol, Sendable {
        /// What has been delivered so far.
        public private(set) var summary = SimulationSummary()

        private let simulation: Simulation
        private var lives: InterleavedLives
        private var random: SeededGenerator
        /// Produced by the lives and not yet delivered, when the order is shuffled.
        private var held: [UnsignedNotification] = []
        private var told = 0
        private var recent = RecentRing<Delivery>(capacity: Deliveries.memory)

        init(_ simulation: Simulation) {
            self.simulation = simulation
            lives = InterleavedLives(
                seed: simulation.seed, subscribers: simulation.subscribers, app: simulation.app, pace: simulation.pace,
                origin: simulation.origin)
            random = SeededGenerator(seed: ~simulation.seed)
        }

        /// The next delivery; nil after the last.
        public mutating func next() -> Delivery? {
            let position = summary.total
            guard position < simulation.notifications else { return nil }
            var delivery: Delivery
            if repeats(at: position), let earlier = recent.element(&random) {
                delivery = earlier
                delivery.position = position
                delivery.isDuplicate = true
            } else {
                delivery = Delivery(
                    position: position, unique: summary.unique, isDuplicate: false, notification: nextUnique())
                recent.append(delivery)
            }
            summary.count(delivery)
            return delivery
        }

        /// Spreads the repeats evenly, which makes their number exact; the first delivery is never one, as fewer than all are.
        private func repeats(at position: Int) -> Bool {
            let (all, some) = (simulation.notifications, simulation.duplicates)
            return (position + 1) * some / all > position * some / all
        }

        private mutating func nextUnique() -> UnsignedNotification {
            let width =
                switch simulation.order {
                case .signed: 1
                case .shuffledWithin(let width): Swift.max(1, width)
                case .shuffled: simulation.unique
                }
            while held.count < width, told < simulation.unique {
                held.append(lives.next())
                told += 1
            }
            guard held.count > 1 else { return held.popLast() ?? lives.next() }
            held.swapAt(Int.random(in: held.indices, using: &random), held.count - 1)
            return held.removeLast()
        }
    }
}
