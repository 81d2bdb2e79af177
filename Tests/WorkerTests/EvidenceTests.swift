import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@testable import EvidenceStore

@Suite("Evidence whichever way it comes")
struct EvidenceTests {
    private func appTransaction(_ bench: Bench, from source: EvidenceSource = .client) -> Evidence {
        let json = """
            {"bundleId":"\(Bench.app.bundleId)","receiptType":"Sandbox","appAppleId":\(Bench.app.appAppleId),\
            "receiptCreationDate":\(Bench.now),"source":"\(source)"}
            """
        return Evidence(.appTransaction, from: source, Array(bench.authority.sign(Array(json.utf8)).utf8))
    }

    /// What verifyReceipt says of a transaction and of what is to come of its subscription, an hour ago.
    private func said(
        of id: String, _ original: String, app: String = Bench.app.bundleId, in environment: String = "Sandbox",
        from source: EvidenceSource = .api, until end: Int64? = nil
    ) -> [Evidence] {
        let until = end ?? Bench.now + 10 * 86_400_000
        let from = until - 30 * 86_400_000
        let frame =
            #""bundle_id":"\#(app)","environment":"\#(environment)","request_date_ms":\#(Bench.now - 3_600_000)"#
        let purchase =
            #"{\#(frame),"purchase":{"transaction_id":"\#(id)","original_transaction_id":"\#(original)","#
            + #""product_id":"basic","purchase_date_ms":"\#(from)","expires_date_ms":"\#(until)","source":"\#(source)"}}"#
        let renewal =
            #"{\#(frame),"expires_date_ms":\#(until),"renewal":{"original_transaction_id":"\#(original)","#
            + #""product_id":"basic","auto_renew_product_id":"basic","auto_renew_status":"0","source":"\#(source)"}}"#
        return [
            Evidence(.receiptTransaction, from: source, Array(purchase.utf8)),
            Evidence(.receiptRenewal, from: source, Array(renewal.utf8)),
        ]
    }

