import AppStorePayloads
import AppStoreVerification
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("A client of Apple's")
struct ClientTests {
    private func failure(_ body: () async throws -> Void) async throws -> AppStoreFailure {
        try await #require(throws: AppStoreFailure.self) { try await body() }
    }

    @Test("asks nothing before the instant that a 429 names, 1.5 s ahead, whoever asks, and everything after it")
    func slowsDown() async throws {
        let instant = Shop.now.adding(milliseconds: 1500)
        let shop = try await Shop { apple in
            [.answer(429, retryAfter: "\(instant.millisecondsSince1970)")]
                + [1, 2, 3].map { .answer(200, "{\"signedTransactionInfo\":\"\(apple.transaction("\($0)"))\"}") }
        }
        for id in ["1", "2", "3"] {
            _ = try await shop.client.ask(.transactionInfo(id), in: .production)
        }
        let times = shop.transport.asked.map(\.instant)
        #expect(times.count == 4 && times[0] == Shop.now)
        #expect(times.dropFirst().allSatisfy { $0 >= instant })
        #expect(times[1] == instant)
    }

    @Test("holds another call of the same kind back that has not been told to slow down itself")
    func slowsOthers() async throws {
        // Longer than anybody waits: the first call ends, and leaves the block behind.
        let instant = Shop.now.adding(seconds: 120)
        let shop = try await Shop { apple in
            [
                .answer(429, retryAfter: "\(instant.millisecondsSince1970)"),
                .answer(200, "{\"signedTransactionInfo\":\"\(apple.transaction())\"}"),
            ]
        }
        for priority in [RateSchedule.Priority.interactive, .interactive, .background] {
            let failure = try await failure {
                _ = try await shop.client.ask(.transactionInfo("1"), in: .production, priority: priority)
            }
            guard case .rateLimited(let until) = failure.reason else {
                Issue.record("\(failure)")
                return
            }
            #expect(until >= instant)
        }
        // Nothing was sent, and no caller waited: least of all one that holds a lease.
        #expect(shop.transport.asked.count == 1 && shop.clock.waited.isEmpty)
        shop.clock.advance(milliseconds: 121_000)
        _ = try await shop.client.ask(.transactionInfo("1"), in: .production, priority: .background)
        #expect(shop.transport.asked.count == 2)
    }

