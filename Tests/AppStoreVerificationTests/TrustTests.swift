import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("What Apple signed")
struct TrustTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier

    init() throws {
        authority = try SimulatedAuthority.generate()
        verifier = Subscriber.verifier(trusting: authority)
    }

    @Test("is trusted for the environments of its root alone, as a whole, in its parts, and where they stand alone")
    func rootsOfEnvironments() throws {
        let apple = try SimulatedAuthority.generate()
        let xcode = authority
        let (appStore, own) = try (
            #require(Fingerprint(apple.rootFingerprint)), #require(Fingerprint(xcode.rootFingerprint))
        )
        let roots = TrustedRoots([.production: [appStore], .sandbox: [appStore], .xcode: [own]])
        let verifier = Subscriber.verifier(trusting: apple) {
            $0.environments = [.production, .sandbox, .xcode]
            $0.trustedRoots = roots
        }
        func code(
            _ signer: SimulatedAuthority, parts: SimulatedAuthority? = nil, _ environment: PayloadText?,
            parts inner: PayloadText? = nil
        ) -> VerificationCode? {
            var subscriber = Subscriber(signer)
            subscriber.partsAuthority = parts
            subscriber.data["environment"] = environment
            subscriber.transaction["environment"] = inner
            subscriber.renewal["environment"] = inner
            let jws = subscriber.jws
            return failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
        }
        #expect(code(apple, "Sandbox") == nil && code(apple, "Production") == nil && code(xcode, "Xcode") == nil)
        #expect(code(xcode, "Sandbox") == .untrustedRoot && code(xcode, "Production") == .untrustedRoot)
        #expect(code(apple, "Xcode") == .untrustedRoot)
        // Its parts name no environment, and are of the one around them.
        #expect(code(apple, parts: xcode, "Production") == .untrustedRoot)
        #expect(code(apple, parts: xcode, "Production", parts: "Xcode") == .mismatchedParts)
        for (signer, expected) in [(apple, nil), (xcode, VerificationCode.untrustedRoot)] {
            var transaction = Subscriber(signer).transaction
            transaction["environment"] = "Production"
            var renewal = Subscriber(signer).renewal
            renewal["environment"] = "Production"
            let download: PayloadText = [
                "bundleId": "com.example.app", "receiptType": "Production", "appAppleId": 1_234_567_890,
                "receiptCreationDate": 1_767_323_045_678,
            ]
            let signed = [transaction, renewal, download].map { Array(signer.sign($0.bytes).utf8) }
            let codes = [
                failure { () throws(VerificationFailure) in try verifier.verifyTransaction(signed[0]) },
                failure { () throws(VerificationFailure) in try verifier.verifyRenewal(signed[1]) },
                failure { () throws(VerificationFailure) in try verifier.verifyAppTransaction(signed[2]) },
            ]
            #expect(codes == Array(repeating: expected, count: 3))
        }
    }

    @Test("is refused for now where it says that it was signed more than five minutes from now, in any of its parts")
    func signedInFuture() throws {
        let now = Timestamp(millisecondsSince1970: Subscriber.signedDate)
        let latest: PayloadText = .raw("\(Subscriber.signedDate + 300_000)")
        let later: PayloadText = .raw("\(Subscriber.signedDate + 300_001)")
        func code(
            _ change: (inout Subscriber) -> Void, isBackfill: Bool = false, now: Timestamp? = nil
        ) -> VerificationCode? {
            var subscriber = Subscriber(authority)
            change(&subscriber)
            let jws = subscriber.jws
            return failure { () throws(VerificationFailure) in
                try verifier.verifyNotification(jws, isBackfill: isBackfill, now: now)
            }
        }
        let changes: [@Sendable (inout Subscriber, PayloadText) -> Void] = [
            { $0.notification["signedDate"] = $1 }, { $0.transaction["signedDate"] = $1 },
            { $0.renewal["signedDate"] = $1 },
        ]
        for change in changes {
            #expect(code { change(&$0, latest) } == nil)
            #expect(code { change(&$0, later) } == .signedInFuture)
            // Another clock than the verifier's, where a call names one; none, for what was in the archive.
            #expect(code({ change(&$0, later) }, now: now.adding(seconds: 1)) == nil)
            #expect(code({ change(&$0, latest) }, now: now.adding(seconds: -1)) == .signedInFuture)
            #expect(code({ change(&$0, later) }, isBackfill: true) == nil)
        }
        #expect(VerificationCode.allCases.filter(\.isTransient) == [.signedInFuture, .revocationUnknown])
        var transaction = Subscriber(authority).transaction
        transaction["signedDate"] = later
        var renewal = Subscriber(authority).renewal
        renewal["signedDate"] = later
        var download: PayloadText = ["bundleId": "com.example.app", "receiptType": "Sandbox"]
        download["signedDate"] = later
        let signed = [transaction, renewal, download].map { Array(authority.sign($0.bytes).utf8) }
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyTransaction(signed[0]) } == .signedInFuture)
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyRenewal(signed[1]) } == .signedInFuture)
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyAppTransaction(signed[2]) }
                == .signedInFuture)
        #expect(try verifier.verifyTransaction(signed[0], now: now.adding(seconds: 1)).quantity == 1)
        #expect(try verifier.verifyTransaction(signed[0], isBackfill: true).quantity == 1)
    }

    /// A transaction has all that a renewal info must have, and an app transaction names its app where a transaction does.
    @Test("is not taken for another kind of record, alone or as a part")
    func kinds() throws {
        let verifier = verifier
        let subscriber = Subscriber(authority)
        var download: PayloadText = ["bundleId": "com.example.app", "receiptType": "Sandbox"]
        download["signedDate"] = .raw("\(Subscriber.signedDate)")
        let records: [(kind: Int, jws: [UInt8])] = [
            (0, subscriber.jws), (1, Array(authority.sign(subscriber.transaction.bytes).utf8)),
            (2, Array(authority.sign(subscriber.renewal.bytes).utf8)), (3, Array(authority.sign(download.bytes).utf8)),
        ]
        for (kind, jws) in records {
            let codes = [
                failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) },
                failure { () throws(VerificationFailure) in try verifier.verifyTransaction(jws) },
                failure { () throws(VerificationFailure) in try verifier.verifyRenewal(jws) },
                failure { () throws(VerificationFailure) in try verifier.verifyAppTransaction(jws) },
            ]
            #expect(codes == (0..<4).map { $0 == kind ? nil : .malformedPayload }, "\(kind)")
        }
        // A renewal info with what a transaction needs besides is neither; and parts in each other's place.
        var both = subscriber.renewal
        both["transactionId"] = "2000000900000002"
        both["bundleId"] = "com.example.app"
        let jws = Array(authority.sign(both.bytes).utf8)
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyTransaction(jws) } == .malformedPayload)
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyRenewal(jws) } == .malformedPayload)
        var swapped = subscriber
        swapped.renewal = subscriber.transaction
        let parts = swapped.jws
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyNotification(parts) } == .malformedPayload)
    }

    @Test("alone, in Production, is held against the App Apple ID where it says one")
    func standaloneApp() throws {
        func code(_ environment: PayloadText, _ id: PayloadText?) -> VerificationCode? {
            var transaction = Subscriber(authority).transaction
            transaction["environment"] = environment
            transaction["appAppleId"] = id
            let jws = Array(authority.sign(transaction.bytes).utf8)
            return failure { () throws(VerificationFailure) in try verifier.verifyTransaction(jws) }
        }
        #expect(code("Production", nil) == nil)
        #expect(code("Production", .raw("\(Subscriber.appAppleId)")) == nil)
        #expect(code("Production", 1) == .wrongAppAppleId)
        #expect(code("Sandbox", 1) == nil)
    }
}
