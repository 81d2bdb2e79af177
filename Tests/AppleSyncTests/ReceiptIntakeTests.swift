import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@testable import AppleSync

@Suite("An old receipt that is handed in")
struct ReceiptIntakeTests {
    /// A customer of two months, their receipt, and what Apple would answer.
    private struct Story {
        let customer: SimulatedSubscriber
        let now = ImpatientClock().now().millisecondsSince1970

        init() {
            var customer = SimulatedSubscriber(app: Site.app, lane: 3, seed: 3)
            let line = customer.buy(.premiumMonthly, at: now - 40 * 86_400_000)
            customer.renew(line)
            self.customer = customer
        }

        var items: [TransactionRecord] { customer.allItems.map { customer[$0] } }
        var original: String { items[0].originalTransactionId }

        func receipt(by authority: SimulatedAuthority) throws -> [UInt8] {
            Base64.standard.encode(
                try ReceiptSigner(authority.chain).sign(
                    SimulatedReceipt(of: items, app: Site.app, at: now - 60_000)))
        }

        /// The Server API's answers.
        func answers(_ site: Site) {
            let signed = items.map { record -> String in
                var record = record
                record.signedDate = now - 30_000
                return site.authority.sign(record.json)
            }
            let list = signed.map { "\"\($0)\"" }.joined(separator: ",")
            site.apple.answer(
                "/inApps/v2/history/\(original)", with: #"{"signedTransactions":[\#(list)],"hasMore":false}"#)
            site.apple.answer("/inApps/v1/subscriptions/\(original)", with: #"{"data":[]}"#)
            site.apple.answer(
                "/inApps/v2/refund/lookup/\(original)", with: #"{"signedTransactions":[],"hasMore":false}"#)
        }

        var verified: String {
            """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(Site.app.bundleId)","in_app":[]},\
            "latest_receipt_info":[{"transaction_id":"\(items[0].transactionId)",\
            "original_transaction_id":"\(original)"}]}
            """
        }
    }

    private func intake(
        _ site: Site, withKey: Bool = true, withSecret: Bool = false, revocation: RevocationCache? = nil,
        settling settle: (@Sendable () async -> Void)? = nil
    ) throws -> ReceiptIntake {
        let clock = ImpatientClock()
        let secret = try #require(SharedSecret("hunter2"))
        let receipts = ReceiptClient(
            bundleId: Site.app.bundleId, secret: secret, in: [.production], transport: site.apple, clock: clock,
            budget: RateBudget(share: 1), policy: CallPolicy(maximumAttempts: 2, firstDelay: .milliseconds(1)),
            jitter: { 1 })
        let app = ReceiptIntake.App(
            Site.app.bundleId, server: withKey ? try site.client() : nil, receipts: withSecret ? receipts : nil)
        return ReceiptIntake(
            site.verifier(
                trusting: Set([Fingerprint(site.authority.rootFingerprint)].compactMap(\.self)), revocation),
            apps: [app], history: site.history, settleRevocation: settle)
    }

    /// A receipt of iOS 6 with an entry for each id.
    private func transactionReceipt(of ids: String...) -> [UInt8] {
        let entries = ids.map { id in
            let info = #"{ "transaction-id" = "\#(id)"; }"#
            let packed = String(decoding: Base64.standard.encode(Array(info.utf8)), as: UTF8.self)
            return #""purchase-info" = "\#(packed)"; "#
        }
        return Array(#"{ "signature" = "AA=="; \#(entries.joined())}"#.utf8)
    }

    private func stored(_ site: Site) async throws -> [String] {
        try await site.pool.query("select kind || ' ' || source as row from storehook.outbox order by id")
            .map { try $0.decode(0) }
    }

    @Test("is proven by Apple's signature, and its purchases are asked for and applied as Apple signs them now")
    func withKey() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            let report = try await intake(site, withSecret: true).take(
                try story.receipt(by: site.authority), from: .client)
            #expect(report.proof?.name == "signature" && report.bundleID == Site.app.bundleId)
            #expect(report.transactionIDs == [story.original] && report.queued == 0)
            #expect(report.refreshes.map(\.stored) == [2] && report.refreshes.first?.purchases == [story.original])
            // verifyReceipt is not asked where there is better.
            #expect(!site.apple.paths.contains { $0.contains("verifyReceipt") })
            #expect(try await stored(site) == ["4 3", "1 2", "1 2"])
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.transactions") == Int64(2))
            #expect(try await site.value("select outcome from storehook.records where kind = 'receipt'") == "parked")
            #expect(try await site.isWhole())
        }
    }

    @Test("that nobody vouches for asks, and proves nothing: it is not stored, and comes back with the reason")
    func unproven() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            let forged = try story.receipt(by: SimulatedAuthority.generate())
            let report = try await intake(site).take(forged, from: .client)
            #expect(report.proof == nil && report.refusal?.code == .untrustedRoot && report.outboxIDs.isEmpty)
            #expect(report.transactionIDs.isEmpty)
            // What Apple signs of those purchases is true, whichever caller asked.
            #expect(report.refreshes.map(\.stored) == [2])
            #expect(try await stored(site) == ["1 2", "1 2"])
            // While Apple is away nothing of it is kept for later: anybody can make up ids.
            site.apple.interfere { _ in TransportAnswer(status: 503) }
            await #expect(throws: AppStoreFailure.self) { _ = try await intake(site).take(forged, from: .client) }
            #expect(try await site.value("select count(*) from storehook.refresh_queue") == Int64(0))
            for junk in [Array("junk".utf8), []] {
                let refusal = try await #require(throws: ReceiptRefusal.self) {
                    _ = try await intake(site).take(junk, from: .client)
                }
                #expect(refusal.code == .malformed)
            }
        }
    }

    @Test("that Apple did not sign is refused where nobody can be asked, and where verifyReceipt does not know it")
    func refused() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            let forged = try story.receipt(by: SimulatedAuthority.generate())
            let refusal = try await #require(throws: ReceiptRefusal.self) {
                _ = try await intake(site, withKey: false).take(forged, from: .client)
            }
            #expect(refusal.code == .untrustedRoot && site.apple.paths.isEmpty)
            site.apple.answer("/verifyReceipt", with: #"{"status":21003}"#)
            let failure = try await #require(throws: AppStoreFailure.self) {
                _ = try await intake(site, withSecret: true).take(forged, from: .client)
            }
            #expect(failure.code == "receipt_not_authentic")
            #expect(try await stored(site).isEmpty && site.apple.paths == ["/verifyReceipt"])
        }
    }

    @Test("is not decided where responders say nothing for as long as somebody waits", .timeLimit(.minutes(2)))
    func responderHangs() async throws {
        try await withSite { site in
            let receipt = try Story().receipt(by: site.authority)
            let hanging = try intake(site, withKey: false, revocation: RevocationCache()) {
                try? await Task.sleep(for: .seconds(600))
            }
            let refusal = await #expect(throws: ReceiptRefusal.self) {
                _ = try await hanging.examine(receipt, until: .now + .milliseconds(20))
            }
            #expect(refusal?.code == .revocationUnknown && refusal?.isTransient == true)
        }
    }

    @Test("is not refused for good while nobody knows about its certificates' revocation, or a clock is wrong")
    func passing() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            let receipt = try story.receipt(by: site.authority)
            let ahead = try ReceiptSigner(site.authority.chain).sign(
                SimulatedReceipt(of: story.items, app: Site.app, at: story.now + 3_600_000))
            let forged = try story.receipt(by: SimulatedAuthority.generate())
            func refusal(_ bytes: [UInt8], _ revocation: RevocationCache? = nil) async throws -> ReceiptRefusal {
                try await #require(throws: ReceiptRefusal.self) {
                    _ = try await intake(site, withKey: false, revocation: revocation).take(bytes, from: .client)
                }
            }
            let unknown = try await refusal(receipt, RevocationCache())
            #expect(unknown.code == .revocationUnknown && unknown.isTransient)
            let early = try await refusal(ahead)
            #expect(early.code == .signedInFuture && early.isTransient)
            #expect(try await !refusal(forged).isTransient)
            // Told as well where its ids are asked with.
            let report = try await intake(site, revocation: RevocationCache()).take(receipt, from: .client)
            #expect(report.proof == nil && report.refusal?.isTransient == true && report.outboxIDs.isEmpty)
        }
    }

    @Test("is proven by verifyReceipt's status 0 where a shared secret is all there is, and the answer is kept whole")
    func withSecretAlone() async throws {
        try await withSite { site in
            let story = Story()
            site.apple.answer("/verifyReceipt", with: story.verified)
            let receipt = try story.receipt(by: site.authority)
            let intake = try intake(site, withKey: false, withSecret: true)
            let report = try await intake.take(receipt, from: .client)
            #expect(report.proof?.name == "signature" && report.refreshes.isEmpty && report.outboxIDs.count == 2)
            // What Apple read in it is dated by the moment of asking, for this answer does not say when Apple looked.
            #expect(try await stored(site) == ["4 3", "4 2", "5 2"])
            let kept = try await site.value(
                "select body from storehook.outbox where source = 2 and kind = 4", as: [UInt8].self)
            #expect(kept == Array(story.verified.utf8))
            // One that is not signed in a way that can be checked here, from iOS 6.
            let second = try await intake.take(transactionReceipt(of: story.original), from: .client)
            #expect(second.proof?.name == "verify_receipt" && second.transactionIDs == [story.original])
            try await site.workOff()
            let books = try await site.outbox.conservation(audit: true)
            // The same answer twice is one.
            #expect(books.isWhole && books.parked == 3 && books.duplicate == 1 && books.applied == 1)
            #expect(try await site.value("select count(*) from storehook.purchase_facts") == Int64(1))
        }
    }

    @Test("that verifyReceipt vouches for proves what Apple read in it, and nobody is asked about what was read here")
    func appleReads() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            site.apple.answer("/verifyReceipt", with: story.verified)
            // Another customer's purchase stands before the customer's own.
            let receipt = transactionReceipt(of: "666", story.original)
            #expect(try Receipt(receipt).transactionIds == ["666"])
            let intake = try intake(site, withSecret: true)
            let report = try await intake.take(receipt, from: .client)
            #expect(report.proof?.name == "verify_receipt" && report.transactionIDs == [story.original])
            #expect(report.refreshes.count == 1 && report.refreshes.first?.purchases == [story.original])
            // Nor by a worker, where only verifyReceipt answers just now.
            let asked = site.apple.paths.count
            site.apple.interfere { $0 > asked + 1 ? TransportAnswer(status: 503) : nil }
            #expect(try await intake.take(receipt, from: .client).queued == 1)
            site.apple.interfere(nil)
            #expect(
                try await site.value(
                    """
                    select string_agg(r.original_transaction_id, ' ')
                      from storehook.refresh_queue q join storehook.refreshes r using (id)
                    """) == story.original)
            #expect(!site.apple.paths.contains { $0.contains("666") })
        }
    }

    @Test("that Apple signed proves what it lists, and with it what verifyReceipt lists beyond that")
    func listedSince() async throws {
        try await withSite { site in
            let story = Story()
            site.apple.answer("/verifyReceipt", with: story.verified.replacing(story.original, with: "777"))
            let report = try await intake(site, withKey: false, withSecret: true).take(
                try story.receipt(by: site.authority), from: .client)
            #expect(report.proof?.name == "signature" && report.transactionIDs == [story.original, "777"])
        }
    }

    @Test("that Apple signed is kept although verifyReceipt gives no good answer, and the report tells what went wrong")
    func signatureAlone() async throws {
        try await withSite { site in
            let story = Story()
            let receipt = try story.receipt(by: site.authority)
            let intake = try intake(site, withKey: false, withSecret: true)
            for (answer, code) in [
                (#"{"status":21004}"#, "shared_secret_mismatch"), (#"{"status":21005}"#, "receipt_server_unavailable"),
                ("{}", "unreadable_answer"),
            ] {
                site.apple.answer("/verifyReceipt", with: answer)
                let report = try await intake.take(receipt, from: .client)
                #expect(report.proof?.name == "signature" && report.transactionIDs == [story.original])
                #expect(report.outboxIDs.count == 1 && report.trouble?.hasPrefix(code) == true, "\(code)")
            }
            #expect(try await stored(site) == ["4 3", "4 3", "4 3"])
        }
    }

    @Test("about which verifyReceipt says more than can be kept is not called malformed")
    func longAnswer() async throws {
        try await withSite { site in
            let story = Story()
            let padding = String(repeating: "x", count: 4_194_304)
            site.apple.answer("/verifyReceipt", with: #"{"padding":"\#(padding)",\#(story.verified.dropFirst())"#)
            let intake = try intake(site, withKey: false, withSecret: true)
            let forged = try story.receipt(by: SimulatedAuthority.generate())
            await #expect(throws: UnusableAnswer.tooLong) { _ = try await intake.take(forged, from: .client) }
            #expect(try await stored(site).isEmpty)
            // What Apple signed needs no answer.
            let report = try await intake.take(try story.receipt(by: site.authority), from: .client)
            #expect(report.outboxIDs.count == 1 && report.trouble?.hasPrefix("answer_too_long: ") == true)
        }
    }

    @Test("of another app or environment is refused although Apple signed it, and verifyReceipt is not asked")
    func foreign() async throws {
        try await withSite { site in
            let story = Story()
            site.apple.answer("/verifyReceipt", with: story.verified)
            for (place, value, code) in [
                (0, "ProductionSandbox", "wrong_environment"), (1, "com.other", "wrong_bundle"),
            ] {
                var receipt = SimulatedReceipt(of: story.items, app: Site.app, at: story.now - 60_000)
                receipt.attributes[place] = .text(place == 0 ? 0 : 2, value)
                let bytes = try ReceiptSigner(site.authority.chain).sign(receipt)
                let refusal = try await #require(throws: ReceiptRefusal.self) {
                    _ = try await intake(site, withSecret: true).take(bytes, from: .client, of: Site.app.bundleId)
                }
                #expect(refusal.code.rawValue == code)
            }
            #expect(try await stored(site).isEmpty && site.apple.paths.isEmpty)
        }
    }

    @Test("is kept while Apple is away, and its purchases are asked for by whoever comes next")
    func later() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            site.apple.interfere { _ in TransportAnswer(status: 503) }
            let receipt = try story.receipt(by: site.authority)
            for _ in 0..<2 {
                let report = try await intake(site).take(receipt, from: .client)
                #expect(report.queued == 1 && report.refreshes.isEmpty)
            }
            site.apple.interfere(nil)
            let duty = try site.refreshing()
            _ = try await duty.step()
            #expect(try await site.value("select outcome from storehook.refreshes") == "refreshed")
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.transactions") == Int64(2))
            #expect(try await site.isWhole())
        }
    }

    @Test(
        "is accepted with its purchases queued, also where the key or the way to Apple has to be mended first",
        arguments: [(401, "unauthorized"), (403, "unexpected_status"), (503, "unexpected_status")])
    func mended(_ status: Int, _ code: String) async throws {
        try await withSite { site in
            let story = Story()
            site.apple.interfere { _ in TransportAnswer(status: status) }
            let report = try await intake(site).take(try story.receipt(by: site.authority), from: .client)
            #expect(report.proof?.name == "signature" && report.outboxIDs.count == 1 && report.queued == 1)
            #expect(report.trouble?.hasPrefix(code) == true, "\(report.trouble ?? "")")
            #expect(try await site.value("select count(*) from storehook.refresh_queue") == Int64(1))
            // Nothing of what anybody can make up.
            let forged = try story.receipt(by: SimulatedAuthority.generate())
            let failure = try await #require(throws: AppStoreFailure.self) {
                _ = try await intake(site).take(forged, from: .client)
            }
            #expect(failure.code == code)
            #expect(try await site.value("select count(*) from storehook.refresh_queue") == Int64(1))
        }
    }

    @Test("with purchases that Apple does not know is kept, and the others are asked for")
    func unknown() async throws {
        try await withSite { site in
            let story = Story()
            story.answers(site)
            var receipt = SimulatedReceipt(of: story.items, app: Site.app, at: story.now - 60_000)
            receipt.attributes.insert(.purchase([.text(1703, "404"), .text(1705, "404")]), at: 0)
            let bytes = try ReceiptSigner(site.authority.chain).sign(receipt)
            let report = try await intake(site).take(bytes, from: .client)
            #expect(report.transactionIDs == ["404", story.original] && report.refreshes.map(\.stored) == [2])
            #expect(report.queued == 0 && report.trouble == nil)
        }
    }
}
