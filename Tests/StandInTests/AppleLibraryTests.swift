import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Foundation
import StandIn
import StandInSupport
import TestSupport
import Testing

@Suite("Apple's own library, and ours", .serialized)
struct AppleLibraryTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Runs a program to its end, and shows what it said if it failed.
    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        let child = try ChildProgram(program, arguments, environment: ProcessInfo.processInfo.environment)
        let ending = await child.end()
        let (output, errors) = (child.output, child.errors)
        await child.discard()
        #expect(ending == .exited(0), "\(errors.suffix(3000))")
        return output
    }

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

    @Test("drive the stand-in through every call, believe what it signs, and read the same in it")
    func everyCall() async throws {
        let library = Self.root.appending(path: ".build/apple-library").path
        _ = try await run(Self.root.appending(path: "deploy/lib/apple-library").path, [library])
        try await RunningStandIn.with { shop in
            let given: [String: Any] = [
                "url": shop.url, "issuerId": shop.access.issuerId, "keyId": shop.access.keyId,
                "privateKeyFile": shop.access.privateKeyFile, "rootFile": shop.directory + "/root.pem",
                "bundleId": "com.example.storehook", "appAppleId": 1_234_567_890,
            ]
            let argument = String(decoding: try JSONSerialization.data(withJSONObject: given), as: UTF8.self)
            let script = Self.root.appending(path: "Tests/StandInTests/apple_library.py").path
            let output = try await run(library + "/bin/python", [script, argument])
            let read = try #require(JSONDocument(Array(output.utf8)).object, "\(output)")
            let original = try #require(read.string("original"))

            let client = shop.client
            let history = try await client.ask(TransactionHistoryRequest(original))
            #expect(history.environment == .sandbox && history.value.refused.isEmpty)
            let ids = history.value.transactions.map(\.payload.transactionId)
            #expect(Set(ids).isSuperset(of: try #require(read.strings("history"))))
            let info = try await client.ask(TransactionInfoRequest(original), in: .sandbox).value.payload
            #expect(info.transactionId == original)
            let statuses = try await client.ask(SubscriptionStatusesRequest(original), in: .sandbox).value
            #expect(statuses.groups.count == 1 && statuses.refused.isEmpty)
            let line = try #require(statuses.groups.first?.lastTransactions.first)
            #expect(line.status?.rawValue == read.integer("status"))
            try expectSame(line.transaction?.payload, read.object("period"))
            try expectSame(line.renewal?.payload, read.object("renewal"))
            let coins = try #require(read.string("coins"))
            let purchase = try await client.ask(TransactionInfoRequest(coins), in: .sandbox).value.payload
            try expectSame(purchase, read.object("purchase"))
            let download = try await client.ask(AppTransactionInfoRequest(original), in: .sandbox).value.payload
            try expectSame(download, read.object("download"))
            let refunds = try await client.ask(RefundHistoryRequest(original), in: .sandbox).value
            #expect(refunds.transactions.map(\.payload.transactionId) == read.strings("refunds"))
            let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
            var pages = client.pages(
                NotificationHistoryRequest(from: now.adding(days: -1), to: now.adding(days: 1)), in: .sandbox)
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