    @Test("is applied once and counted in one place, of every kind and from every source")
    func places() async throws {
        try await withBench { bench in
            for (lane, source) in EvidenceSource.allCases.enumerated() {
                let told = Bench.life(lane: lane + 1)
                let text = Array(told[0].signed(by: bench.authority).utf8)
                let evidence =
                    [Evidence(.notification, from: source, text)] + bench.records(told[1], from: source)
                    + [
                        appTransaction(bench, from: source),
                        Evidence(.receipt, from: source, Array("a receipt \(source)".utf8)),
                    ] + said(of: "said-\(source)", told[0].transaction?.originalTransactionId ?? "", from: source)
                try await bench.outbox.store(evidence)
                // The same again, another way.
                let again = EvidenceSource.allCases[(lane + 1) % EvidenceSource.allCases.count]
                try await bench.outbox.store(evidence.map { Evidence($0.kind, from: again, $0.bytes) })
            }
            try await bench.workOff(batch: 7)
            let counted = try await bench.outbox.conservation()
            #expect(
                counted
                    == Conservation(
                        received: 70, pending: 0, applied: 30, duplicate: 35, parked: 5, dead: 0, discarded: 0,
                        missing: 0, doubled: 0, acknowledged: 70))
            #expect(try await bench.outbox.conservation(audit: true) == counted)
            let found = try await bench.texts(
                """
                select kind || ' ' || source || ' ' || outcome from storehook.records
                union all select 'notification ' || source || ' ' || outcome from storehook.notifications
                """)
            let expected = EvidenceKind.allCases.flatMap { kind in
                EvidenceSource.allCases.map {
                    "\(kind.rawValue) \($0.rawValue) \(kind == .receipt ? "parked" : "applied")"
                }
            }
            #expect(found.sorted() == expected.sorted())
            // A repeat is of a notification or of a record.
            #expect(
                try await bench.value(
                    "select count(notification_uuid) || ' ' || count(digest) from storehook.duplicates",
                    as: String.self) == "5 30")
            #expect(try await bench.outbox.rate().appliedLastMinute == 35)
            let (report, differences) = try await bench.rebuild(repair: false)
            #expect(report.purchases == 5 && differences == [])
        }
    }

    @Test("ends in the same rows in any order, beside the notifications that nest it or without them")
    func anyOrder() async throws {
        var generator = TestSupport.SeededGenerator()
        var expected: [String]?
        for round in 0..<6 {
            try await withBench { bench in
                let told = Bench.life()
                let notifications = told.map {
                    Evidence(.notification, from: .webhook, Array($0.signed(by: bench.authority).utf8))
                }
                var evidence = notifications + told.flatMap { bench.records($0) }
                // Signed texts differ from bench to bench only in their signatures.
                if round > 0 { evidence = (evidence + evidence.prefix(5)).shuffled(using: &generator) }
                for part in evidence.batches(of: 1 + round) {
                    try await bench.outbox.store(part)
                    try await bench.workOff()
                }
                // Renewal info that waited in vain for its purchase, which came later.
                #expect(Set(try await bench.letters().map(\.reason)).isSubset(of: ["purchase_unknown"]))
                _ = try await bench.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "test", why: nil)
                try await bench.workOff()
                let rows = try await bench.texts(
                    """
                    select row from (
                        select to_jsonb(t)::text as row from storehook.transactions t
                        union all select to_jsonb(r)::text from storehook.renewals r
                        union all select (to_jsonb(s) - array['first_stored_at', 'last_stored_at'])::text
                                    from storehook.subscriptions s
                        union all select (to_jsonb(f) - 'outbox_id')::text from storehook.purchase_facts f) all_rows
                     order by row
                    """)
                #expect(expected ?? rows == rows, "round \(round) of seed \(generator.seed)")
                expected = expected ?? rows
                let books = try await bench.outbox.conservation()
                #expect(books.pending == 0 && books.dead == 0 && books.missing == 0 && books.doubled == 0)
                #expect(try await bench.rebuild(repair: false).differences == [])
            }
        }
    }

    @Test("gives the same state whether it came in notifications or by itself, but for what Apple reported beside it")
    func alone() async throws {
        try await withBench { bench in
            let told = Bench.life()
            for notification in told.reversed() { try await bench.outbox.store(bench.records(notification)) }
            try await bench.workOff()
            let now = PostgresTimestamp(millisecondsSince1970: Bench.now)
            #expect(
                try await bench.texts("select status from storehook.status_at(\(now))") == ["expired"])
            let early = PostgresTimestamp(millisecondsSince1970: Bench.now - 65 * 86_400_000)
            #expect(
                try await bench.texts("select status from storehook.status_at(\(early))") == ["active"])
            #expect(try await bench.value("select count(*) from storehook.notifications", as: Int64.self) == 0)
        }
    }

    @Test("is refused with a code where it is forged, edited, not ours, or another kind than it was stored as")
    func refused() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let stranger = try SimulatedAuthority.generate()
            let json = try #require(told[0].transaction?.json)
            let transaction = bench.authority.sign(json)
            let renewal = bench.authority.sign(try #require(told[0].renewal?.json))
            let notification = told[0].signed(by: bench.authority)
            let app = String(decoding: appTransaction(bench).bytes, as: UTF8.self)
            let foreign = bench.authority.sign(
                Array(String(decoding: json, as: UTF8.self).replacing(Bench.app.bundleId, with: "com.other").utf8))
            let xcode = bench.authority.sign(
                Array(String(decoding: json, as: UTF8.self).replacing("\"Sandbox\"", with: "\"Xcode\"").utf8))
            var edited = transaction.split(separator: ".").map(String.init)
            edited[1] = String(
                decoding: Base64.url.encode(Array(String(decoding: json, as: UTF8.self).appending(" ").utf8)),
                as: UTF8.self)
            let cases: [(EvidenceKind, String, String)] = [
                (.transaction, stranger.sign(json), "untrusted_root"),
                (.transaction, edited.joined(separator: "."), "invalid_signature"),
                (.transaction, foreign, "wrong_bundle"), (.transaction, xcode, "wrong_environment"),
                (.transaction, "no.jws.x", "malformed"), (.renewal, "", "malformed"),
                (.transaction, bench.authority.sign("{}"), "malformed_payload"),
                // Each of the four as each of the others.
                (.transaction, renewal, "malformed_payload"), (.transaction, notification, "malformed_payload"),
                (.transaction, app, "malformed_payload"), (.renewal, transaction, "malformed_payload"),
                (.renewal, notification, "malformed_payload"), (.renewal, app, "malformed_payload"),
                (.appTransaction, transaction, "malformed_payload"), (.appTransaction, renewal, "malformed_payload"),
                (.appTransaction, notification, "malformed_payload"), (.notification, transaction, "malformed_payload"),
                (.notification, renewal, "malformed_payload"), (.notification, app, "malformed_payload"),
                // Unsigned evidence has no less to be ours, and is what it was stored as.
                (.receiptTransaction, transaction, "malformed_payload"),
                (.receiptTransaction, "{}", "malformed_payload"),
                (.receiptTransaction, text(said(of: "1", "1", app: "com.other")[0]), "wrong_bundle"),
                (.receiptTransaction, text(said(of: "1", "1", in: "Xcode")[0]), "wrong_environment"),
                (.receiptRenewal, text(said(of: "1", "1", app: "com.other")[1]), "wrong_bundle"),
                (.receiptRenewal, text(said(of: "1", "1", in: "Xcode")[1]), "wrong_environment"),
                (.receiptTransaction, text(said(of: "1", "1")[1]), "malformed_payload"),
                (.receiptRenewal, text(said(of: "1", "1")[0]), "malformed_payload"),
                (.transaction, text(said(of: "1", "1")[0]), "malformed"),
            ]
            try await bench.outbox.store(cases.map { Evidence($0.0, from: .client, Array($0.1.utf8)) })
            try await bench.workOff()
            let letters = try await bench.letters().sorted { $0.outboxID < $1.outboxID }
            #expect(letters.map(\.reason) == cases.map(\.2))
            #expect(letters.map(\.kind) == cases.map(\.0))
            #expect(letters.allSatisfy { $0.category == .unverified && $0.source == .client })
            #expect(try await bench.value("select count(*) from storehook.purchase_lines", as: Int64.self) == 0)
            let books = try await bench.outbox.conservation()
            #expect(books.dead == Int64(cases.count) && books.missing == 0 && books.doubled == 0)
        }
    }

    private func text(_ evidence: Evidence) -> String { String(decoding: evidence.bytes, as: UTF8.self) }

    @Test(
        "of verifyReceipt's gives way to what Apple signs in any order, and is rebuilt with its bytes and without them")
    func unsigned() async throws {
        try await withBench { bench in
            // One purchase is only said, one is signed, too.
            let told = Bench.life()
            let transaction = try #require(told[0].transaction)
            let signed = bench.records(told[0])
            // Of a later period it would count: Apple may have signed nothing of that.
            let other = said(
                of: transaction.transactionId, transaction.originalTransactionId, until: transaction.expiresDate)
            try await bench.outbox.store([other[1], signed[0], other[0], signed[1]] + said(of: "1", "1"))
            try await bench.workOff()
            let now = PostgresTimestamp(millisecondsSince1970: Bench.now)
            #expect(
                try await bench.texts(
                    """
                    select original_transaction_id || ' ' || status from storehook.status_at(\(now))
                     order by original_transaction_id = '1' desc
                    """) == ["1 cancelled", "\(transaction.originalTransactionId) expired"])
            let unsigned: PostgresQuery = """
                select (select count(*) from storehook.purchase_facts where is_unsigned) || ' '
                       || (select count(*) from storehook.transactions where is_unsigned) || ' '
                       || (select count(*) from storehook.renewals where is_unsigned)
                """
            #expect(try await bench.value(unsigned, as: String.self) == "4 1 1")
            #expect(try await bench.value("select count(*) from storehook.subscriptions where is_regular") == Int64(0))
            #expect(try await bench.rebuild(repair: false).differences == [])
            // Without the bytes the rows tell it as well.
            try await bench.pool.query("delete from storehook.outbox")
            let (report, differences) = try await bench.rebuild(repair: false)
            #expect(report.withoutBytes == 6 && differences == [])
        }
    }

    @Test("that died for want of a setting is rehearsed and replayed as what it is")
    func replay() async throws {
        try await withBench { bench in
            let told = Bench.life()
            try await bench.outbox.store(told.flatMap { bench.records($0) } + [appTransaction(bench)])
            try await bench.workOff(bench.strangerToTheApp)
            // Renewal info names no app, so it is not refused for that: it waits for its purchase.
            let letters = try await bench.letters()
            #expect(Set(letters.map(\.reason)) == ["wrong_bundle", "purchase_unknown"])
            let before = try await bench.contents()
            let dryRun = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            let report = try await dryRun.run(DeadLetterFilter(), at: Timestamp(millisecondsSince1970: Bench.now))
            #expect(report.letters == 9 && report.applied + report.duplicate == 9 && report.stillDead.isEmpty)
            #expect(report.moves.map(\.to) == [.expired])
            #expect(try await bench.contents() == before)
            _ = try await bench.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "test", why: nil)
            try await bench.workOff()
            let books = try await bench.outbox.conservation()
            #expect(books.applied == Int64(report.applied) && books.duplicate == Int64(report.duplicate))
            #expect(books.dead == 0 && books.missing == 0 && books.doubled == 0)
        }
    }

    @Test("is told in the story with its kind and source, and a notification tells what both bring")
    func story() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let id = try #require(told[0].transaction?.originalTransactionId)
            // The first purchase by its records alone, the renewal both ways.
            try await bench.outbox.store(Array(bench.records(told[0], from: .client).prefix(1)))
            try await bench.outbox.store(Array(bench.records(told[1]).prefix(1)))
            try await bench.store([told[1].signed(by: bench.authority)])
            try await bench.workOff()
            let story = try #require(try await LedgerReader(bench.pool).story(of: id).first)
            let learned = story.entries.map { $0.learned }
            #expect(learned.map { $0?.kind } == [.transaction, .notification, .transaction])
            #expect(learned.map { $0?.source } == [.client, .webhook, .api])
            #expect(story.entries.map { $0.recorded.changes.first?.kind } == [.bought, .renewed, .nothingNew])
            let answer = CommandAnswer(at: Timestamp(millisecondsSince1970: Bench.now), [], [], [story])
            #expect(answer.text.contains("(transaction from the app)"), "\(answer.text)")
            #expect(answer.text.contains("nothing new (transaction from Apple's API)"), "\(answer.text)")
            guard case .array(let timeline)? = answer.json["timeline"] else {
                throw NeverHappened("a timeline is a list")
            }
            #expect(timeline.map { $0["source"] } == ["client", "webhook", "api"])
            let beliefs = try await LedgerReader(bench.pool).asLearned(of: id)
            #expect(beliefs.allSatisfy { $0.learned != nil })
        }
    }

    @Test("is what a rebuild derives from, with the bytes and once retention has dropped them")
    func rebuild() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let early = bench.records(told[0]) + bench.records(told[1])
            let notification = Evidence(.notification, from: .history, Array(told[1].signed(by: bench.authority).utf8))
            try await bench.outbox.store(early + [notification, Evidence(.receipt, from: .client, [65])])
            // One stays undone, and must stay what it is: rightly signed, so its letter is not given up with its age.
            let renewal = try #require(bench.records(told[1]).last)
            try await bench.outbox.store([Evidence(.transaction, from: .client, renewal.bytes)])
            try await bench.workOff()
            let before = try await bench.contents()
            let damage = """
                delete from storehook.purchase_facts where transaction_id is not null;
                update storehook.transactions set expires_at = expires_at + interval '1 year';
                delete from storehook.renewals;
                """
            try await bench.install(damage)
            let (broken, _) = try await bench.rebuild(repair: false)
            #expect(broken.differences > 0)
            _ = try await bench.rebuild(repair: true)
            #expect(try await bench.contents() == before)

            try await bench.install(agedOutbox)
            let books = try await bench.outbox.conservation()
            let aged = try await bench.contents()
            let dropped = try await bench.outbox.maintain(Retention(days: 7))
            #expect(dropped.days.map { [$0.gone, $0.kept] } == [[6, 1]])
            #expect(try await bench.outbox.conservation() == books)
            #expect(try await bench.outbox.conservation(audit: true) == books)
            #expect(try await bench.texts("select kind || ' ' || source from storehook.outbox") == ["1 3"])
            let (report, differences) = try await bench.rebuild(repair: false)
            #expect(report.withoutBytes == 5 && differences == [])
            try await bench.install(
                "update storehook.transactions set expires_at = expires_at + interval '1 year'; delete from storehook.subscriptions;"
            )
            // An older program kept no reason: the record still has it.
            try await bench.install("update storehook.purchase_facts set reason = null")
            #expect(try await bench.rebuild(repair: true).report.differences > 0)
            let after = try await bench.contents()
            for table in ["transactions", "renewals", "purchase_facts", "subscriptions", "records", "notifications"] {
                #expect(after[table] == aged[table], "\(table)")
            }
        }
    }

    @Test("by itself lets receivers do without its header from then on")
    func headers() async throws {
        try await withBench { bench in
            try await bench.outbox.store(Array(bench.records(Bench.life()[0]).prefix(1)))
            try await bench.workOff()
            #expect(try await bench.value("select count(*) from storehook.signature_headers", as: Int64.self) == 1)
        }
    }
}

extension Array {
    /// The elements in consecutive batches of `size`.
    fileprivate func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
