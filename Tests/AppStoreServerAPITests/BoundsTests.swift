import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import Simulation
import Testing

@testable import AppStoreServerAPI

@Suite("What is taken of one question's answer")
struct BoundsTests {
    private func fault(_ answer: String, _ ask: (AppStoreClient) async throws -> Void) async throws -> AppStoreFailure {
        let shop = try await Shop { _ in [.answer(200, answer)] }
        let failure = try await #require(throws: AppStoreFailure.self) { try await ask(shop.client) }
        // Asking again would be answered alike.
        #expect(shop.transport.asked.count == 1 && shop.counts.ended == [failure.code])
        return failure
    }

    /// Asks each call that has a list, with so many records in it.
    private func faults(_ count: Int, _ record: String) async throws -> [AppStoreFailure] {
        let list = Array(repeating: #""\#(record)""#, count: count).joined(separator: ",")
        let transactions = #"{"hasMore":false,"status":0,"signedTransactions":[\#(list)]}"#
        let notifications = Array(repeating: #"{"signedPayload":"\#(record)"}"#, count: count).joined(separator: ",")
        let lines = Array(repeating: #"{"signedTransactionInfo":"\#(record)"}"#, count: count / 2).joined(
            separator: ",")
        let groups = Array(repeating: #"{"lastTransactions":[\#(lines)]}"#, count: 2).joined(separator: ",")
        return [
            try await fault(transactions) { _ = try await $0.ask(.transactionHistory("1"), in: .production) },
            try await fault(transactions) { _ = try await $0.ask(.refundHistory("1"), in: .production) },
            try await fault(transactions) { _ = try await $0.ask(.orderLookup("M"), in: .production) },
            try await fault(#"{"data":[\#(groups)]}"#) {
                _ = try await $0.ask(.subscriptionStatuses("1"), in: .production)
            },
            try await fault(#"{"hasMore":false,"notificationHistory":[\#(notifications)]}"#) {
                let now = Shop.now
                _ = try await $0.ask(.notificationHistory(from: now.adding(days: -1), to: now), in: .production)
            },
        ]
    }

    @Test("is a thousand records, whatever they are")
    func records() async throws {
        for failure in try await faults(1004, "a.b.c") {
            #expect(failure.code == "unreadable_answer" && failure.message.contains("more than 1000 records"))
        }
        let shop = try await Shop { apple in
            [.answer(200, apple.page(Array(repeating: "a.b.c", count: 999) + [apple.transaction()]))]
        }
        let page = try await shop.client.ask(.transactionHistory("1"), in: .production).value
        #expect(page.transactions.count == 1 && page.refused.count == 999)
    }

    @Test("is so many values, before they take memory, where Apple reports an error too")
    func values() async throws {
        let million = Array(repeating: "\"\"", count: 1_000_000).joined(separator: ",")
        let shapes = [
            #"{"hasMore":false,"signedTransactions":[\#(million)]}"#, #"{"hasMore":false,"more":[\#(million)]}"#,
            #"{"hasMore":false,"more":["# + String(repeating: "[", count: 1_000_000),
            "{\"a\":" + String(repeating: "{\"a\":", count: 1_000_000),
        ]
        for shape in shapes {
            let failure = try await fault(shape) { _ = try await $0.ask(.transactionHistory("1"), in: .production) }
            #expect(failure.code == "unreadable_answer" && failure.message.contains("values"), "\(failure.message)")
            let shop = try await Shop { _ in [.answer(400, shape)] }
            let other = try await #require(throws: AppStoreFailure.self) {
                _ = try await shop.client.ask(.transactionHistory("1"), in: .production)
            }
            #expect(other.code == "unreadable_answer" && shop.transport.asked.count == 1)
        }
    }

    @Test("is read with an unsigned text up to the text's bound, and refused with a longer one")
    func texts() async throws {
        let now = Shop.now
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        // Each asks for an answer with the member, beside the rest of what it has to have.
        let calls: [(member: TextMember, ask: @Sendable (AppStoreClient) async throws -> Void, rest: String)] = [
            (
                .testNotificationToken, { _ = try await $0.ask(.testNotification, in: .sandbox) }, ""
            ),
            (
                .paginationToken,
                { _ = try await $0.ask(.notificationHistory(from: now.adding(days: -1), to: now), in: .sandbox) },
                #","hasMore":true,"notificationHistory":[]"#
            ),
            (
                .revision, { _ = try await $0.ask(.transactionHistory("1"), in: .sandbox) },
                #","hasMore":true,"signedTransactions":[]"#
            ),
            (.environment, { _ = try await $0.ask(.subscriptionStatuses("1"), in: .sandbox) }, ""),
            (.bundleId, { _ = try await $0.ask(.refundHistory("1"), in: .sandbox) }, #","hasMore":false"#),
        ]
        for (member, ask, rest) in calls {
            let failure = try await fault(#"{"\#(member.name)":"\#(text(member.most + 1))"\#(rest)}"#, ask)
            #expect(failure.code == "unreadable_answer")
            #expect(
                failure.message.contains("\(member.name) is longer than \(member.most) bytes"), "\(failure.message)")
            let shop = try await Shop { _ in
                [.answer(200, #"{"\#(member.name)":"\#(text(member.most))"\#(rest)}"#)]
            }
            try await ask(shop.client)
        }
        // A signed record is refused by its length, before it is verified.
        let records: [(member: TextMember, ask: @Sendable (AppStoreClient) async throws -> Void)] = [
            (.signedPayload, { _ = try await $0.ask(.testNotificationStatus("t"), in: .sandbox) }),
            (.signedTransactionInfo, { _ = try await $0.ask(.transactionInfo("1"), in: .sandbox) }),
            (.signedAppTransactionInfo, { _ = try await $0.ask(.appTransactionInfo("1"), in: .sandbox) }),
        ]
        for (member, ask) in records {
            let failure = try await fault(#"{"\#(member.name)":"\#(text(member.most + 1))"}"#, ask)
            #expect(failure.code == "unreadable_answer")
            #expect(
                failure.message.contains("\(member.name) is longer than \(member.most) bytes"), "\(failure.message)")
        }
    }

    @Test("is so many pages and bytes of a list, though each of them is good")
    func pages() async throws {
        for endless in [false, true] {
            let shop = try await Shop { apple in
                let record = apple.transaction()
                return (1...501).map { number in
                    .answer(200, apple.page([record], revision: "r\(number)", hasMore: endless || number < 500))
                }
            }
            var pages = shop.client.pages(.transactionHistory("1"), in: .production)
            var count = 0
            let failure = await Result { while try await pages.next() != nil { count += 1 } }
            #expect(shop.transport.asked.count == 500)
            switch failure {
            case .success: #expect(!endless && count == 500)
            case .failure(let error):
                #expect(endless && count == 499 && (error as? AppStoreFailure)?.code == "unreadable_answer")
                #expect("\(error)".contains("goes on after 500 pages"))
            }
        }
        // Unknown fields: each page may bring some.
        let filling = String(repeating: "x", count: 7 << 20)
        let long = try await Shop { _ in
            (1...20).map {
                .answer(200, #"{"hasMore":true,"signedTransactions":[],"revision":"r\#($0)","a":"\#(filling)"}"#)
            }
        }
        var pages = long.client.pages(.refundHistory("1"), in: .production)
        let failure = await #expect(throws: AppStoreFailure.self) { while try await pages.next() != nil {} }
        #expect(failure?.code == "unreadable_answer" && failure?.message.contains("more than 128 MiB") == true)
        #expect(long.transport.asked.count == 19)
    }
}

@Suite("A transaction that is asked for by its id")
struct OneTransactionTests {
    /// What Apple signs of one.
    private static func record(_ apple: Shop.Signing, _ id: String, of original: String, item: String?) -> String {
        let item = item.map { #","webOrderLineItemId":"\#($0)""# } ?? ""
        return apple.authority.sign(
            """
            {"transactionId":"\(id)","originalTransactionId":"\(original)"\(item),"bundleId":"\(Shop.app.bundleId)",\
            "environment":"Production","productId":"com.example.pro","type":"Auto-Renewable Subscription",\
            "signedDate":1769900000000}
            """)
    }

    @Test(
        "is refused where it is another one; a copy of the same purchase has another id and is taken",
        arguments: [
            // Asked for, known of it, answered with, and whether that is it.
            ("5", nil, nil, "5", "1", "9", true), ("5", nil, nil, "6", "1", "9", false),
            ("5", nil, nil, "6", "5", nil, true), ("5", "1", nil, "5", "1", nil, true),
            ("5", "1", "9", "7", "1", "9", true), ("5", "1", "9", "7", "1", "8", false),
            ("5", "1", "9", "7", "1", nil, false), ("5", "1", "9", "7", "2", "9", false),
            ("5", "1", "9", "5", "2", "9", false), ("5", "1", nil, "7", "1", "9", false),
            ("1", "1", nil, "7", "1", "9", false),
        ] as [(String, String?, String?, String, String, String?, Bool)])
    func another(
        asked: String, original: String?, item: String?, id: String, of answered: String, lineItem: String?, isIt: Bool
    ) async throws {
        let shop = try await Shop { apple in
            [
                .answer(
                    200,
                    #"{"signedTransactionInfo":"\#(Self.record(apple, id, of: answered, item: lineItem))"}"#)
            ]
        }
        let request = ServerRequest.transactionInfo(asked, of: original, lineItem: item)
        let result = await Result { try await shop.client.ask(request, in: .production).value.payload.transactionId }
        switch result {
        case .success(let found): #expect(isIt && found == id)
        case .failure(let error):
            #expect(!isIt && (error as? AppStoreFailure)?.code == "mismatched_parts")
            #expect(shop.counts.ended == ["mismatched_parts"])
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
