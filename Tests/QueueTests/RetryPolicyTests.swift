import Postgres
import Queue
import Testing

@Suite("The retry policy")
struct RetryPolicyTests {
    private func row(attempts: Int, lapsed: Bool = false, reason: String? = nil) -> ClaimedRow<Void> {
        ClaimedRow(
            id: 1, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), attempts: attempts, lapsed: lapsed,
            lastReason: reason, content: ())
    }

    @Test("lets a row have all its attempts, and then says how the last one ended")
    func exhaustion() {
        let policy = RetryPolicy(maximumAttempts: 3)
        for attempts in 1...3 { #expect(policy.exhaustion(of: row(attempts: attempts, lapsed: true)) == nil) }
        #expect(
            policy.exhaustion(of: row(attempts: 4, lapsed: true, reason: "x"))
                == Exhaustion(cause: .workerGone, attempts: 3))
        #expect(
            policy.exhaustion(of: row(attempts: 9, reason: "x")) == Exhaustion(cause: .putOff("x"), attempts: 8))
    }

    @Test("unless told otherwise spans about an hour")
    func span() {
        let policy = RetryPolicy()
        // At most: with full jitter it is half of it on average.
        let longest = (1...policy.maximumAttempts).map { policy.backoff.limit(afterFailures: $0) }.reduce(.zero, +)
        #expect((.seconds(1500)...(.seconds(7200))).contains(longest))
    }
}
