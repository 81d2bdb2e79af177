import AppStorePayloads
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

/// What is kept of attempts at evidence that ended otherwise than well.
struct AttemptTests {
    @Test("each that was put off, was buried or whose worker vanished has a line; what is applied at once has none")
    func kept() async throws {
        try await withBench { bench in
            let now = try await bench.value("select now()", as: PostgresTimestamp.self).millisecondsSince1970
            var ahead = bench.purchase(lane: 2)
            ahead.signedDate = Milliseconds(now + 3_600_000)
            let test = bench.tests(2)
            try await bench.store([ahead.signed(by: bench.authority), "not a JWS", test[0].text, test[1].text])
            let ids = try await bench.pool.query("select id from storehook.outbox_queue order by id")
                .map { try $0.decode(0, as: Int64.self) }
            // As if a worker had died with the third.
            try await bench.pool.query(
                """
                update storehook.outbox_queue set attempts = 1, lease_owner = 'gone', lease_token = gen_random_uuid()
                 where id = \(ids[2])
                """)
            let retries = ClaimPolicy(maximumAttempts: 3, from: .milliseconds(10), upTo: .milliseconds(20))
            try await bench.withWorker(retries: retries) { _ in try await bench.untilDone() }
            var attempts: [[EvidenceAttempt]] = []
            for id in ids { attempts.append(try await bench.outbox.attempts(at: id)) }
            #expect(attempts[0].map(\.reason) == ["signed_in_future", "signed_in_future", "signed_in_future"])
            #expect(attempts[0].map(\.number) == [1, 2, 3] && attempts[0].allSatisfy { $0.worker == "test" })
            #expect(
                attempts[0].allSatisfy { attempt in
                    guard let began = attempt.beganAt, let ended = attempt.endedAt else { return false }
                    return began.millisecondsSince1970 <= ended.millisecondsSince1970
                })
            #expect(attempts[1].map(\.reason) == ["malformed"] && attempts[1][0].message?.isEmpty == false)
            #expect(attempts[2].map(\.reason) == ["crashed_worker"] && attempts[2][0].worker == nil)
            #expect(attempts[3].isEmpty)
        }
    }

    @Test("a letter names its app where a verified or an unverified payload does")
    func app() async throws {
        try await withBench { bench in
            try await bench.store([bench.purchase().signed(by: bench.authority), "not a JWS"])
            try await bench.workOff(bench.strangerToTheApp)
            let letters = try await bench.letters().sorted { $0.outboxID < $1.outboxID }
            #expect(letters.map(\.bundleID) == [Bench.app.bundleId, nil])
            // A refusal by the database comes after the verification.
            let tests = bench.tests(1)
            try await bench.store(tests.map(\.text))
            try await bench.refuse(tests.map(\.uuid), "22003")
            try await bench.workOff()
            let refused = try #require(try await bench.letters().last)
            #expect(refused.reason == "sqlstate_22003" && refused.bundleID == Bench.app.bundleId)
        }
    }
}
