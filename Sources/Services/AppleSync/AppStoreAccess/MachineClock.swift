import AppStorePayloads
import AppStoreServerAPI
package import Base
import Foundation

/// The machine's clock: Apple names instants, not spans.
package struct MachineClock: AppStoreClock {
    /// The machine's clock.
    package init() {}

    /// The present instant.
    package func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Waits by the machine's clock.
    package func wait(until instant: Timestamp) async throws {
        // Slept in stretches, so that a clock that is set meanwhile is noticed.
        while true {
            let left = instant.milliseconds(since: now())
            guard left > 0 else { return }
            try await Task.sleep(for: .milliseconds(min(left, 10_000)))
        }
    }
}
