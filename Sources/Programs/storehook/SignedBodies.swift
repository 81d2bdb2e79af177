import Simulation
import Synchronization

/// A simulation's POST bodies, handed out to as many senders as want them.
final class SignedBodies: Sendable {
    private let iterator: Mutex<SignedDeliveries.Iterator>

    init(_ deliveries: SignedDeliveries) { iterator = Mutex(deliveries.makeIterator()) }

    /// The next body; nil after the last.
    func next() -> String? {
        iterator.withLock { $0.next() }.map { #"{"signedPayload":"\#($0)"}"# }
    }
}
