import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation
import JWTKit
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("The stand-in for Apple's servers")
struct StandInTests {
    private static let plan = "com.example.storehook.premium.monthly"

    /// Every code that a client has to know what to do about, and whether it asks again.
    static let codes: [(Int64, Bool)] = ServerErrorCode.known.map { code in
        (code.rawValue, [.retry, .slowDown, .elsewhereOrSoon].contains(code.behaviour))
    }

    @Test("can be made to answer with each of Apple's codes, and our client does what the code asks for")
    func provoked() async throws {
        try await RunningStandIn.with { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            let id = try #require(bought.string("transactionId"))
            for (code, isAskedAgain) in Self.codes {
                try await shop.shop("errors", "{\"code\":\(code),\"count\":1,\"retryAfterMilliseconds\":50}")
                do {
                    _ = try await shop.client.ask(.transactionInfo(id), in: .sandbox)
                    #expect(isAskedAgain, "\(code)")
                } catch let failure as AppStoreFailure {
                    #expect(!isAskedAgain && failure.reason == .apple(.init(rawValue: code)), "\(code): \(failure)")
                }
            }
        }
    }

    @Test("is not asked before the instant that its 429 names, and is after it")
    func slowDown() async throws {
        try await RunningStandIn.with { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            let id = try #require(bought.string("transactionId"))
            try await shop.shop("errors", #"{"code":4290000,"retryAfterMilliseconds":1500}"#)
            let start = ContinuousClock.now
            _ = try await shop.client.ask(.transactionInfo(id), in: .sandbox)
            #expect(ContinuousClock.now - start >= .milliseconds(1400))
        }
    }

    @Test("sells a period of Apple's Sandbox at that speed, the free week too")
    func sandboxPeriods() async throws {
        try await RunningStandIn.with(StandInConfiguration(speed: .sandbox)) { shop in
            let cases: [(product: String, offer: String?, minutes: Int64)] = [
                ("basic.weekly", nil, 3), ("basic.monthly", nil, 5), ("basic.yearly", nil, 60),
                ("premium.monthly", "free_week", 3), ("premium.yearly", "quarter_up_front", 15),
            ]
            for (number, sold) in cases.enumerated() {
                let offer = sold.offer.map { #","offer":"\#($0)""# } ?? ""
                let bought = try await shop.shop(
                    "purchases",
                    #"{"productId":"com.example.storehook.\#(sold.product)","customer":"c\#(number)"\#(offer)}"#)
                let id = try #require(bought.string("transactionId"))
                let period = try await shop.client.ask(.transactionInfo(id), in: .sandbox).value.payload
                let (from, to) = (try #require(period.purchaseDate), try #require(period.expiresDate))
                #expect(to.millisecondsSince1970 - from.millisecondsSince1970 == sold.minutes * 60_000, "\(sold)")
            }
        }
    }

    @Test("can be made to sign as a stranger, and then nobody believes it")
    func forged() async throws {
        try await RunningStandIn.with { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            let id = try #require(bought.string("transactionId"))
            try await shop.shop("forgeries", #"{"count":1}"#)
            let failure = await #expect(throws: AppStoreFailure.self) {
                _ = try await shop.client.ask(.transactionInfo(id), in: .sandbox)
            }
            #expect(failure?.code == "untrusted_root")
            _ = try await shop.client.ask(.transactionInfo(id), in: .sandbox)
        }
    }

    @Test("lets a year pass when its clock is put ahead: renewals, a failed charge, grace, an end")
    func clock() async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 400)) { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)","customer":"anna"}"#)
            let original = try #require(bought.string("originalTransactionId"))
            try await shop.shop("clock", #"{"advanceSeconds":7776000}"#)
            let history = try await shop.client.ask(.transactionHistory(original), in: .sandbox).value
            #expect(history.transactions.count >= 3)
            func status() async throws -> AppleStatus? {
                let answer = try await shop.client.ask(.subscriptionStatuses(original), in: .sandbox)
                return answer.value.groups.first?.lastTransactions.first?.status
            }
            #expect(try await status() == .active)
            try await shop.shop("billing", #"{"originalTransactionId":"\#(original)","fails":true}"#)
            try await shop.shop("clock", #"{"advanceSeconds":2600000}"#)
            #expect([.gracePeriod, .billingRetry].contains(try await status()))
            try await shop.shop("clock", #"{"advanceSeconds":8000000}"#)
            #expect(try await status() == .expired)
            let truth = try #require(try await shop.shop("truth").objects("list")?.first)
            #expect(truth.integer("status") == 2)
        }
    }

    @Test("answers old receipts: its own, another environment's, a stranger's, with the secret and without")
    func receipts() async throws {
        try await RunningStandIn.with { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            let receipt = try #require(bought.string("receiptData"))
            let secret = shop.access.sharedSecret
            func status(_ place: String, _ body: String) async throws -> Int64? {
                try await shop.shop("/verifyReceipt?environment=\(place)", body).integer("status")
            }
            let right = #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
            #expect(try await status("Sandbox", right) == 0)
            #expect(try await status("Production", right) == 21_007)
            #expect(try await status("Sandbox", #"{"receipt-data":"\#(receipt)","password":"no"}"#) == 21_004)
            #expect(try await status("Sandbox", #"{"receipt-data":"\#(receipt)"}"#) == 21_004)
            #expect(try await status("Sandbox", #"{"receipt-data":"AAAA","password":"\#(secret)"}"#) == 21_003)
            #expect(try await status("Sandbox", #"{"receipt-data":"%"}"#) == 21_002)
            #expect(try await status("Sandbox", "no JSON") == 21_000)
            for code in Array(21_000...21_010) + [21_199] {
                try await shop.shop("errors", "{\"code\":\(code)}")
                #expect(try await status("Sandbox", right) == Int64(code))
            }
        }
    }

    @Test("signs its receipts, forges them when it is told to, and vouches for the genuine ones alone")
    func signedReceipts() async throws {
        try await RunningStandIn.with { shop in
            for (place, environment) in [
                ("Sandbox", Base.Environment.sandbox), ("Production", .production),
            ] {
                let bought = try await shop.shop(
                    "purchases", #"{"productId":"\#(Self.plan)","environment":"\#(place)"}"#)
                let receipt = try Receipt(Array(try #require(bought.string("receiptData")).utf8))
                let verified = try shop.verifier.verify(receipt)
                #expect(verified.environment == environment && verified.bundleId == SimulatedApp.example.bundleId)
                let purchase = try #require(verified.contents.purchases.first)
                #expect(purchase.transactionId == bought.string("transactionId"))
                #expect(receipt.transactionIds == [bought.string("originalTransactionId")])
                let answer = try await shop.receipts.ask(receipt.base64)
                #expect(answer.environment == environment && answer.transactionIds == receipt.transactionIds)
                // What verifyReceipt hands back is a receipt as well.
                let latest = try #require(JSONDocument(answer.json).object?.string("latest_receipt"))
                #expect(try shop.verifier.verify(try Receipt(Array(latest.utf8))).environment == environment)
            }
            // Its transaction and renewal info first, and then the receipt.
            try await shop.shop("forgeries", #"{"count":3}"#)
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            let forged = try Receipt(Array(try #require(bought.string("receiptData")).utf8))
            let refusal = #expect(throws: VerificationFailure.self) { _ = try shop.verifier.verify(forged) }
            #expect(refusal?.code == .untrustedRoot)
            let failure = try await #require(throws: AppStoreFailure.self) {
                _ = try await shop.receipts.ask(forged.base64)
            }
            #expect(failure.code == "receipt_not_authentic")
        }
    }

    @Test(
        "lets verifyReceipt fail as Apple's does, for as often as it is told, and leaves out what is old when asked to")
    func receiptErrors() async throws {
        try await RunningStandIn.with { shop in
            let bought = try await shop.shop("purchases", #"{"productId":"\#(Self.plan)"}"#)
            try await shop.shop("clock", #"{"advanceSeconds":5400000}"#)
            let customer = try #require(bought.string("customer"))
            let device = try await shop.shop("customers/\(customer)")
            let receipt = try Receipt(Array(try #require(device.string("receiptData")).utf8))
            try await shop.shop("errors", #"{"code":21005,"count":2}"#)
            let whole = try await shop.receipts.ask(receipt.base64)
            #expect(whole.purchases.count > 1 && whole.renewals.count == 1)
            let latest = try await shop.receipts.ask(receipt.base64, excludesOldTransactions: true)
            let info = try #require(JSONDocument(latest.json).object?.objects("latest_receipt_info"))
            #expect(info.count == 1)
            func code() async throws -> String {
                try await #require(throws: AppStoreFailure.self) { _ = try await shop.receipts.ask(receipt.base64) }
                    .code
            }
            try await shop.shop("errors", #"{"code":21199,"isRetryable":false}"#)
            #expect(try await code() == "receipt_internal_21199")
            try await shop.shop("errors", #"{"code":503,"count":1,"path":"/verifyReceipt"}"#)
            _ = try await shop.receipts.ask(receipt.base64)
        }
    }

    @Test("posts what happens, loses what it is told to lose, and lists both with their attempts")
    func posts() async throws {
        try await RunningStandIn.with { shop in
            try await shop.shop("loss", #"{"rate":100}"#)
            let lost = try await shop.shop("purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
            let id = try #require(lost.string("transactionId"))
            func attempts(of id: String) async throws -> [String]? {
                let clock = Timestamp(
                    millisecondsSince1970: try #require(try await shop.shop("clock", "{}").integer("now")))
                let request = ServerRequest.notificationHistory(
                    from: clock.adding(days: -1), to: clock.adding(days: 1), .transaction(id))
                let page = try await shop.client.ask(request, in: .sandbox).value
                return page.notifications.first?.sendAttempts.compactMap(\.sendAttemptResult?.rawValue)
            }
            try await eventually("the post is lost") { try await attempts(of: id) == ["NO_RESPONSE"] }
            try await shop.shop("loss", #"{"rate":0}"#)
            let kept = try await shop.shop("purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
            let other = try #require(kept.string("transactionId"))
            try await eventually("the post arrives") { try await attempts(of: other) == ["SUCCESS"] }
            #expect(shop.receiver.requests.count == 1)
            #expect(shop.receiver.requests[0].line == "POST /webhooks/apple")
        }
    }

    @Test("has customers who live by themselves at the chosen speed")
    func lives() async throws {
        let configuration = StandInConfiguration(
            speed: .sandbox, customers: 40, failurePercent: 40, refundPercent: 20, seed: 7, daysBehind: 1)
        try await RunningStandIn.with(configuration) { shop in
            // An hour of the Sandbox's is a year.
            try await shop.shop("clock", #"{"advanceSeconds":3600}"#)
            let lines = try #require(try await shop.shop("truth").objects("list"))
            #expect(lines.count >= 20)
            #expect(Set(lines.compactMap { $0.integer("status") }).count >= 2)
        }
    }

    @Test("lets in tokens that Apple would, and no others")
    func tokens() async throws {
        struct Claims: JWTPayload {
            var iss: String
            var iat: Int64?
            var exp: Int64
            var aud = "appstoreconnect-v1"
            var bid = "com.example.storehook"
            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }
        try await RunningStandIn.with { shop in
            let now = MachineTime.seconds
            let issuer = shop.access.issuerId
            let good = Claims(iss: issuer, iat: now, exp: now + 3600)
            let cases: [(Claims, Int)] = [
                (good, 404), (Claims(iss: issuer, exp: now + 300), 404), (Claims(iss: issuer, exp: now + 4000), 401),
                (Claims(iss: issuer, iat: now - 7200, exp: now + 60), 401), (Claims(iss: issuer, exp: now - 1), 401),
                (Claims(iss: "other", exp: now + 60), 401), (Claims(iss: issuer, exp: now + 60, aud: "x"), 401),
                (Claims(iss: issuer, exp: now + 60, bid: "x"), 401),
            ]
            let pem = try String(contentsOfFile: shop.access.privateKeyFile, encoding: .utf8)
            let keys = await JWTKeyCollection().add(ecdsa: try ES256PrivateKey(pem: pem), kid: "STANDIN001")
            let strangers = await JWTKeyCollection().add(ecdsa: ES256PrivateKey(), kid: "STANDIN001")
            for (claims, status) in cases {
                let token = try await keys.sign(claims, kid: "STANDIN001")
                #expect(try await MachineTime.status(shop.url, token) == status, "\(claims)")
            }
            let forged = try await strangers.sign(good, kid: "STANDIN001")
            #expect(try await MachineTime.status(shop.url, forged) == 401)
            #expect(try await MachineTime.status(shop.url, "") == 401)
        }
    }
}
