/// The deliveries of a simulation as compact JWS, signed one by one as they are asked for; repeats are byte-identical.
///
/// Signing costs three P-256 signatures a subscription notification. A caller with cores to spare signs the unsigned
/// ``Simulation/deliveries`` itself, side by side.
public struct SignedDeliveries: Sequence, Sendable {
    private let simulation: Simulation
    private let authority: SimulatedAuthority

    init(_ simulation: Simulation, _ authority: SimulatedAuthority) {
        self.simulation = simulation
        self.authority = authority
    }

    /// Begins a walk.
    public func makeIterator() -> Iterator { Iterator(simulation, authority) }

    /// A walk over the signed deliveries. It remembers the text of the last 256 unique notifications, about 5 MB.
    public struct Iterator: IteratorProtocol, Sendable {
        /// What has been delivered so far.
        public var summary: SimulationSummary { deliveries.summary }

        private var deliveries: Deliveries.Iterator
        private let authority: SimulatedAuthority
        private var texts: [(unique: Int, text: String)] = []

        init(_ simulation: Simulation, _ authority: SimulatedAuthority) {
            deliveries = simulation.deliveries.makeIterator()
            self.authority = authority
        }

        /// The next `signedPayload`; nil after the last.
        public mutating func next() -> String? {
            guard let delivery = deliveries.next() else { return nil }
            let slot = delivery.unique % Deliveries.memory
            if delivery.isDuplicate, slot < texts.count, texts[slot].unique == delivery.unique {
                return texts[slot].text
            }
            let text = delivery.notification.signed(by: authority)
            if slot < texts.count {
                texts[slot] = (delivery.unique, text)
            } else {
                texts.append((delivery.unique, text))
            }
            return text
        }
    }
}

extension Simulation {
    /// The deliveries, signed, lazily.
    public func signedDeliveries(by authority: SimulatedAuthority) -> SignedDeliveries {
        SignedDeliveries(self, authority)
    }
}
