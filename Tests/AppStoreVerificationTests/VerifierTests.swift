import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("A notification rightly signed")
struct VerifierTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier

    init() throws {
        authority = try SimulatedAuthority.generate()
        verifier = Subscriber.verifier(trusting: authority)
    }

    @Test("is accepted, with its parts, its claims and their digests")
    func accepted() throws {
        let subscriber = Subscriber(authority)
        let verified = try verifier.verifyNotification(subscriber.jws)
        #expect(verified.payload.notificationType == .subscribed)
        #expect(verified.payload.subtype == .initialBuy)
        #expect(verified.bundleId == Subscriber.bundleId)
        #expect(verified.environment == .sandbox)
        let transaction = try #require(verified.transaction)
        #expect(transaction.transactionId == "2000000900000002")
        #expect(transaction.json == subscriber.transaction.bytes)
        let renewal = try #require(verified.renewal)
        #expect(renewal.autoRenewStatus == .on)
        #expect(verified.digests.transaction == Fingerprint(of: subscriber.transaction.bytes))
        #expect(verified.digests.renewal == Fingerprint(of: subscriber.renewal.bytes))
        #expect(verified.digests.appTransaction == nil)
    }

    @Test("is accepted without parts, as TEST comes")
    func bare() throws {
        var subscriber = Subscriber(authority)
        subscriber.hasTransaction = false
        subscriber.hasRenewal = false
        subscriber.notification["notificationType"] = "TEST"
        let verified = try verifier.verifyNotification(subscriber.jws)
        #expect(verified.transaction == nil)
        #expect(verified.renewal == nil)
    }

    @Test("is accepted with a type, members and enum values of the future")
    func future() throws {
        var subscriber = Subscriber(authority)
        subscriber.notification["notificationType"] = "TIME_TRAVEL"
        subscriber.notification["somethingNew"] = ["deep": ["deeper": true]]
        subscriber.transaction["type"] = "Lease"
        let verified = try verifier.verifyNotification(subscriber.jws)
        #expect(verified.payload.notificationType.rawValue == "TIME_TRAVEL")
        #expect(!verified.payload.notificationType.isKnown)
        #expect(verified.transaction?.type?.rawValue == "Lease")
    }

    @Test("is accepted in Production if the App Apple ID is the one configured")
    func production() throws {
        var subscriber = Subscriber(authority)
        subscriber.moveToProduction()
        #expect(try verifier.verifyNotification(subscriber.jws).environment == .production)
    }

    @Test("is accepted as a summary, an external purchase token and an app's data")
    func otherKinds() throws {
        var subscriber = Subscriber(authority)
        subscriber.notification["data"] = nil
        func signed(_ name: String, _ part: PayloadText) -> [UInt8] {
            var payload = subscriber.notification
            payload[name] = part
            return Array(authority.sign(payload.bytes).utf8)
        }
        let summary: PayloadText = [
            "requestIdentifier": "a", "environment": "Sandbox", "bundleId": "com.example.app", "succeededCount": 5,
        ]
        #expect(try verifier.verifyNotification(signed("summary", summary)).environment == .sandbox)
        let token: PayloadText = [
            "externalPurchaseId": "SANDBOX_1", "bundleId": "com.example.app", "appAppleId": 1_234_567_890,
        ]
        #expect(try verifier.verifyNotification(signed("externalPurchaseToken", token)).environment == .sandbox)
        var real = token
        real["externalPurchaseId"] = "0a1b"
        #expect(try verifier.verifyNotification(signed("externalPurchaseToken", real)).environment == .production)
        let download: PayloadText = [
            "bundleId": "com.example.app", "receiptType": "Sandbox", "receiptCreationDate": 1_767_323_045_678,
        ]
        var app: PayloadText = ["bundleId": "com.example.app", "environment": "Sandbox", "appAppleId": 1_234_567_890]
        app["signedAppTransactionInfo"] = .text(authority.sign(download.bytes))
        let verified = try verifier.verifyNotification(signed("appData", app))
        #expect(verified.appTransaction?.bundleId == "com.example.app")
        #expect(verified.digests.appTransaction == Fingerprint(of: download.bytes))
    }

    @Test("is accepted from Xcode only where Xcode is served, and then by the same path")
    func xcode() throws {
        let own = try #require(Fingerprint(authority.rootFingerprint))
        var subscriber = Subscriber(authority)
        subscriber.data["environment"] = "Xcode"
        subscriber.transaction["environment"] = "Xcode"
        subscriber.renewal["environment"] = "Xcode"
        let jws = subscriber.jws
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == .wrongEnvironment)
        let serving = Subscriber.verifier(trusting: authority) {
            $0.environments.insert(.xcode)
            $0.trustedRoots.byEnvironment[.xcode] = [own]
        }
        #expect(try serving.verifyNotification(jws).environment == .xcode)
        let stranger = try SimulatedAuthority.generate()
        let elsewhere = Subscriber.verifier(trusting: stranger) {
            $0.environments.insert(.xcode)
            $0.trustedRoots.byEnvironment[.xcode] = $0.trustedRoots.byEnvironment[.sandbox]
        }
        #expect(failure { () throws(VerificationFailure) in try elsewhere.verifyNotification(jws) } == .untrustedRoot)
    }

    @Test("is refused past the age limit, if there is one, unless it is a backfill")
    func age() throws {
        var subscriber = Subscriber(authority)
        let dayAndOne: Int64 = 86_400_001
        subscriber.notification["signedDate"] = .raw("\(Subscriber.signedDate - dayAndOne)")
        let jws = subscriber.jws
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == nil)
        let strict = Subscriber.verifier(trusting: authority) { $0.maximumAges = [.sandbox: .seconds(86_400)] }
        #expect(failure { () throws(VerificationFailure) in try strict.verifyNotification(jws) } == .payloadTooOld)
        #expect(try strict.verifyNotification(jws, isBackfill: true).bundleId == Subscriber.bundleId)
        let strictElsewhere = Subscriber.verifier(trusting: authority) {
            $0.maximumAges = [.xcode: .seconds(86_400)]
        }
        #expect(try strictElsewhere.verifyNotification(jws).bundleId == Subscriber.bundleId)
        subscriber.notification["signedDate"] = .raw("\(Subscriber.signedDate - dayAndOne + 1)")
        #expect(try strict.verifyNotification(subscriber.jws).bundleId == Subscriber.bundleId)
    }

    @Test("stands alone as transaction, renewal info or app transaction")
    func standalone() throws {
        let subscriber = Subscriber(authority)
        let transaction = Array(authority.sign(subscriber.transaction.bytes).utf8)
        #expect(try verifier.verifyTransaction(transaction).productId == "com.example.app.monthly")
        let renewal = Array(authority.sign(subscriber.renewal.bytes).utf8)
        #expect(try verifier.verifyRenewal(renewal).renewalPrice == 9990)
        let download: PayloadText = [
            "bundleId": "com.example.app", "receiptType": "Production", "appAppleId": 1_234_567_890,
            "receiptCreationDate": 1_767_323_045_678,
        ]
        #expect(
            try verifier.verifyAppTransaction(Array(authority.sign(download.bytes).utf8)).appAppleId == 1_234_567_890)
    }

    @Test("is verified the same from many threads at once")
    func concurrent() async throws {
        let jws = Subscriber(authority).jws
        let verifier = verifier
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 { group.addTask { (try? verifier.verifyNotification(jws)) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 32)
        let statistics = verifier.chainCache.statistics
        #expect(statistics.count == 1)
        #expect(statistics.hits + statistics.misses == 32)
    }
}
