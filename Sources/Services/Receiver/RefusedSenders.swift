import Base
import EvidenceStore
import HTTPKit
import Logging
import ServiceLifecycle
import Synchronization

/// Whom workers have found to post what does not verify: told once in a while, and kept here, so that refusing costs nothing.
///
/// Nothing waits for it and nothing fails with it: while the database does not answer, those that were known stay refused
/// until their time is up.
struct RefusedSenders: Service {
    private final class Known: Sendable {
        let ends = Mutex<[NetworkAddress: ContinuousClock.Instant]>([:])
    }

    let outbox: Outbox
    let interval: Duration
    let logger: Logger
    private let known = Known()

    init(outbox: Outbox, interval: Duration, logger: Logger) {
        self.outbox = outbox
        self.interval = interval
        self.logger = logger
    }

    /// How much longer a sender is refused; nil where it is not.
    func refusal(of sender: NetworkAddress) -> Duration? {
        guard let end = known.ends.withLock({ $0[sender] }) else { return nil }
        let rest = end - .now
        return rest > .zero ? rest : nil
    }

    /// Asks at once and then once each interval, until graceful shutdown.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isFailing = false
            while !Task.isCancelled {
                do {
                    let now = ContinuousClock.now
                    let ends = try await outbox.refusedSenders().compactMap { sender in
                        NetworkAddress(sender.address).map { ($0, now + sender.for) }
                    }
                    known.ends.withLock { $0 = Dictionary(ends, uniquingKeysWith: max) }
                    isFailing = false
                } catch {
                    // Once, not twice a second for as long as it lasts.
                    if !isFailing, !Task.isCancelled {
                        logger.warning("Could not read whom to refuse", metadata: ["error": "\(error)"])
                    }
                    isFailing = true
                }
                // Many receivers do not ask together.
                try? await Task.sleep(for: interval * Double.random(in: 0.75...1.25))
            }
        }
    }
}
