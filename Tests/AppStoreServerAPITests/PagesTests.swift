import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("A list of Apple's")
struct PagesTests {
    @Test("is asked for page by page, each by the revision of the one before, where the first was found")
    func revisions() async throws {
        let shop = try await Shop { apple in
            [
                .code(4_040_010),
                .answer(200, apple.page([apple.transaction("1", in: "Sandbox")], revision: "a", hasMore: true)),
                .answer(200, apple.page([apple.transaction("2", in: "Sandbox")], revision: "b", hasMore: true)),
                .answer(200, apple.page([], revision: "c")),
            ]
        }
        var pages = shop.client.pages(.transactionHistory("1"))
        var ids: [[String]] = []
        while let page = try await pages.next() { ids.append(page.value.transactions.map(\.payload.transactionId)) }
        #expect(ids == [["1"], ["2"], []])
        #expect(shop.transport.asked.map(\.environment) == [.production, .sandbox, .sandbox, .sandbox])
        #expect(
            shop.transport.asked.dropFirst().map {
                String($0.request.url.split(separator: "?").dropFirst().first ?? "")
            }
                == ["", "revision=a", "revision=b"])
        #expect(try await pages.next() == nil)
    }

    @Test("whose token for the next page has expired is begun again, and given up after some times")
    func expired() async throws {
        let shop = try await Shop { apple in
            let first = "{\"notificationHistory\":[{\"signedPayload\":\"\(apple.notification())\"}],"
            let more = first + #""hasMore":true,"paginationToken":"p"}"#
            return [
                .answer(200, more), .code(4_000_017), .answer(200, more), .answer(200, first + "\"hasMore\":false}"),
            ]
        }
        let request = ServerRequest.notificationHistory(from: Shop.now.adding(days: -1), to: Shop.now)
        var pages = shop.client.pages(request, in: .production)
        var count = 0
        while let page = try await pages.next() { count += page.value.notifications.count }
        #expect(count == 3 && pages.restarts == 1)
        let tokens = shop.transport.asked.map { $0.request.url.hasSuffix("?paginationToken=p") }
        #expect(tokens == [false, true, false, true])

        let hopeless = try await Shop { _ in Array(repeating: .code(4_000_017), count: 9) }
        var others = hopeless.client.pages(request, in: .production)
        let failure = await #expect(throws: AppStoreFailure.self) { _ = try await others.next() }
        #expect(failure?.reason == .apple(.paginationTokenExpired))
        #expect(hopeless.transport.asked.count == 4)
    }

    @Test(
        "that does not say whether it goes on is not taken for its end, and neither is one without its records that goes on",
        arguments: [
            "", "{}", #"{"hasMore":"false"}"#, #"{"hasMore":null}"#, #"{"hasMore":0}"#,
            #"{"notificationHistory":[],"signedTransactions":[]}"#,
            #"{"hasMore":true,"paginationToken":"p","revision":"r"}"#,
        ])
    func silent(_ body: String) async throws {
        let shop = try await Shop { _ in Array(repeating: .answer(200, body), count: 3) }
        var notifications = shop.client.pages(
            .notificationHistory(from: Shop.now.adding(days: -1), to: Shop.now), in: .production)
        var transactions = shop.client.pages(.transactionHistory("1"), in: .production)
        var refunds = shop.client.pages(.refundHistory("1"), in: .production)
        let failures = [
            await #expect(throws: AppStoreFailure.self) { _ = try await notifications.next() },
            await #expect(throws: AppStoreFailure.self) { _ = try await transactions.next() },
            await #expect(throws: AppStoreFailure.self) { _ = try await refunds.next() },
        ]
        #expect(failures.map { $0?.code } == Array(repeating: "unreadable_answer", count: 3))
    }

    @Test("may leave its records out where it ends")
    func empty() async throws {
        let shop = try await Shop { _ in Array(repeating: .answer(200, #"{"hasMore":false}"#), count: 2) }
        let request = ServerRequest.notificationHistory(from: Shop.now.adding(days: -1), to: Shop.now)
        #expect(try await shop.client.ask(request, in: .production).value.notifications.isEmpty)
        #expect(try await shop.client.ask(.refundHistory("1"), in: .production).value.transactions.isEmpty)
    }

    @Test("that says there is more and not where is not asked for for ever")
    func noToken() async throws {
        for next in ["", #","revision":"a""#] {
            let shop = try await Shop { _ in
                Array(repeating: .answer(200, "{\"signedTransactions\":[],\"hasMore\":true\(next)}"), count: 5)
            }
            var request = ServerRequest.refundHistory("1")
            request.page = "a"
            var pages = shop.client.pages(request, in: .production)
            let failure = await #expect(throws: AppStoreFailure.self) { _ = try await pages.next() }
            #expect(failure?.code == "unreadable_answer" && shop.transport.asked.count == 1)
        }
    }
}
