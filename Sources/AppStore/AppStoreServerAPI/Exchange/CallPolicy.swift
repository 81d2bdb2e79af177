package import Base

/// How long to go on with a call. Every number is a bound: nothing is tried for ever.
public struct CallPolicy: Sendable, Hashable {
    /// After failures that may pass.
    package var retries: RetrySchedule
    /// For an id that no environment knows: a fresh transaction may not be visible at Apple yet.
    package var fresh: RetrySchedule
    /// The longest time for the whole call, counted from its beginning.
    public var patience: Duration

    /// Creates a policy; by default six attempts over a minute, and an unknown id is believed after some five seconds.
    ///
    /// - Parameters:
    ///   - maximumAttempts: how often a request is sent that fails for a passing reason.
    ///   - firstDelay: the longest wait before the second attempt; each later one is twice as long. At least half of each is waited.
    ///   - longestDelay: the longest wait between attempts.
    ///   - freshDelays: the waits before an id that no environment knows is asked about again.
    public init(
        maximumAttempts: Int = 6, firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(20),
        patience: Duration = .seconds(60), freshDelays: [Duration] = [.seconds(1), .seconds(2), .seconds(2)]
    ) {
        retries = .doubling(
            from: firstDelay, upTo: longestDelay, attempts: maximumAttempts, jitter: RetrySchedule.halfJitter)
        fresh = .listed(freshDelays)
        self.patience = patience
    }

    /// One request and no more, sent now or not at all: for callers that have to look again before each.
    public static let once = CallPolicy(maximumAttempts: 1, patience: .zero, freshDelays: [])

    /// For calls that a person or an app waits for: three attempts within six seconds.
    public static let interactive = CallPolicy(
        maximumAttempts: 3, firstDelay: .milliseconds(300), longestDelay: .seconds(1), patience: .seconds(6),
        freshDelays: [.seconds(1), .seconds(2)])
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
