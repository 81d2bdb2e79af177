import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@testable import AppStoreServerAPI

@Suite("A client of verifyReceipt")
struct ReceiptClientTests {
    private static let answer = """
        {"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Shop.app.bundleId)","receipt_type":"ProductionSandbox",\
        "request_date_ms":"1769904000123","in_app":[{"transaction_id":"11","original_transaction_id":"1","product_id":"pro",\
        "quantity":"1","purchase_date_ms":"1769800000000","is_trial_period":"true"},\
        {"transaction_id":"7","original_transaction_id":"7","product_id":"coins","purchase_date_ms":1769800000001}]},\
        "latest_receipt":"MII=","latest_receipt_info":[{"transaction_id":"12","original_transaction_id":"1",\
        "product_id":"pro","purchase_date_ms":"1769802000000","expires_date_ms":"1772400000000",\
        "expires_date":"2026-03-01 20:00:00 Etc/GMT","is_trial_period":"false","is_in_intro_offer_period":"false",\
        "in_app_ownership_type":"FAMILY_SHARED","web_order_line_item_id":"99","subscription_group_identifier":"g"},\
        {"transaction_id":"11","original_transaction_id":"1","product_id":"pro","purchase_date_ms":"1769800000000",\
        "cancellation_date_ms":"1769803000000","cancellation_reason":"1"},{"product_id":"no id"}],\
        "pending_renewal_info":[{"original_transaction_id":"1","product_id":"pro","auto_renew_product_id":"max",\
        "auto_renew_status":"0","expiration_intent":"2","is_in_billing_retry_period":"1",\
        "grace_period_expires_date_ms":"1772500000000","price_consent_status":"0"}],"tomorrow":1}
        """

    private func client(
        _ script: [Result<TransportAnswer, TransportFault>], _ counts: Shop.Counts = Shop.Counts()
    ) throws -> (ReceiptClient, ScriptedTransport) {
        let clock = JumpingClock()
        let transport = ScriptedTransport(clock, script)
        return (
            ReceiptClient(
                bundleId: Shop.app.bundleId, secret: try #require(SharedSecret("hunter2")),
                in: [.production, .sandbox], transport: transport, clock: clock, budget: RateBudget(share: 1),
                observer: counts.observer, jitter: { 1 }), transport
        )
    }

