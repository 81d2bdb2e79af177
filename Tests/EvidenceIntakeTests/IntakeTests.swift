import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import Operations
import Pipeline
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Monitoring

@Suite("What an app hands in")
struct IntakeTests {
    @Test("is applied when it is answered: stored, recorded with its source, in no queue, and conserved")
    func applies() async throws {
        try await withDesk { desk in
            let bought = desk.purchase()
            let decided = Mutex<(transaction: IntakeTransaction, subscriptions: Int)?>(nil)
            let (answers, applied) = try await desk.intake().take(desk.records(bought)) { transaction, session in
                // In the same transaction, which sees the state that it has made.
                let count = try session.query("select from storehook.subscriptions").count
                decided.withLock { $0 = (transaction, count) }
                return .unchanged
            }
            let seen = decided.withLock(\.self)
            #expect(answers.map(\.words) == ["applied", "applied"])
            let taken = try #require(seen?.transaction.taken)
            #expect(seen?.subscriptions == 1 && taken == answers.compactMap(\.taken))
            let key = PurchaseKey(
                environment: "Sandbox", bundleID: Desk.app.bundleId,
                originalTransactionID: try #require(bought.transaction?.originalTransactionId))
            #expect(seen?.transaction.changed == [key] && seen?.transaction.purchases == [key])
            #expect(applied?.change.purchases == [key] && applied?.change.outcomes == [.applied, .applied])
            #expect(taken.map(\.purchase) == [key, key] && taken.map(\.bundleID) == [key.bundleID, key.bundleID])
            #expect(taken[0].transaction?.productId == bought.transaction?.productId)
            let books = try #require(try await desk.books())
            #expect(books.received == 2 && books.applied == 2 && books.pending == 0 && books.isWhole)
            #expect(books.acknowledged == 2)
            #expect(try await desk.value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0)
            #expect(
                try await desk.texts("select kind || ' ' || source from storehook.records order by 1")
                    == ["renewal client", "transaction client"])
            let now = PostgresTimestamp(millisecondsSince1970: Desk.now)
            #expect(try await desk.texts("select status from storehook.status_at(\(now))") == ["active"])
            // What is stored verifies again, and gives the same state.
            let rebuild = Rebuild(pool: desk.pool, verifier: desk.verifier(), ledger: Ledger())
            let found = Mutex(0)
            _ = try await rebuild.run(repair: false) { _ in
            } onDifference: { _ in
                found.withLock { $0 += 1 }
            }
            #expect(found.withLock(\.self) == 0)
        }
    }

    @Test("again is answered like the first time, tells its purchase once more, and stores nothing twice")
    func again() async throws {
        try await withDesk { desk in
            let records = desk.records(desk.purchase())
            #expect(try await desk.handIn(records) == ["applied", "applied"])
            let before = try await desk.contents()
            let decided = Mutex<IntakeTransaction?>(nil)
            let (answers, _) = try await desk.intake().take(records) { transaction, _ in
                decided.withLock { $0 = transaction }
                return .unchanged
            }
            let told = decided.withLock(\.self)
            #expect(answers.map(\.words) == ["duplicate", "duplicate"])
            #expect(told?.taken.count == 2 && told?.purchases.count == 1 && told?.changed == [])
            #expect(try await desk.contents() == before)
            // Signed anew by Apple, the JSON is the same.
            let resigned = desk.records(desk.purchase())
            #expect(resigned != records)
            #expect(try await desk.handIn(resigned) == ["duplicate", "duplicate"])
            #expect(try await desk.contents() == before)
        }
    }

    @Test("in a mixed batch is answered for each: applied, duplicate, forged, edited, of another app, not decided")
    func mixed() async throws {
        try await withDesk { desk in
            let (first, second, third) = (desk.purchase(), desk.purchase(lane: 2), desk.purchase(lane: 3))
            #expect(try await desk.handIn([desk.records(second)[0]]) == ["applied"])
            let mine = desk.records(first)
            let stranger = try SimulatedAuthority.generate()
            var edited = String(decoding: mine[0].bytes, as: UTF8.self).split(separator: ".").map(String.init)
            edited[1] = String(
                decoding: Base64.url.encode((first.transaction?.json ?? []) + [UInt8(ascii: " ")]), as: UTF8.self)
            let app = """
                {"bundleId":"\(Desk.app.bundleId)","receiptType":"Sandbox","appTransactionId":"7041",\
                "appAppleId":\(Desk.app.appAppleId),"receiptCreationDate":\(Desk.now)}
                """
            let (answers, _) = try await desk.intake().take([
                mine[1], mine[0], mine[0], desk.records(second)[0],
                HandedIn(.transaction, stranger.sign(third.transaction?.json ?? [])),
                HandedIn(.transaction, edited.joined(separator: ".")),
                desk.transaction(third, replacing: Desk.app.bundleId, with: "com.other"),
                desk.transaction(third, replacing: "\"Sandbox\"", with: "\"Xcode\""),
                HandedIn(.transaction, "not.a.jws"), HandedIn(.transaction, ""),
                HandedIn(.renewal, String(decoding: mine[0].bytes, as: UTF8.self)),
                HandedIn(.transaction, String(repeating: "x", count: 300_000)),
                desk.transaction(
                    third, replacing: #""productId":""#, with: #""productId":"\#(String(repeating: "x", count: 3000))"#),
                desk.records(third)[1], HandedIn(.appTransaction, desk.authority.sign(Array(app.utf8))),
            ])
            #expect(
                answers.map(\.words) == [
                    "applied", "applied", "duplicate", "duplicate", "refused untrusted_root",
                    "refused invalid_signature", "refused wrong_bundle", "refused wrong_environment",
                    "refused malformed", "refused malformed", "refused malformed_payload", "refused malformed",
                    "refused malformed_payload",
                    "undecided purchase_unknown", "applied",
                ])
            guard case .appTransaction(let payload) = answers.last?.taken?.record else {
                Issue.record("the app transaction is not told")
                return
            }
            #expect(payload.appTransactionId == "7041")
            // Of all the rest nothing is kept.
            let books = try #require(try await desk.books())
            #expect(books.received == 4 && books.applied == 4 && books.isWhole)
            #expect(try await desk.value("select count(*) from storehook.dead_letters", as: Int64.self) == 0)
        }
    }

