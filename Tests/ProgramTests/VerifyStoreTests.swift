import AppStorePayloads
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("storehook verify --store")
struct VerifyStoreTests {
    /// A purchase, as a notification and as its records by themselves.
    private func purchase(_ site: Site) throws -> (
        id: String, notification: String, transaction: String, renewal: String
    ) {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        customer.buy(.basicMonthly, at: Site.now)
        let told = customer.takeNotifications()[0]
        let (transaction, renewal) = (try #require(told.transaction), try #require(told.renewal))
        return (
            transaction.originalTransactionId, told.signed(by: site.authority), site.authority.sign(transaction.json),
            site.authority.sign(renewal.json)
        )
    }

    /// A receipt of that purchase, in base64.
    private func receipt(_ site: Site, by authority: SimulatedAuthority? = nil, grown: Int = 0) throws -> String {
        String(decoding: Base64.standard.encode(try receiptBytes(site, by: authority, grown: grown)), as: UTF8.self)
    }

    /// - Parameter grown: how many bytes of an unknown attribute are in it.
    private func receiptBytes(
        _ site: Site, by authority: SimulatedAuthority? = nil, grown: Int = 0
    ) throws -> [UInt8] {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        customer.buy(.basicMonthly, at: Site.now)
        var receipt = SimulatedReceipt(
            of: customer.allItems.map { customer[$0] }, app: Site.app, at: Site.now + 1000)
        receipt.attributes.append(.init(9999, [UInt8](repeating: 0, count: grown)))
        return try ReceiptSigner((authority ?? site.authority).chain).sign(receipt)
    }

    private func stored(_ outcome: Outcome) throws -> Int64 {
        #expect(outcome.ending == .exited(0), "\(outcome.errors)\(outcome.output)")
        let answer = try #require(try outcome.json() as? [String: Any])
        let stored = try #require(answer["stored"] as? [String: Any])
        #expect(stored["source"] as? String == "operator")
        return Int64(try #require(stored["outbox_id"] as? Int))
    }

    @Test("stores what verifies, of each kind, for workers to apply, and tells which row it is")
    func stores() async throws {
        try await withSite { site in
            let purchase = try purchase(site)
            let transaction = try await site.run(
                "verify", "--store", "--kind", "transaction", input: purchase.transaction + "\n")
            var ids = [try stored(transaction)]
            // What is printed without --store is printed as well.
            let plain = try await site.run("verify", "--kind", "transaction", input: purchase.transaction)
            let head = plain.output.dropLast("}\n".count)
            #expect(transaction.output == head + #","stored":{"outbox_id":\#(ids[0]),"source":"operator"}}"# + "\n")
            ids.append(
                try stored(try await site.run("verify", "--store", "--kind", "renewal", input: purchase.renewal)))
            ids.append(try stored(try await site.run("verify", "--store", input: purchase.notification)))
            let app = """
                {"bundleId":"\(Site.app.bundleId)","receiptType":"Sandbox","receiptCreationDate":\(Site.now)}
                """
            ids.append(
                try stored(
                    try await site.run(
                        "verify", "--store", "--kind", "app-transaction", input: site.authority.sign(app))))
            let verified = try await site.run("verify", "--kind", "app_transaction", input: site.authority.sign(app))
            #expect(verified.ending == .exited(0) && verified.output.contains(#""kind":"app_transaction""#))
            let receipt = try await site.run("verify", "--store", "--kind", "receipt", input: try receipt(site))
            ids.append(try stored(receipt))
            let said = try #require(try receipt.json() as? [String: Any])
            #expect(said["valid"] as? Bool == true)
            let contents = try #require(said["payload"] as? [String: Any])
            #expect(contents["bundle_id"] as? String == Site.app.bundleId)
            let bought = try #require(contents["in_app"] as? [[String: Any]])
            #expect(bought.first?["original_transaction_id"] as? String == purchase.id)
            // The same again is a repeat.
            _ = try stored(
                try await site.run("verify", "--store", "--kind", "transaction", input: purchase.transaction))
            #expect(ids == ids.sorted() && Set(ids).count == 5)

            try await site.with(["work"]) { _ in try await site.untilDone() }
            let books = try await site.outbox.conservation()
            #expect(books.applied == 4 && books.parked == 1 && books.duplicate == 1 && books.dead == 0)
            #expect(books.missing == 0 && books.doubled == 0)
            let told = try await site.run("subscription", purchase.id, "--format", "json")
            let answer = try #require(try told.json() as? [String: Any])
            let timeline = try #require(answer["timeline"] as? [[String: Any]])
            #expect(Set(timeline.compactMap { $0["kind"] as? String }) == ["notification", "transaction", "renewal"])
            #expect(timeline.allSatisfy { $0["source"] as? String == "operator" })
            let table = try await site.run("subscription", purchase.id, "--format", "table").output
            #expect(table.contains("(transaction stored by hand)"), "\(table)")
            #expect(table.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(table)")
            #expect(try await site.run("rebuild", "--check").ending == .exited(0))
        }
    }

    @Test("refuses with a code and status 1 what does not verify, and stores nothing")
    func refuses() async throws {
        try await withSite { site in
            let purchase = try purchase(site)
            let foreign = try receipt(site, by: SimulatedAuthority.generate())
            let cases: [(String, Substring, String)] = [
                ("transaction", purchase.transaction.dropLast(8) + "AAAAAAAA", "invalid_signature"),
                ("renewal", purchase.transaction[...], "malformed_payload"),
                ("transaction", purchase.renewal[...], "malformed_payload"),
                ("transaction", purchase.notification[...], "malformed_payload"),
                ("notification", purchase.transaction[...], "malformed_payload"),
                ("notification", "junk"[...], "malformed"), ("receipt", "MIIjunk"[...], "malformed"),
                ("receipt", ""[...], "malformed"),
                ("receipt", foreign[...], "untrusted_root"),
            ]
            for (kind, text, code) in cases {
                let outcome = try await site.run("verify", "--store", "--kind", kind, input: String(text))
                #expect(outcome.ending == .exited(1))
                let answer = try #require(try outcome.json() as? [String: Any])
                #expect(answer["valid"] as? Bool == false && answer["code"] as? String == code, "\(outcome.output)")
            }
            #expect(try await site.outbox.conservation().received == 0)
        }
    }

    @Test("keeps a receipt that is no text to its last byte, and a dead letter's bytes are shown as they are")
    func binary() async throws {
        try await withSite { site in
            let bytes = try receiptBytes(site)
            let file = FileManager.default.temporaryDirectory.appending(path: "receipt-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(bytes).write(to: file)
            _ = try stored(try await site.run("verify", "--store", "--kind", "receipt", file.path))
            #expect(try await site.value("select body from storehook.outbox", as: [UInt8].self) == bytes)
            try await site.outbox.store([bytes])
            try await site.with(["work"]) { _ in try await site.untilDone() }
            let letter = try #require(try await site.outbox.deadLetters(DeadLetterFilter(), limit: 2).first)
            let raw = try await site.run("dead-letters", "show", "\(letter.id)", "--raw")
            #expect(raw.outputBytes == bytes)
        }
    }

    @Test("takes a receipt of 4 MiB, and nothing longer")
    func sizes() async throws {
        try await withSite { site in
            // Three bytes of a receipt are four of its text.
            let largest = try receipt(site, grown: 3_140_000)
            #expect(largest.utf8.count > (4 << 20) - 10_000 && largest.utf8.count <= 4 << 20)
            let file = FileManager.default.temporaryDirectory.appending(path: "receipt-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let tooLong = String(repeating: "A", count: (4 << 20) + 1)
            for (text, ending) in [(largest + "\n", ChildProgram.Ending.exited(0)), (tooLong, .exited(2))] {
                try text.write(to: file, atomically: true, encoding: .utf8)
                #expect(try await site.run("verify", "--store", "--kind", "receipt", file.path).ending == ending)
            }
            #expect(
                try await site.value("select max(octet_length(body)) from storehook.outbox", as: Int32.self)
                    == Int32(largest.utf8.count))
        }
    }
}
