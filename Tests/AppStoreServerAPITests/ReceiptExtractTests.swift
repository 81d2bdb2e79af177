import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("What verifyReceipt says of each thing")
struct ReceiptExtractTests {
    private static let asked: Int64 = 1_769_904_000_123

    /// An answer about a subscription with an upgrade and a refund, and something bought once.
    private static func answer(at asked: String = #","request_date_ms":"\#(asked)""#, app: String = "com.example")
        -> [UInt8]
    {
        Array(
            """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(app)"\(asked),"in_app":[\
            {"transaction_id":"7","original_transaction_id":"7","product_id":"coins","quantity":"3",\
            "purchase_date_ms":"1769000000000","original_purchase_date_ms":"1769000000000"}]},\
            "latest_receipt_info":[{"transaction_id":"13","original_transaction_id":"11","product_id":"max",\
            "purchase_date_ms":"1769802000000","original_purchase_date_ms":"1766000000000",\
            "expires_date_ms":"1772400000000","is_trial_period":"false","is_in_intro_offer_period":"false",\
            "in_app_ownership_type":"PURCHASED","web_order_line_item_id":"99","subscription_group_identifier":"g",\
            "app_account_token":"7F1DE78E-0D4E-4C5E-9D3C-000000000001"},\
            {"transaction_id":"12","original_transaction_id":"11","product_id":"pro","purchase_date_ms":"1768700000000",\
            "original_purchase_date_ms":"1766000000000","expires_date_ms":"1771300000000","is_upgraded":"true",\
            "cancellation_date_ms":"1769802000000"},\
            {"transaction_id":"11","original_transaction_id":"11","product_id":"pro","purchase_date_ms":"1766000000000",\
            "original_purchase_date_ms":"1766000000000","expires_date_ms":"1768700000000","is_trial_period":"true",\
            "cancellation_date_ms":"1767000000000","cancellation_reason":"1"}],\
            "pending_renewal_info":[{"original_transaction_id":"11","product_id":"pro","auto_renew_status":"0"},\
            {"original_transaction_id":"11","product_id":"max","auto_renew_product_id":"max","auto_renew_status":"1",\
            "is_in_billing_retry_period":"0","price_consent_status":"0"}]}
            """.utf8)
    }

    private func extracts(_ answer: [UInt8]) throws -> [ReceiptExtract] {
        try ReceiptAnswer(answer, from: .production, askedAt: Timestamp(millisecondsSince1970: 1_769_900_000_000))
            .extracts
    }

    private func transactions(_ extracts: [ReceiptExtract]) -> [TransactionPayload] {
        extracts.compactMap { if case .transaction(let payload) = $0.content { payload } else { nil } }
    }

    @Test("is read as the record would be that Apple signs of it, dated by the answer")
    func content() throws {
        let extracts = try extracts(Self.answer())
        let told = transactions(extracts)
        #expect(told.map(\.transactionId) == ["13", "12", "11", "7"] && extracts.count == 5)
        let (latest, upgraded, first, coins) = (told[0], told[1], told[2], told[3])
        #expect(told.allSatisfy { $0.signedDate.millisecondsSince1970 == Self.asked && $0.environment == .production })
        #expect(told.allSatisfy { $0.bundleId == "com.example" })
        #expect(latest.type == .autoRenewableSubscription && latest.transactionReason == .renewal)
        #expect(latest.webOrderLineItemId == "99" && latest.subscriptionGroupIdentifier == "g")
        #expect(latest.expiresDate == Timestamp(millisecondsSince1970: 1_772_400_000_000))
        #expect(latest.appAccountToken == UniqueIdentifier("7f1de78e-0d4e-4c5e-9d3c-000000000001"))
        #expect(latest.inAppOwnershipType == .purchased && latest.revocationDate == nil && latest.offerType == nil)
        // The date of an upgrade is no refund's.
        #expect(upgraded.isUpgraded == true && upgraded.revocationDate == nil)
        #expect(first.revocationDate == Timestamp(millisecondsSince1970: 1_767_000_000_000))
        #expect(first.revocationReason == .appIssue && first.transactionReason == .purchase)
        #expect(first.offerType == .introductory && first.offerDiscountType == .freeTrial)
        // No answer says which of the three things bought once it is.
        #expect(coins.type == nil && coins.quantity == 3 && coins.expiresDate == nil && coins.transactionReason == nil)
        // Of two words on what is to come that of the present product counts, and it ends with the latest period.
        guard case .renewal(let renewal) = extracts.last?.content else {
            Issue.record("\(extracts)")
            return
        }
        #expect(renewal.originalTransactionId == "11" && renewal.productId == "max" && renewal.autoRenewStatus == .on)
        #expect(renewal.renewalDate == latest.expiresDate && renewal.priceIncreaseStatus == .unanswered)
        #expect(renewal.signedDate.millisecondsSince1970 == Self.asked && renewal.isInBillingRetryPeriod == false)
    }

    @Test("can be kept and read again by itself, and is the same bytes as long as Apple says the same")
    func bytes() throws {
        let extracts = try extracts(Self.answer())
        for extract in extracts {
            let again = try ReceiptExtract(extract.json)
            #expect(again == extract)
            #expect(extract.bundleId == "com.example" && extract.environment == .production)
        }
        #expect(try self.extracts(Self.answer()) == extracts)
        let later = try self.extracts(Self.answer(at: #","request_date_ms":"1769990000000""#))
        #expect(later.map(\.saying) == extracts.map(\.saying))
        #expect(Set(later.map(\.json)).isDisjoint(with: extracts.map(\.json)))
        // Apple's own words are in it, those that are not modelled too.
        #expect(
            String(decoding: extracts[3].json, as: UTF8.self).contains(#""original_purchase_date_ms":"1769000000000""#))
        #expect(Set(extracts.map(\.saying)).count == extracts.count)
    }

    @Test("is dated by the moment of asking where Apple does not say when it looked, and that is kept with it")
    func undated() throws {
        let extracts = try extracts(Self.answer(at: ""))
        #expect(transactions(extracts).map(\.transactionId) == ["13", "12", "11", "7"] && extracts.count == 5)
        #expect(transactions(extracts).allSatisfy { $0.signedDate.millisecondsSince1970 == 1_769_900_000_000 })
        for extract in extracts {
            #expect(try ReceiptExtract(extract.json) == extract)
            #expect(
                String(decoding: extract.json, as: UTF8.self).contains(
                    #""request_date_is":"asked","request_date_ms":1769900000000"#))
        }
        // It says what it would say with a date.
        #expect(try extracts.map(\.saying) == self.extracts(Self.answer()).map(\.saying))
    }

    @Test(
        "of a period that cost nothing is a trial only as an introductory offer",
        arguments: [
            ("", OfferType.introductory), (#","promotional_offer_id":"spring""#, .promotional),
            (#","offer_code_ref_name":"summer""#, .code), (#","win_back_offer_id":"autumn""#, .winBack),
            (#","promotional_offer_id":"""#, .introductory),
        ])
    func offer(more: String, type: OfferType) throws {
        let answer = String(decoding: Self.answer(), as: UTF8.self).replacing(
            #""is_trial_period":"true""#, with: #""is_trial_period":"true"\#(more)"#)
        let first = try #require(transactions(extracts(Array(answer.utf8))).first { $0.transactionId == "11" })
        #expect(first.offerType == type && first.offerDiscountType == .freeTrial)
        #expect((first.offerIdentifier == nil) == (type == .introductory))

    }

    @Test("is nothing where it is junk")
    func unreadable() throws {
        for junk in [
            "", "[]", "{}", #"{"bundle_id":"a","environment":"Production"}"#,
            #"{"bundle_id":"a","environment":"Production","request_date_ms":1}"#,
            #"{"bundle_id":"a","environment":"Production","request_date_ms":1,"purchase":{}}"#,
            #"{"bundle_id":"a","environment":"Production","request_date_ms":1,"renewal":{"original_transaction_id":""}}"#,
        ] {
            #expect(throws: AnswerFault.self) { try ReceiptExtract(Array(junk.utf8)) }
        }
        // A key that no column takes.
        let long = String(repeating: "1", count: 300)
        let answer = String(decoding: Self.answer(), as: UTF8.self).replacing(
            #""transaction_id":"7""#, with: #""transaction_id":"\#(long)""#)
        #expect(try extracts(Array(answer.utf8)).count == 4)
    }
}