    @Test("that proves nothing leaves no trace, and nothing is settled for it")
    func refused() async throws {
        try await withDesk { desk in
            let before = try await desk.contents()
            let ran = Mutex(false)
            let stranger = try SimulatedAuthority.generate()
            let forged = HandedIn(.transaction, stranger.sign(desk.purchase().transaction?.json ?? []))
            let (answers, applied) = try await desk.intake().take([forged]) { _, _ in
                ran.withLock { $0 = true }
                return .unchanged
            }
            #expect(answers.map(\.words) == ["refused untrusted_root"])
            #expect(applied == nil && !ran.withLock(\.self))
            #expect(try await desk.contents() == before)
            let (none, nothing) = try await desk.intake().take([])
            #expect(none.isEmpty && nothing == nil)
        }
    }

    @Test("is not decided while Apple's responder is away, is kept nowhere, and is applied when it answers again")
    func responderAway() async throws {
        try await withDesk { desk in
            let asked = Mutex(0)
            let cache = RevocationCache()
            let checker = RevocationChecker(
                cache: cache, clock: { Timestamp(millisecondsSince1970: Desk.now) }, logger: quiet
            ) { _, _ in
                asked.withLock { $0 += 1 }
                throw CancellationError()
            }
            let records = desk.records(desk.purchase())
            let before = try await desk.contents()
            #expect(
                try await desk.handIn(records, to: desk.intake(asking: (cache, checker)))
                    == ["undecided revocation_unknown", "undecided revocation_unknown"])
            #expect(asked.withLock(\.self) > 0)
            #expect(try await desk.contents() == before)
            #expect(try await desk.handIn(records) == ["applied", "applied"])
        }
    }

    @Test(
        "waits for Apple's responder as long as somebody waits for the answer, which says nothing about the responder",
        .timeLimit(.minutes(2)))
    func responderHangs() async throws {
        try await withDesk { desk in
            let hangs = Mutex(true)
            let asked = Mutex(0)
            let cache = RevocationCache()
            let checker = RevocationChecker(
                cache: cache, timeout: .seconds(600), clock: { Timestamp(millisecondsSince1970: Desk.now) },
                logger: quiet
            ) { _, _ in
                asked.withLock { $0 += 1 }
                if hangs.withLock(\.self) { try await Task.sleep(for: .seconds(600)) }
                throw CancellationError()
            }
            let intake = desk.intake(asking: (cache, checker))
            let records = desk.records(desk.purchase())
            var patience = Duration.milliseconds(50)
            var first = 0
            // Until a caller waits for long enough that it is asked at all.
            while first == 0 {
                let (answers, _) = try await intake.take(records, until: .now + patience)
                #expect(answers.map(\.words) == ["undecided revocation_unknown", "undecided revocation_unknown"])
                first = asked.withLock(\.self)
                patience *= 2
            }
            hangs.withLock { $0 = false }
            // It was not held against it: the next who waits asks.
            _ = try await intake.take(records, until: .now + .seconds(600))
            let second = asked.withLock(\.self)
            #expect(second > first)
            // That it is away is.
            _ = try await intake.take(records, until: .now + .seconds(600))
            #expect(asked.withLock(\.self) == second)
        }
    }

    @Test("is not decided while it lies in the future by the database's clock, whatever this machine's says")
    func future() async throws {
        try await withDesk { desk in
            let bought = desk.purchase()
            let signed = try #require(bought.transaction?.signedDate)
            let now = try await desk.outbox.clock().millisecondsSince1970
            // The verifier's own clock stands at the beginning of February 2026.
            let late = desk.transaction(
                bought, replacing: "\"signedDate\":\(signed)", with: "\"signedDate\":\(now - 60_000)")
            let later = desk.transaction(
                bought, replacing: "\"signedDate\":\(signed)", with: "\"signedDate\":\(now + 3_600_000)")
            #expect(try await desk.handIn([late, later]) == ["applied", "undecided signed_in_future"])
        }
    }

    @Test("is counted by kind and outcome, apart from what workers settle")
    func counted() async throws {
        try await withDesk { desk in
            let registry = MetricsRegistry(MetricFamily.storehook)
            let intake = desk.intake(metrics: registry)
            let records = desk.records(desk.purchase())
            _ = try await desk.handIn(records, to: intake)
            _ = try await desk.handIn(records + [HandedIn(.transaction, "x")], to: intake)
            let page = registry.exposition().split(separator: "\n").filter {
                $0.hasPrefix("storehook_handed_in") && !$0.hasSuffix(" 0") && $0.contains("_total")
            }
            #expect(
                page.sorted() == [
                    #"storehook_handed_in_refused_total{reason="malformed"} 1"#,
                    #"storehook_handed_in_total{outcome="applied",type="renewal"} 1"#,
                    #"storehook_handed_in_total{outcome="applied",type="transaction"} 1"#,
                    #"storehook_handed_in_total{outcome="duplicate",type="renewal"} 1"#,
                    #"storehook_handed_in_total{outcome="duplicate",type="transaction"} 1"#,
                    #"storehook_handed_in_total{outcome="refused",type="transaction"} 1"#,
                ])
            #expect(!registry.exposition().contains("storehook_processed_total{"))
        }
    }
}
