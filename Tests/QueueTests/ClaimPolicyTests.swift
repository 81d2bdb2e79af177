import Base
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The retry policy")
struct ClaimPolicyTests {
    private func row(attempts: Int, lapsed: Bool = false, reason: String? = nil) -> ClaimedRow<Void> {
        ClaimedRow(
            id: 1, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), attempts: attempts, lapsed: lapsed,
            lastReason: reason, content: ())
    }

    @Test("lets a row have all its attempts, and then says how the last one ended")
    func exhaustion() {
        let policy = ClaimPolicy(maximumAttempts: 3)
        for attempts in 1...3 { #expect(policy.exhaustion(of: row(attempts: attempts, lapsed: true)) == nil) }
        #expect(
            policy.exhaustion(of: row(attempts: 4, lapsed: true, reason: "x"))
                == Exhaustion(cause: .workerGone, attempts: 3))
        #expect(
            policy.exhaustion(of: row(attempts: 9, reason: "x")) == Exhaustion(cause: .putOff("x"), attempts: 8))
    }

    @Test("gives up what ends workers sooner, however often it was put off before")
    func lapses() {
        let policy = ClaimPolicy(maximumAttempts: 40)
        func row(attempts: Int, lapses: Int) -> ClaimedRow<Void> {
            ClaimedRow(
                id: 1, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), attempts: attempts, lapsed: lapses > 0,
                lapses: lapses, lastReason: "x", content: ())
        }
        #expect(policy.exhaustion(of: row(attempts: 30, lapses: 1)) == nil)
        #expect(policy.exhaustion(of: row(attempts: 12, lapses: 11)) == nil)
        #expect(
            policy.exhaustion(of: row(attempts: 13, lapses: 12)) == Exhaustion(cause: .workerGone, attempts: 12))
        #expect(ClaimPolicy(maximumAttempts: 3).maximumLapses == 3)
    }

    @Test("by default outlasts a night by whatever chance, and not two")
    func span() {
        let schedule = ClaimPolicy().schedule
        let failures = 1..<schedule.attempts
        // All pauses at their shortest.
        let least = failures.reduce(Duration.zero) { $0 + schedule.limit(afterFailures: $1) / 2 }
        #expect(schedule.attempts == 12)
        #expect(least > .seconds(14 * 3600) && least * 2 < .seconds(36 * 3600))
        for _ in 0..<20 {
            let span = failures.reduce(Duration.zero) { $0 + schedule.pause(afterFailures: $1) }
            #expect(span >= least && span <= least * 2)
        }
    }

    @Test("has one number of attempts in the program, its chapter, its settings file and the runbook")
    func documents() throws {
        let attempts = ClaimPolicy().schedule.attempts
        for (file, words) in [
            (
                "Sources/Programs/storehook/storehook.docc/Configuration.md",
                "; \(attempts) attempts take 14 hours at least."
            ),
            ("Sources/Programs/storehook/storehook.docc/Configuration.md", "is never counted | \(attempts) |"),
            ("deploy/systemd/storehook.conf", "#STOREHOOK_MAX_ATTEMPTS=\(attempts)\n"),
            ("deploy/runbook.md", "put off \(attempts) times for a passing fault"),
        ] {
            let text = try String(contentsOf: packageRoot.appending(path: file), encoding: .utf8)
            #expect(text.contains(words), "\(file)")
        }
    }
}
