import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("Apple's own library, and ours", .serialized)
struct AppleLibraryTests {
    /// Whether what Apple's library read in a record is what we read in it, field by field. It is signed anew for each who asks.
    private func expectSame(
        _ payload: (some Sendable)?, _ theirs: JSONObject?, at place: SourceLocation = #_sourceLocation
    ) throws {
        let payload = try #require(payload, sourceLocation: place)
        let theirs = try #require(theirs, sourceLocation: place).members(
            except: ["signedDate", "receiptCreationDate", "deviceVerification", "deviceVerificationNonce"])
        var ours: [String: String] = [:]
        for child in Mirror(reflecting: payload).children {
            if let label = child.label, let text = Self.json(child.value) { ours[label] = text }
        }
        #expect(theirs.count >= 6, sourceLocation: place)
        for (name, text) in theirs {
            #expect(ours[name] == String(decoding: text, as: UTF8.self), "\(name)", sourceLocation: place)
        }
    }

    /// A field of ours as Apple writes it.
    private static func json(_ value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.flatMap { json($0.value) } }
        switch value {
        case let value as Timestamp: return "\(value.millisecondsSince1970)"
        case let value as any AppleCode: return raw(value)
        case let value as UniqueIdentifier: return "\"\(value)\""
        case let value as String: return "\"\(value)\""
        case let value as any BinaryInteger: return "\(value)"
        case let value as Bool: return "\(value)"
        default: return nil
        }
    }

    private static func raw(_ code: some AppleCode) -> String? { json(code.rawValue) }

    /// Receipts of customers who bought nothing, one thing and more, in every form of container that Apple's library reads.
    private static func receipts(_ count: Int) throws -> [[UInt8]] {
        var signer = ReceiptSigner(try SimulatedAuthority.generate().chain)
        var random = SeededGenerator(seed: 11)
        return try (0..<count).map { number in
            var customer = SimulatedSubscriber(app: .example, lane: number + 1, seed: UInt64(number))
            let start: Milliseconds = 1_769_904_000_000
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let line = customer.buy(.premiumMonthly, at: start + Milliseconds.random(in: 0...9_999, using: &random))
                if Bool.random(using: &random) { customer.renew(line) }
            }
            signer.digest = .sha256
            signer.signsAttributes = Bool.random(using: &random)
            return try signer.sign(
                SimulatedReceipt(
                    of: customer.allItems.map { customer[$0] }, app: .example, at: start))
        }
    }

    /// A receipt of iOS 6, as far as anybody looks at it.
    private static let transactionReceipts: [String] = {
        let info = #"{ "original-transaction-id" = "5"; "transaction-id" = "5"; }"#
        let packed = String(decoding: Base64.standard.encode(Array(info.utf8)), as: UTF8.self)
        let text = #"{ "signature" = "AA=="; "purchase-info" = "\#(packed)"; }"#
        return [String(decoding: Base64.standard.encode(Array(text.utf8)), as: UTF8.self)]
    }()

    @Test("drive the stand-in through every call, believe what it signs, and read the same in it")
    func everyCall() async throws {
        let library = try await pythonPackage("app-store-server-library")
        let receipts = try Self.receipts(20)
        try await RunningStandIn.with { shop in
            let given: [String: Any] = [
                "url": shop.url, "issuerId": shop.access.issuerId, "keyId": shop.access.keyId,
                "privateKeyFile": shop.access.privateKeyFile, "rootFile": shop.directory + "/root.cer",
                "bundleId": "com.example.storehook", "appAppleId": 1_234_567_890,
                "receipts": receipts.map { String(decoding: Base64.standard.encode($0), as: UTF8.self) },
                "transactionReceipts": Self.transactionReceipts,
            ]
            let argument = String(decoding: try JSONSerialization.data(withJSONObject: given), as: UTF8.self)
            let script = packageRoot.appending(path: "Tests/StandInTests/apple_library.py").path
            let output = try await ChildProgram.run(library + "/bin/python", [script, argument])
            let read = try #require(JSONDocument(Array(output.utf8)).object, "\(output)")
            let original = try #require(read.string("original"))

            // Apple's takes the first id of the first purchase, ours an id of each: the first of those is of the same purchase.
            let asked = try #require(read.strings("receipts"))
            #expect(asked.count == receipts.count)
            for (theirs, bytes) in zip(asked, receipts) {
                let contents = try #require(try Receipt(bytes).contents)
                #expect(theirs == contents.purchases.first?.transactionId ?? "")
            }
            let told = try Self.transactionReceipts.map { try Receipt(Array($0.utf8)).transactionIds }
            #expect(read.strings("transactionReceipts") == ["5"] && told == [["5"]])

            let client = shop.client
            let history = try await client.ask(.transactionHistory(original))
            #expect(history.environment == .sandbox && history.value.refused.isEmpty)
            let ids = history.value.transactions.map(\.payload.transactionId)
            #expect(Set(ids).isSuperset(of: try #require(read.strings("history"))))
            let info = try await client.ask(.transactionInfo(original), in: .sandbox).value.payload
            #expect(info.transactionId == original)
            let statuses = try await client.ask(.subscriptionStatuses(original), in: .sandbox).value
            #expect(statuses.groups.count == 1 && statuses.refused.isEmpty)
            let line = try #require(statuses.groups.first?.lastTransactions.first)
            #expect(line.status?.rawValue == read.integer("status"))
            try expectSame(line.transaction?.payload, read.object("period"))
            try expectSame(line.renewal?.payload, read.object("renewal"))
            let coins = try #require(read.string("coins"))
            let purchase = try await client.ask(.transactionInfo(coins), in: .sandbox).value.payload
            try expectSame(purchase, read.object("purchase"))
            let download = try await client.ask(.appTransactionInfo(original), in: .sandbox).value.payload
            try expectSame(download, read.object("download"))
            let refunds = try await client.ask(.refundHistory(original), in: .sandbox).value
            #expect(refunds.transactions.map(\.payload.transactionId) == read.strings("refunds"))
            let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
            var pages = client.pages(
                .notificationHistory(from: now.adding(days: -1), to: now.adding(days: 1)), in: .sandbox)
            var listed: Set<String> = []
            while let page = try await pages.next() {
                #expect(page.value.refused.isEmpty)
                listed.formUnion(page.value.notifications.map(\.record.payload.payload.notificationUUID))
            }
            #expect(listed.isSuperset(of: try #require(read.strings("notifications"))))
            #expect(
                Set(try #require(read.strings("types"))) == [
                    "SUBSCRIBED", "ONE_TIME_CHARGE", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "REFUND", "TEST",
                ])
        }
    }
}
