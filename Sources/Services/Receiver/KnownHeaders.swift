import EvidenceStore
import Logging
import ServiceLifecycle

/// Keeps a receiver told of the headers that workers have verified, so that it need not store them again each time.
///
/// Nothing waits for it and nothing fails with it: a header that the receiver has not heard of is stored as it was posted.
struct KnownHeaders: Service {
    let outbox: Outbox
    let interval: Duration
    let logger: Logger

    /// Asks at once and then once each interval, until graceful shutdown.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isFailing = false
            while !Task.isCancelled {
                do {
                    try await outbox.learnHeaders()
                    isFailing = false
                } catch {
                    // Once, not twice a minute for as long as it lasts.
                    if !isFailing, !Task.isCancelled {
                        logger.warning(
                            "Could not read signature headers; notifications are stored whole until then",
                            metadata: ["error": "\(error)"])
                    }
                    isFailing = true
                }
                // Many receivers do not ask together.
                try? await Task.sleep(for: interval * Double.random(in: 0.75...1.25))
            }
        }
    }
}