    @Test("asks Production first, posts the receipt with the secret and no token, and reads what is answered")
    func asks() async throws {
        let (client, transport) = try client([.answer(200, #"{"status":21007}"#), .answer(200, Self.answer)])
        let answer = try await client.ask(Array("MIIreceipt+/=".utf8), excludesOldTransactions: true)
        let requests = transport.asked.map(\.request)
        #expect(
            requests.map(\.url) == [
                "https://buy.itunes.apple.com/verifyReceipt", "https://sandbox.itunes.apple.com/verifyReceipt",
            ])
        #expect(requests.allSatisfy { $0.method == .post && $0.token == nil })
        for request in requests {
            #expect(
                String(decoding: request.body ?? [], as: UTF8.self)
                    == #"{"exclude-old-transactions":true,"password":"hunter2","receipt-data":"MIIreceipt+/="}"#)
        }
        #expect(answer.json == Array(Self.answer.utf8) && answer.environment == .sandbox)
        #expect(answer.requestDate == Timestamp(millisecondsSince1970: 1_769_904_000_123))
        // Each transaction once, by the later word.
        #expect(answer.purchases.map(\.transactionId) == ["12", "11", "7"])
        #expect(answer.transactionIds == ["1", "7"])
        let (latest, first) = (answer.purchases[0], answer.purchases[1])
        #expect(latest.expiresDate == Timestamp(millisecondsSince1970: 1_772_400_000_000))
        #expect(latest.ownershipType == .familyShared && latest.webOrderLineItemId == "99")
        #expect(latest.isTrialPeriod == false && latest.subscriptionGroupIdentifier == "g")
        #expect(first.cancellationDate == Timestamp(millisecondsSince1970: 1_769_803_000_000))
        #expect(first.cancellationReason == .appIssue)
        #expect(answer.purchases[2].purchaseDate == Timestamp(millisecondsSince1970: 1_769_800_000_001))
        let renewal = try #require(answer.renewals.first)
        #expect(renewal.autoRenewStatus == .off && renewal.autoRenewProductId == "max")
        #expect(renewal.expirationIntent?.rawValue == 2 && renewal.isInBillingRetryPeriod == true)
        #expect(renewal.gracePeriodExpiresDate == Timestamp(millisecondsSince1970: 1_772_500_000_000))
        #expect(renewal.priceConsentStatus == .unanswered)
    }

    @Test("reads an answer about a receipt of iOS 6, which is one purchase itself")
    func oldAnswer() throws {
        let old = """
            {"status":0,"receipt":{"bid":"a","transaction_id":"5","original_transaction_id":"4","product_id":"p",\
            "expires_date":"1400000000000"},"latest_receipt_info":{"transaction_id":"6","original_transaction_id":"4",\
            "expires_date":"1500000000000"}}
            """
        let answer = try ReceiptAnswer(Array(old.utf8), from: .production, askedAt: Timestamp(millisecondsSince1970: 5))
        #expect(answer.bundleId == "a" && answer.purchases.map(\.transactionId) == ["6", "5"])
        #expect(answer.purchases[0].expiresDate == Timestamp(millisecondsSince1970: 1_500_000_000_000))
        #expect(answer.transactionIds == ["4"] && answer.renewals.isEmpty)
        // An empty text is how Apple writes that there is none.
        let empty = old.replacing(#""original_transaction_id":"4""#, with: #""original_transaction_id":"""#)
        #expect(
            try ReceiptAnswer(Array(empty.utf8), from: .production, askedAt: Timestamp(millisecondsSince1970: 5))
                .transactionIds == ["6", "5"])
    }

    @Test(
        "refuses a genuine receipt of another app, and counts it; and an answer that is not about the receipt's place")
    func otherApp() async throws {
        let counts = Shop.Counts()
        let other = Self.answer.replacing(Shop.app.bundleId, with: "com.example.other")
        let (client, _) = try client([.answer(200, other.replacing("\"Sandbox\"", with: "\"Production\""))], counts)
        let failure = try await #require(throws: AppStoreFailure.self) { _ = try await client.ask([0x41]) }
        #expect(failure.code == "wrong_bundle" && !failure.isTransient)
        #expect(counts.refused == [.wrongBundle] && counts.ended == ["wrong_bundle"])
        let (second, _) = try self.client([.answer(200, Self.answer)])
        let unreadable = try await #require(throws: AppStoreFailure.self) { _ = try await second.ask([0x41]) }
        #expect(unreadable.code == "unreadable_answer")
        for text in [#"{"status":0}"#, #"{"status":0,"receipt":{}}"#, #"{"status":0,"receipt":[]}"#] {
            let (third, _) = try self.client([.answer(200, text)])
            let failure = try await #require(throws: AppStoreFailure.self) { _ = try await third.ask([0x41]) }
            #expect(failure.code == "unreadable_answer", "\(text)")
        }
    }

    @Test("tells the secret and the receipt to nobody but Apple, whatever goes wrong")
    func secrets() async throws {
        let (client, _) = try client([.answer(200, #"{"status":21004,"password":"hunter2"}"#)])
        let failure = try await #require(throws: AppStoreFailure.self) {
            _ = try await client.ask(Array("MIIsecret".utf8))
        }
        var said = "\(failure) \(client)" + String(reflecting: client)
        dump(client, to: &said)
        #expect(failure.code == "shared_secret_mismatch")
        #expect(!said.contains("hunter2") && !said.contains("MIIsecret"))
    }
}
