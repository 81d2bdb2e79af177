import AppStorePayloads
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
        var pages = shop.client.pages(TransactionHistoryRequest("1"))
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
        let request = NotificationHistoryRequest(from: Shop.now.adding(days: -1), to: Shop.now)
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

    @Test("that says there is more and not where is not asked for for ever")
    func noToken() async throws {
        for next in ["", #","revision":"a""#] {
            let shop = try await Shop { _ in
                Array(repeating: .answer(200, "{\"signedTransactions\":[],\"hasMore\":true\(next)}"), count: 5)
            }
            var request = RefundHistoryRequest("1")
            request.revision = "a"
            var pages = shop.client.pages(request, in: .production)
            let failure = await #expect(throws: AppStoreFailure.self) { _ = try await pages.next() }
            #expect(failure?.code == "unreadable_answer" && shop.transport.asked.count == 1)
        }
    }
}
