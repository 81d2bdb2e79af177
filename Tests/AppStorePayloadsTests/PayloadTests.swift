import AppStorePayloads
import Base
import Testing

@Suite("Payloads")
struct PayloadTests {
    private let uuid = "\"notificationUUID\":\"1A7CDC3D-9360-49c3-ae37-0423e4c6e7c7\""

    private func notification(_ members: String) throws -> NotificationPayload {
        try NotificationPayload.decode(Array("{\"notificationType\":\"TEST\",\"signedDate\":5,\(uuid)\(members)}".utf8))
    }

    private func transaction(_ members: String) throws -> TransactionPayload {
        let keys = #""transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","signedDate":7"#
        return try TransactionPayload.decode(Array("{\(keys)\(members)}".utf8))
    }

    @Test("a notification keeps its text, its name as written, and the name as a value")
    func notificationName() throws {
        let payload = try notification("")
        #expect(payload.notificationUUID == "1A7CDC3D-9360-49c3-ae37-0423e4c6e7c7")
        #expect(payload.uuid.description == "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7")
        #expect(payload.part == .none)
        #expect(payload.json.starts(with: Array("{\"notificationType\"".utf8)))
    }

    @Test("the nil UUID as an account token is none, of a transaction and of renewal info")
    func nilToken() throws {
        let (none, some) = ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001")
        func token(_ text: String) throws -> [UniqueIdentifier?] {
            let renewal =
                #"{"originalTransactionId":"1","signedDate":7,"autoRenewStatus":1,"appAccountToken":"\#(text)"}"#
            return [
                try transaction(#","appAccountToken":"\#(text)""#).appAccountToken,
                try RenewalInfoPayload.decode(Array(renewal.utf8)).appAccountToken,
            ]
        }
        #expect(try token(none) == [nil, nil])
        #expect(try token(some) == [UniqueIdentifier(some), UniqueIdentifier(some)])
    }

    @Test("each of the four parts is told from the others, and two of them are refused")
    func parts() throws {
        guard case .data(let data) = try notification(#","data":{"status":4,"environment":"Moon"}"#).part else {
            Issue.record("no data")
            return
        }
        #expect(data.status == .gracePeriod)
        #expect(data.environment?.rawValue == "Moon")
        #expect(data.environment?.isKnown == false)
        guard
            case .summary(let summary) = try notification(
                #","summary":{"storefrontCountryCodes":["USA","FRA"],"failedCount":0}"#
            ).part
        else {
            Issue.record("no summary")
            return
        }
        #expect(summary.storefrontCountryCodes == ["USA", "FRA"])
        #expect(summary.failedCount == 0)
        guard
            case .externalPurchaseToken(let token) = try notification(
                #","externalPurchaseToken":{"tokenCreationDate":9}"#
            ).part
        else {
            Issue.record("no token")
            return
        }
        #expect(token.tokenCreationDate == Timestamp(millisecondsSince1970: 9))
        guard case .appData = try notification(#","appData":{}"#).part else {
            Issue.record("no app data")
            return
        }
        #expect(try notification(#","data":null,"summary":7"#).part == .none)
        #expect(throws: PayloadError.self) { try notification(#","data":{},"appData":{}"#) }
    }

    @Test("every field of a transaction is read")
    func transactionFields() throws {
        let payload = try transaction(
            #"""
            ,"environment":"Sandbox","webOrderLineItemId":"3","productId":"p","subscriptionGroupIdentifier":"g",
            "purchaseDate":1,"originalPurchaseDate":2,"expiresDate":3,"quantity":4,"type":"Consumable",
            "inAppOwnershipType":"FAMILY_SHARED","appAccountToken":"7F1DE78E-0D4E-4C5E-9D3C-1C5F5A8C7A10",
            "revocationDate":5,"revocationReason":1,"revocationType":"REFUND_FULL","revocationPercentage":100000,
            "isUpgraded":true,"offerType":4,"offerIdentifier":"o","offerDiscountType":"FREE_TRIAL","offerPeriod":"P1W",
            "transactionReason":"RENEWAL","additionalTransactionReason":"SEAT_ADDITION","storefront":"JPN","storefrontId":"143462","price":230000,"currency":"JPY",
            "appTransactionId":"a","billingPlanType":"b","commitmentInfo":{"x":[{}]},"advancedCommerceInfo":{}
            """#)
        func date(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }
        #expect(
            payload
                == TransactionPayload(
                    transactionId: "2", originalTransactionId: "1", bundleId: "com.example.app", signedDate: date(7),
                    environment: .sandbox, webOrderLineItemId: "3", productId: "p", subscriptionGroupIdentifier: "g",
                    purchaseDate: date(1), originalPurchaseDate: date(2), expiresDate: date(3), quantity: 4,
                    type: .consumable, inAppOwnershipType: .familyShared,
                    appAccountToken: UniqueIdentifier("7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"), revocationDate: date(5),
                    revocationReason: .appIssue, revocationType: .refundFull, revocationPercentage: 100_000,
                    isUpgraded: true, offerType: .winBack, offerIdentifier: "o", offerDiscountType: .freeTrial,
                    offerPeriod: "P1W", transactionReason: .renewal,
                    additionalTransactionReason: "SEAT_ADDITION", storefront: "JPN", storefrontId: "143462",
                    price: 230_000, currency: "JPY", appTransactionId: "a", billingPlanType: "b", json: payload.json))
    }

    @Test("why Apple refunded has a word, and a number that nobody knows stays")
    func refundWords() {
        let reasons = [RevocationReason.other, .appIssue, RevocationReason(rawValue: 7)]
        #expect(reasons.map(\.word) == ["other", "app_issue", "7"])
        #expect(reasons.map(\.words) == ["other reason", "app issue", "reason 7"])
    }

    @Test("every field of a renewal info is read")
    func renewalFields() throws {
        let text = #"""
            {"originalTransactionId":"1","signedDate":7,"environment":"Production","productId":"p",
            "autoRenewProductId":"q","autoRenewStatus":0,"renewalDate":1,"expirationIntent":2,
            "isInBillingRetryPeriod":true,"gracePeriodExpiresDate":2,"priceIncreaseStatus":1,"renewalPrice":1990,
            "currency":"EUR","offerType":1,"offerIdentifier":"o","offerDiscountType":"ONE_TIME","offerPeriod":"P1M",
            "eligibleWinBackOfferIds":["w","x"],"recentSubscriptionStartDate":3,
            "appAccountToken":"7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10","appTransactionId":"a"}
            """#
        let payload = try RenewalInfoPayload.decode(Array(text.utf8))
        func date(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }
        #expect(
            payload
                == RenewalInfoPayload(
                    originalTransactionId: "1", signedDate: date(7), environment: .production, productId: "p",
                    autoRenewProductId: "q", autoRenewStatus: .off, renewalDate: date(1), expirationIntent: .billing,
                    isInBillingRetryPeriod: true, gracePeriodExpiresDate: date(2), priceIncreaseStatus: .agreed,
                    renewalPrice: 1990, currency: "EUR", offerType: .introductory, offerIdentifier: "o",
                    offerDiscountType: .oneTime, offerPeriod: "P1M", eligibleWinBackOfferIds: ["w", "x"],
                    recentSubscriptionStartDate: date(3),
                    appAccountToken: UniqueIdentifier("7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"), appTransactionId: "a",
                    json: payload.json))
    }

    @Test("an app transaction is judged at its signedDate, else at its receiptCreationDate")
    func appTransaction() throws {
        func decode(_ members: String) throws -> AppTransactionPayload {
            try AppTransactionPayload.decode(Array("{\"bundleId\":\"com.example.app\"\(members)}".utf8))
        }
        let payload = try decode(
            #","receiptType":"Sandbox","receiptCreationDate":5,"originalPlatform":"iOS","appAppleId":1"#)
        #expect(payload.effectiveSignedDate == Timestamp(millisecondsSince1970: 5))
        #expect(payload.receiptType == .sandbox)
        #expect(try decode(#","receiptCreationDate":5,"signedDate":6"#).effectiveSignedDate?.millisecondsSince1970 == 6)
        #expect(try decode("").effectiveSignedDate == nil)
        #expect(throws: PayloadError.self) { try AppTransactionPayload.decode(Array("{}".utf8)) }
    }

    @Test("an optional field of another type is absent and loses no record")
    func lenient() throws {
        let payload = try transaction(
            #","price":"9.99","quantity":1.5,"isUpgraded":"true","expiresDate":"soon","productId":5,"type":null,"offerType":"1""#
        )
        #expect(payload.price == nil)
        #expect(payload.quantity == nil)
        #expect(payload.isUpgraded == nil)
        #expect(payload.expiresDate == nil)
        #expect(payload.productId == nil)
        #expect(payload.type == nil)
        #expect(payload.offerType == nil)
        #expect(try transaction(#","appAccountToken":"not a uuid""#).appAccountToken == nil)
    }

    @Test("a key that is missing, empty, endless or of another type is an error that names it")
    func keys() {
        for text in [
            "{}", #"{"transactionId":2}"#, #"{"transactionId":""}"#, #"{"transactionId":null}"#,
            "{\"transactionId\":\"\(String(repeating: "1", count: 256))\"}",
        ] {
            let error = #expect(throws: PayloadError.self) { try TransactionPayload.decode(Array(text.utf8)) }
            #expect(error?.message.hasPrefix("transactionId ") == true)
        }
    }

    @Test(
        "dates are whole milliseconds, rounded down",
        arguments: [
            ("1697679936049.7297", 1_697_679_936_049), ("-62135769600000", -62_135_769_600_000),
            ("1.7e12", 1_700_000_000_000),
            ("-0.5", -1), ("-1.0", -1), ("0.999", 0), ("253402300799999.9", 253_402_300_799_999),
        ] as [(String, Int64)])
    func dates(text: String, expected: Int64) throws {
        #expect(try transaction(",\"expiresDate\":\(text)").expiresDate?.millisecondsSince1970 == expected)
    }

    @Test(
        "a number that is no date anybody could store is an error, also where the date is optional",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "1e18", "1e999", "253402300800000", "-200000000000001",
            "9223372036854775807", "-9223372036854775808.5",
        ])
    func impossibleDates(text: String) {
        let error = #expect(throws: PayloadError.self) { try transaction(",\"expiresDate\":\(text)") }
        #expect(error?.message == "expiresDate is not a date that can be stored.")
    }
}
