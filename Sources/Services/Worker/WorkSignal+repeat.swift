import Base
import EvidenceStore
import Logging

extension WorkSignal {
    /// Repeats a step until the signal is stopped: at once where the step has done something, else after a pause that a wake-up cuts short.
    /// After an error it rests, each time longer.
    /// - Parameters:
    ///   - name: what is logged as failed.
    ///   - interval: the longest pause. Each one is a random half to all of it, so that many workers do not look together.
    ///   - step: returns whether there may be more to do.
    func repeating(
        _ name: String, every interval: Duration, logger: Logger, _ step: @Sendable () async throws -> Bool
    ) async {
        let backoff = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(10))
        var failures = 0
        while !isStopped, !Task.isCancelled {
            do {
                let hasWorked = try await step()
                failures = 0
                if !hasWorked { await wait(atMost: interval * Double.random(in: 0.5...1)) }
            } catch {
                if Task.isCancelled || isStopped { return }
                failures += 1
                // Once per outage, not once a second.
                if failures == 1 { logger.warning("\(name) failed; trying on", metadata: ["error": "\(error)"]) }
                await rest(for: backoff.pause(afterFailures: failures))
            }
        }
    }
}
