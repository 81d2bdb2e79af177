/// Growing pauses between attempts, with full jitter (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog
/// 2015): each is drawn evenly from zero to a limit that doubles up to a cap. Clients that lost one server, or rows
/// with one fault, do not come back in step.
package struct Backoff: Sendable, Hashable {
    /// The first pause's limit.
    package var base: Duration
    /// The longest pause.
    package var cap: Duration

    /// The defaults are for a lost connection.
    package init(base: Duration = .milliseconds(50), cap: Duration = .seconds(1)) {
        self.base = base
        self.cap = cap
    }

    /// The limit of the pause after so many failures in a row, counted from 1.
    package func limit(afterFailures failures: Int) -> Duration {
        // 2^40 milliseconds are 34 years, so every limit is the cap by then; and the product must not overflow.
        min(cap, base * (1 << min(max(failures, 1) - 1, 40)))
    }

    /// A pause after so many failures in a row.
    package func pause(
        afterFailures failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        limit(afterFailures: failures) * Double.random(in: 0..<1, using: &generator)
    }

    /// A pause after so many failures in a row, from the system's random numbers.
    package func pause(afterFailures failures: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return pause(afterFailures: failures, using: &generator)
    }
}
