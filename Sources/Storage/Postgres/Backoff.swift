/// Growing pauses between attempts, with full jitter: each is drawn evenly from zero to a limit that doubles up to a cap.
/// Of many programs that lost the same server no two come back in step.
struct Backoff: Sendable {
    /// The first pause's limit.
    var base: Duration = .milliseconds(50)
    /// What no pause exceeds.
    var cap: Duration = .seconds(1)

    /// The limit of the pause after so many failures in a row, counted from 1.
    func limit(afterFailures failures: Int) -> Duration {
        // Beyond 2^20 every limit is the cap, and the shift must not overflow.
        min(cap, base * (1 << min(max(failures - 1, 0), 20)))
    }

    /// A pause after so many failures in a row.
    func pause(afterFailures failures: Int) -> Duration {
        limit(afterFailures: failures) * Double.random(in: 0...1)
    }
}
