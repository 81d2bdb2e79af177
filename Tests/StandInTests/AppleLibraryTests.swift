import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Foundation
import StandIn
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
            #expect(info.price == read.integer("price"))
            let statuses = try await client.ask(SubscriptionStatusesRequest(original), in: .sandbox).value
            #expect(statuses.groups.count == 1 && statuses.refused.isEmpty)
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
