import Base
import EvidenceStore
import HTTPKit
import Logging
import ServiceLifecycle

/// The senders that workers have found to post what does not verify. They are read every so often and kept here, so that refusing
/// costs nothing.
///
/// While the database does not answer, the senders that were known stay refused until their time is up.
struct RefusedSenders: Service {
    private let ends: Refresher<[NetworkAddress: ContinuousClock.Instant]>

    init(outbox: Outbox, interval: Duration, logger: Logger) {
        ends = Refresher(every: interval, warning: "Could not read whom to refuse", logger: logger) {
            let now = ContinuousClock.now
            let ends = try await outbox.refusedSenders().compactMap { sender in
                NetworkAddress(sender.address).map { ($0, now + sender.for) }
            }
            return Dictionary(ends, uniquingKeysWith: max)
        }
    }

    /// How much longer a sender is refused; nil where it is not.
    func refusal(of sender: NetworkAddress) -> Duration? {
        guard let end = ends.latest?.value[sender] else { return nil }
        let rest = end - .now
        return rest > .zero ? rest : nil
    }

    func run() async throws { try await ends.run() }
}
