/// How long to go on asking. Every number is a bound: nothing is tried for ever.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a request is sent that fails for a passing reason.
    public var maximumAttempts: Int
    /// The wait before the second attempt; each later one is twice as long.
    public var firstDelay: Duration
    /// The longest wait between attempts.
    public var longestDelay: Duration
    /// Nothing is waited for beyond this, counted from the beginning.
    public var patience: Duration
    /// The waits before an id that no environment knows is asked about again: Apple learns of fresh transactions late.
    public var freshDelays: [Duration]

    /// Creates a policy: six attempts over a minute, and an unknown id believed in after some five seconds, unless told.
    public init(
        maximumAttempts: Int = 6, firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(20),
        patience: Duration = .seconds(60), freshDelays: [Duration] = [.seconds(1), .seconds(2), .seconds(2)]
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.patience = patience
        self.freshDelays = freshDelays
    }

    /// One request and no more, sent now or not at all: for who has to look again before each.
    public static let once = RetryPolicy(maximumAttempts: 1, patience: .zero, freshDelays: [])

    /// For who has somebody waiting: three attempts within six seconds.
    public static let interactive = RetryPolicy(
        maximumAttempts: 3, firstDelay: .milliseconds(300), longestDelay: .seconds(1), patience: .seconds(6),
        freshDelays: [.seconds(1), .seconds(2)])

    /// The wait after so many failed attempts, in milliseconds: between half and all of the doubled delay.
    ///
    /// - Parameter jitter: 0 to 1, by chance: those who failed together must not come back together.
    func delay(after attempts: Int, jitter: Double) -> Int64 {
        let doubled = firstDelay.milliseconds << Int64(min(20, max(0, attempts - 1)))
        let whole = min(doubled, longestDelay.milliseconds)
        return whole / 2 + Int64(Double(whole / 2) * min(1, max(0, jitter)))
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
