import AppStorePayloads
import AppStoreVerification
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("What the worker refuses")
struct RefusalTests {
    /// A text for each reason by which a notification can be refused.
    private func refusals(_ bench: Bench) throws -> [(reason: String, text: String)] {
        let authority = bench.authority
        let stranger = try SimulatedAuthority.generate()
        var unmarked = CertificateShape.leaf
        unmarked.extensions = []
        let test = bench.tests(1)[0].text
        let ders = authority.chain.map(\.der)
        func headed(_ algorithm: String, _ certificates: [[UInt8]]) -> String {
            authority.sign(
                Array("{}".utf8), header: SimulatedAuthority.headerText(alg: algorithm, certificates: certificates))
        }
        var segments = test.split(separator: ".").map(String.init)
        segments[1] = String(decoding: Base64.url.encode(Array(#"{"notificationType":"TEST"}"#.utf8)), as: UTF8.self)

        var early = bench.purchase()
        early.signedDate = 631_152_000_000
        var misplaced = bench.purchase()
        guard var data = misplaced.data else { throw NeverHappened("a purchase with data") }
        data.renewal?.originalTransactionId = "1"
        misplaced.part = .data(data)
        var foreign = SimulatedApp.example.in(.production)
        foreign.appAppleId = 1
        data.environment = "Xcode"
        var homemade = bench.purchase()
        homemade.part = .data(data)
        return [
            ("malformed", "not a JWS"),
            ("malformed", "a.b"),
            ("unsupported_algorithm", headed("HS256", ders)),
            ("wrong_chain_length", headed("ES256", Array(ders.prefix(2)))),
            ("malformed_certificate", headed("ES256", [[1, 2, 3], ders[1], ders[2]])),
            ("untrusted_root", bench.purchase().signed(by: stranger)),
            (
                "invalid_chain",
                bench.purchase().signed(
                    by: try SimulatedAuthority(
                        chain: [stranger.chain[0], authority.chain[1], authority.chain[2]]))
            ),
            ("certificate_not_valid_at", early.signed(by: authority)),
            (
                "missing_marker_oid",
                bench.purchase().signed(
                    by: try SimulatedAuthority(
                        chain: [
                            SimulatedCertificate(unmarked, issuer: authority.chain[1]), authority.chain[1],
                            authority.chain[2],
                        ]))
            ),
            ("invalid_signature", segments.joined(separator: ".")),
            ("malformed_payload", authority.sign("[]")),
            (
                "wrong_bundle",
                bench.purchase(in: SimulatedApp(bundleId: "com.example.unknown")).signed(by: authority)
            ),
            ("wrong_app_apple_id", bench.purchase(in: foreign).signed(by: authority)),
            ("wrong_environment", homemade.signed(by: authority)),
            ("mismatched_parts", misplaced.signed(by: authority)),
        ]
    }

    @Test("is buried under its reason, unverified, and takes nobody along")
    func reasons() async throws {
        try await withBench { bench in
            let refusals = try refusals(bench)
            let good = bench.tests(5)
            try await bench.store(refusals.map(\.text) + good.map(\.text))
            try await bench.workOff()
            let letters = try await bench.letters().sorted { $0.outboxID < $1.outboxID }
            #expect(letters.map(\.reason) == refusals.map(\.reason))
            #expect(letters.allSatisfy { $0.category == .unverified && $0.attempts == 1 && !$0.message.isEmpty })
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 5 && counted.dead == Int64(refusals.count))
            #expect(counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("says in its letter what it says of itself, though nobody vouches for it")
    func summary() async throws {
        try await withBench { bench in
            let purchase = bench.purchase()
            try await bench.store([purchase.signed(by: bench.authority)])
            try await bench.workOff(bench.strangerToTheApp)
            let letter = try #require(try await bench.letters().first)
            #expect(letter.reason == "wrong_bundle")
            #expect(letter.notificationUUID == UUID(uuidString: purchase.uuid))
            #expect(letter.type == "SUBSCRIBED" && letter.subtype == "INITIAL_BUY")
        }
    }

    @Test("for an app that was not configured is applied by a replay once it is")
    func configuredLater() async throws {
        try await withBench { bench in
            let purchase = bench.purchase()
            try await bench.store([purchase.signed(by: bench.authority)])
            try await bench.workOff(bench.strangerToTheApp)
            #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 0)
            _ = try await bench.outbox.replay(
                DeadLetterFilter(reason: "wrong_bundle"), perSecond: nil, by: "me", why: "now it is served")
            try await bench.workOff()
            #expect(try await bench.letters().isEmpty)
            #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 1)
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 1 && counted.dead == 0 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    /// The worker's own clock stands still in February.
    @Test(
        "for now, because it is signed later than the database's clock can be, waits and dies with its attempts alone")
    func future() async throws {
        try await withBench { bench in
            let now = try await bench.value("select now()", as: PostgresTimestamp.self).millisecondsSince1970
            let texts = [3_600_000, 60_000].map { ahead in
                var notification = bench.purchase(lane: ahead)
                notification.signedDate = Milliseconds(now + Int64(ahead))
                return notification.signed(by: bench.authority)
            }
            try await bench.store(texts)
            let retries = ClaimPolicy(
                maximumAttempts: 3, from: .milliseconds(10), upTo: .milliseconds(20))
            try await bench.withWorker(retries: retries) { _ in try await bench.untilDone() }
            let letters = try await bench.letters()
            #expect(letters.map(\.reason) == ["attempts_exhausted"])
            #expect(letters.first?.attempts == 3 && letters.first?.message.contains("signed_in_future") == true)
            #expect(try await bench.outbox.conservation().applied == 1)
        }
    }

    @Test("without bytes is buried as unprocessable")
    func missingBody() async throws {
        try await withBench { bench in
            try await bench.store(bench.tests(1).map(\.text))
            try await bench.pool.query("delete from storehook.outbox")
            try await bench.workOff()
            let letter = try #require(try await bench.letters().first)
            #expect(letter.reason == "body_missing" && letter.category == .unprocessable)
        }
    }

    @Test("after its last attempt is buried unopened, by whether it was put off or its worker vanished")
    func exhausted() async throws {
        try await withBench { bench in
            try await bench.store(bench.tests(3).map(\.text))
            // Both have had their twelve attempts; the third has had eleven.
            try await bench.install(
                """
                update storehook.outbox_queue set attempts = 12, last_reason = 'database_timeout'
                 where id = (select min(id) from storehook.outbox_queue);
                update storehook.outbox_queue set attempts = 12, lease_owner = 'gone', lease_token = gen_random_uuid()
                 where id = (select max(id) from storehook.outbox_queue);
                update storehook.outbox_queue set attempts = 11 where attempts = 0;
                """)
            try await bench.withWorker(retries: ClaimPolicy(maximumAttempts: 12)) { _ in try await bench.untilDone() }
            let letters = try await bench.letters().sorted { $0.outboxID < $1.outboxID }
            #expect(letters.map(\.reason) == ["attempts_exhausted", "crashed_worker"])
            #expect(letters.allSatisfy { $0.category == .unprocessable && $0.attempts == 12 })
            #expect(letters.first?.message.contains("database_timeout") == true)
            #expect(try await bench.outbox.conservation().applied == 1)
        }
    }
}