    @Test("sends nothing after the last instant that it is given, and up to it everything")
    func tooLate() async throws {
        let shop = try await Shop { _ in [.answer(200, #"{"success":true}"#)] }
        let request = ServerRequest.extendRenewalDate("1", byDays: 1, reason: .other, requestIdentifier: "a")
        let deadline = shop.client.instant(after: .seconds(1))
        shop.clock.advance(milliseconds: 1001)
        let failure = try await failure {
            _ = try await shop.client.ask(request, in: .production, notAfter: deadline)
        }
        #expect(failure.reason == .unreachable(.notConnected) && failure.attempts == 0)
        #expect(shop.transport.asked.isEmpty)
        _ = try await shop.client.ask(request, in: .production, notAfter: shop.client.instant(after: .zero))
        #expect(shop.transport.asked.count == 1)
    }

    @Test("refuses an answer with a record that Apple did not sign, by its code, and counts it")
    func forged() async throws {
        let shop = try await Shop { apple in
            [.answer(200, "{\"signedTransactionInfo\":\"\(apple.transaction(by: apple.stranger))\"}")]
        }
        let failure = try await failure { _ = try await shop.client.ask(.transactionInfo("1"), in: .production) }
        #expect(failure.code == "untrusted_root")
        #expect(shop.counts.refused == [.untrustedRoot] && shop.counts.ended == ["untrusted_root"])
    }

    @Test("refuses a forged record in every answer that has one, by its code, and counts it")
    func forgedEverywhere() async throws {
        /// What is asked, what is answered, and how many records in it are forged.
        func check(
            _ request: ServerRequest<some Sendable>, _ forged: Int, _ answer: @escaping (Shop.Signing) -> String,
            at place: SourceLocation = #_sourceLocation
        ) async throws {
            let shop = try await Shop { apple in [.answer(200, answer(apple))] }
            _ = try? await shop.client.ask(request, in: .production)
            #expect(
                shop.counts.refused == [VerificationCode](repeating: .untrustedRoot, count: forged),
                sourceLocation: place)
        }
        let page = { (apple: Shop.Signing) in apple.page([apple.transaction(by: apple.stranger), apple.transaction()]) }
        try await check(.transactionHistory("1"), 1, page)
        try await check(.refundHistory("1"), 1, page)
        try await check(.orderLookup("M"), 1) {
            #"{"status":0,"signedTransactions":["\#($0.transaction(by: $0.stranger))"]}"#
        }
        try await check(.transactionInfo("1"), 1) {
            #"{"signedTransactionInfo":"\#($0.transaction(by: $0.stranger))"}"#
        }
        try await check(.appTransactionInfo("1"), 1) {
            #"{"signedAppTransactionInfo":"\#($0.appTransaction(by: $0.stranger))"}"#
        }
        try await check(.subscriptionStatuses("1"), 2) { apple in
            """
            {"environment":"Production","bundleId":"b","data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[\
            {"status":1,"originalTransactionId":"1","signedTransactionInfo":"\(apple.transaction(by: apple.stranger))",\
            "signedRenewalInfo":"\(apple.renewal(by: apple.stranger))"}]}]}
            """
        }
        try await check(.testNotificationStatus("t"), 1) {
            #"{"signedPayload":"\#($0.notification(by: $0.stranger))","sendAttempts":[]}"#
        }
        let span = (Timestamp(millisecondsSince1970: 1), Timestamp(millisecondsSince1970: 2))
        try await check(.notificationHistory(from: span.0, to: span.1), 1) {
            #"{"notificationHistory":[{"signedPayload":"\#($0.notification(by: $0.stranger))"}],"hasMore":false}"#
        }
    }

    @Test("keeps records back that are not Apple's, or not of what was asked, and shows the others")
    func forgedInList() async throws {
        let shop = try await Shop { apple in
            [
                .answer(
                    200,
                    apple.page([
                        apple.transaction("1"), apple.transaction("2", by: apple.stranger),
                        apple.transaction("3", in: "Sandbox"), apple.transaction("4", of: "com.example.other"),
                        apple.renewal(), "no.jws", apple.transaction("5"),
                    ]))
            ]
        }
        let page = try await shop.client.ask(.transactionHistory("1"), in: .production).value
        #expect(page.transactions.map(\.payload.transactionId) == ["1", "5"])
        #expect(page.refused.map(\.index) == [1, 2, 3, 4, 5])
        #expect(
            page.refused.map(\.failure.code) == [
                .untrustedRoot, .mismatchedParts, .wrongBundle, .malformedPayload, .malformed,
            ])
        #expect(shop.counts.refused.count == 5 && shop.counts.ended == [nil])
    }

    @Test("holds a renewal info against the transaction beside it")
    func statuses() async throws {
        let shop = try await Shop { apple in
            func line(_ renewal: String) -> String {
                """
                {"status":1,"originalTransactionId":"1","signedTransactionInfo":"\(apple.transaction())",\
                "signedRenewalInfo":"\(renewal)","newToday":{"a":[1]}}
                """
            }
            return [
                .answer(
                    200,
                    """
                    {"environment":"Production","bundleId":"b","appAppleId":7,"data":[{"subscriptionGroupIdentifier":"g",\
                    "lastTransactions":[\(line(apple.renewal())),\(line(apple.renewal(of: "2")))]}],"tomorrow":"\\u0061"}
                    """)
            ]
        }
        let statuses = try await shop.client.ask(.subscriptionStatuses("1"), in: .production).value
        let lines = try #require(statuses.groups.first?.lastTransactions)
        #expect(lines.map { $0.renewal?.payload.originalTransactionId } == ["1", nil])
        #expect(lines.map { $0.transaction?.payload.transactionId } == ["1", "1"])
        #expect(lines.map(\.status) == [.active, .active])
        #expect(statuses.refused.map(\.failure.code) == [.mismatchedParts])
        #expect(lines[0].unknownFields == ["newToday": Array(#"{"a":[1]}"#.utf8)])
        #expect(statuses.unknownFields == ["tomorrow": Array(#""\u0061""#.utf8)])
        #expect(statuses.appAppleId == 7)
    }

    @Test("reads every other answer as Apple documents it")
    func otherAnswers() async throws {
        let shop = try await Shop { apple in
            [
                .answer(200, "{\"signedAppTransactionInfo\":\"\(apple.appTransaction())\"}"),
                .answer(200, ""), .answer(202, ""), .answer(200, ""),
                .answer(200, #"{"testNotificationToken":"t_1"}"#),
                .answer(
                    200,
                    """
                    {"signedPayload":"\(apple.notification())","sendAttempts":[{"attemptDate":1769900000001,\
                    "sendAttemptResult":"SUCCESS"},{"attemptDate":1769900000002,"sendAttemptResult":"SENT_BY_PIGEON"}]}
                    """),
                .answer(
                    200,
                    #"{"effectiveDate":1769900000003,"originalTransactionId":"1","success":true,"webOrderLineItemId":"9"}"#
                ),
                .answer(200, #"{"requestIdentifier":"00000000-0000-4000-8000-000000000001"}"#),
                .answer(
                    200, #"{"complete":true,"completeDate":1769900000004,"succeededCount":5,"failedCount":1}"#),
                .answer(200, "{\"status\":0,\"signedTransactions\":[\"\(apple.transaction())\"]}"),
                .answer(200, #"{"status":1}"#),
            ]
        }
        let client = shop.client
        #expect(try await client.ask(.appTransactionInfo("1")).value.payload.appTransactionId == "704")
        _ = try await client.ask(.finishTransaction("1"))
        let information = ConsumptionInformation(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false)
        _ = try await client.ask(try #require(ServerRequest.consumptionInformation("1", information)))
        let token = try #require(UniqueIdentifier("00000000-0000-4000-8000-000000000001"))
        _ = try await client.ask(.appAccountToken("1", is: token))
        #expect(try await client.ask(.testNotification).value.testNotificationToken == "t_1")
        let test = try await client.ask(.testNotificationStatus("t_1")).value
        #expect(test.record.payload.payload.notificationType == .test)
        #expect(test.sendAttempts.map(\.sendAttemptResult?.isKnown) == [true, false])
        let extended = try await client.ask(
            .extendRenewalDate("1", byDays: 3, reason: .other, requestIdentifier: "r"), in: .production
        ).value
        #expect(extended.success && extended.effectiveDate?.millisecondsSince1970 == 1_769_900_000_003)
        let mass = ServerRequest.massExtension("p", byDays: 3, reason: .other, requestIdentifier: token)
        #expect(try await client.ask(mass, in: .production).value.requestIdentifier == "\(token)")
        let status = try await client.ask(
            .massExtensionStatus("p", requestIdentifier: token), in: .production
        ).value
        #expect(status.complete && status.succeededCount == 5 && status.failedCount == 1)
        #expect(try await client.ask(.orderLookup("M1")).value.transactions.count == 1)
        #expect(try await client.ask(.orderLookup("M2")).value.status == .invalid)
        #expect(shop.counts.refused == [])
    }

    @Test(
        "calls an answer unreadable that Apple does not document",
        arguments: [
            "", "{}", "[]", "no JSON", #"{"signedTransactionInfo":7}"#, #"{"signedTransactionInfo":""}"#,
            #"{"signedTransactionInfo":"a","signedTransactionInfo":"b"}"#,
        ])
    func unreadable(_ body: String) async throws {
        let shop = try await Shop { _ in [.answer(200, body)] }
        let failure = try await failure { _ = try await shop.client.ask(.transactionInfo("1"), in: .sandbox) }
        #expect(failure.code == "unreadable_answer" && shop.transport.asked.count == 1)
    }

    @Test("asks Sandbox for what Production does not know, and verifies that it is Sandbox's")
    func sandbox() async throws {
        let shop = try await Shop { apple in
            [
                .code(4_040_010), .answer(200, "{\"signedTransactionInfo\":\"\(apple.transaction(in: "Sandbox"))\"}"),
                .answer(200, "{\"signedTransactionInfo\":\"\(apple.transaction(in: "Sandbox"))\"}"),
            ]
        }
        let answered = try await shop.client.ask(.transactionInfo("1"))
        #expect(answered.environment == .sandbox)
        #expect(shop.transport.asked.map(\.environment) == [.production, .sandbox])
        let failure = try await failure { _ = try await shop.client.ask(.transactionInfo("1")) }
        #expect(failure.code == "mismatched_parts")
    }

    @Test("asks every call by Apple's path, query and body")
    func requests() async throws {
        let shop = try await Shop { _ in Array(repeating: .code(4_000_000), count: 30) }
        let id = try #require(UniqueIdentifier("A0000000-0000-4000-8000-000000000001"))
        var history = ServerRequest.transactionHistory(
            "1/../2", from: Timestamp(millisecondsSince1970: 5), to: Timestamp(millisecondsSince1970: 6),
            products: ["a", "b"], kinds: [.consumable, .autoRenewable], sort: .descending, groups: ["g"],
            ownership: .purchased, revoked: false)
        history.page = "r=&"
        var notifications = ServerRequest.notificationHistory(
            from: Timestamp(millisecondsSince1970: 1), to: Timestamp(millisecondsSince1970: 2),
            .type(.didRenew, .billingRecovery), onlyFailures: true)
        notifications.page = "p"
        var refunds = ServerRequest.refundHistory("7")
        refunds.page = "z"
        let information = ConsumptionInformation(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: true,
            consumptionPercentage: 50_000, refundPreference: .grantFull)
        var endpoints: Set<AppleEndpoint> = []
        func ask(_ request: ServerRequest<some Sendable>) async {
            endpoints.insert(request.endpoint)
            _ = try? await shop.client.ask(request, in: .production)
        }
        await ask(history)
        await ask(.transactionInfo(".."))
        await ask(.subscriptionStatuses("1", [.active, .expired]))
        await ask(.appTransactionInfo("1"))
        await ask(.finishTransaction("1"))
        await ask(try #require(ServerRequest.consumptionInformation("1", information)))
        await ask(notifications)
        await ask(.testNotification)
        await ask(.testNotificationStatus("t"))
        await ask(.extendRenewalDate("1", byDays: 90, reason: .customerSatisfaction, requestIdentifier: "r"))
        await ask(
            .massExtension("p", byDays: 1, reason: .undeclared, requestIdentifier: id, storefronts: ["USA"]))
        await ask(.massExtensionStatus("p", requestIdentifier: id))
        await ask(.appAccountToken("1", is: id))
        await ask(.orderLookup("M Ö"))
        await ask(refunds)
        let host = "https://api.storekit.apple.com/inApps/"
        let uuid = "a0000000-0000-4000-8000-000000000001"
        let expected = [
            "GET v2/history/1%2F..%2F2?revision=r%3D%26&startDate=5&endDate=6&productId=a&productId=b"
                + "&productType=CONSUMABLE&productType=AUTO_RENEWABLE&sort=DESCENDING&subscriptionGroupIdentifier=g"
                + "&inAppOwnershipType=PURCHASED&revoked=false",
            "GET v1/transactions/%2E%2E", "GET v1/subscriptions/1?status=1&status=2",
            "GET v1/transactions/appTransactions/1", "POST v1/transactions/1/finish",
            "PUT v2/transactions/consumption/1 "
                + #"{"consumptionPercentage":50000,"customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_FULL","sampleContentProvided":true}"#,
            "POST v1/notifications/history?paginationToken=p "
                + #"{"endDate":2,"notificationSubtype":"BILLING_RECOVERY","notificationType":"DID_RENEW","#
                + #""onlyFailures":true,"startDate":1}"#,
            "POST v1/notifications/test", "GET v1/notifications/test/t",
            "PUT v1/subscriptions/extend/1 {\"extendByDays\":90,\"extendReasonCode\":1,\"requestIdentifier\":\"r\"}",
            "POST v1/subscriptions/extend/mass {\"extendByDays\":1,\"extendReasonCode\":0,\"productId\":\"p\","
                + "\"requestIdentifier\":\"\(uuid)\",\"storefrontCountryCodes\":[\"USA\"]}",
            "GET v1/subscriptions/extend/mass/p/\(uuid)",
            "PUT v1/transactions/1/appAccountToken {\"appAccountToken\":\"\(uuid)\"}",
            "GET v1/lookup/M%20%C3%96", "GET v2/refund/lookup/7?revision=z",
        ]
        let asked = shop.transport.asked.map { asked in
            let body = asked.request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
            return "\(asked.request.method.rawValue) \(asked.request.url.replacing(host, with: ""))\(body)"
        }
        #expect(asked == expected)
        // verifyReceipt has a client of its own.
        #expect(endpoints == Set(AppleEndpoint.allCases).subtracting([.verifyReceipt]))
    }
}
