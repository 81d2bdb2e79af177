import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("A notification's claims")
struct ClaimTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier

    init() throws {
        authority = try SimulatedAuthority.generate()
        verifier = Subscriber.verifier(trusting: authority)
    }

    private func code(_ change: (inout Subscriber) throws -> Void) rethrows -> VerificationCode? {
        var subscriber = Subscriber(authority)
        try change(&subscriber)
        let jws = subscriber.jws
        return failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
    }

    @Test("of another app, or of none, are refused")
    func bundle() {
        #expect(code { $0.data["bundleId"] = "com.example.other" } == .wrongBundle)
        #expect(code { $0.data["bundleId"] = "com.example.APP" } == .wrongBundle)
        #expect(code { $0.data["bundleId"] = "com.example.app.extension" } == .wrongBundle)
        #expect(code { $0.data["bundleId"] = nil } == .wrongBundle)
        #expect(code { $0.data["bundleId"] = 5 } == .wrongBundle)
    }

    @Test("of another app say which, in one line that no name makes long or strange")
    func bundleName() {
        func message(_ name: PayloadText?) -> String {
            var subscriber = Subscriber(authority)
            subscriber.data["bundleId"] = name
            let jws = subscriber.jws
            do throws(VerificationFailure) {
                _ = try verifier.verifyNotification(jws)
                return "accepted"
            } catch {
                return error.message
            }
        }
        let rest = " is none of the apps served; if it should be, add it to STOREHOOK_APPS."
        #expect(message("com.example.Other-1") == "bundleId com.example.Other-1\(rest)")
        #expect(message(nil) == "bundleId is missing.")
        #expect(message("") == "bundleId \"\"\(rest)")
        #expect(
            message("a\u{9B}[2J\u{202E}é,b=1 x") == #"bundleId "a\u{9B}\u{5B}2J\u{202E}\u{E9}\u{2C}b\u{3D}1\u{20}x""#
                + rest)
        for long in [("x", 255), ("\u{1F600}", 63), ("\u{FEFF}", 85)].map({ String(repeating: $0.0, count: $0.1) }) {
            let line = message(.init(stringLiteral: long))
            #expect(line.hasSuffix("…\"\(rest)") && line.utf8.count < 700 && !line.contains("\n"), "\(line)")
        }
        #expect(
            message(.init(stringLiteral: String(repeating: "x", count: 256))) == "bundleId is longer than 255 bytes.")
        let longest = String(repeating: "x", count: 155)
        #expect(message(.init(stringLiteral: longest)) == "bundleId \(longest)\(rest)")
    }

    @Test("of an environment that is not served, or of none, are refused")
    func environment() {
        for name: PayloadText in ["Xcode", "LocalTesting", "production", "SANDBOX", "", "Moon", 1] {
            #expect(code { $0.data["environment"] = name } == .wrongEnvironment)
        }
        #expect(code { $0.data["environment"] = nil } == .wrongEnvironment)
        let jws = Subscriber(authority).jws
        let production = Subscriber.verifier(trusting: authority) { $0.environments = [.production] }
        #expect(
            failure { () throws(VerificationFailure) in try production.verifyNotification(jws) } == .wrongEnvironment)
    }

    @Test("in Production with another App Apple ID, or where none is known, are refused; in Sandbox it does not count")
    func appAppleId() throws {
        #expect(code { $0.data["appAppleId"] = nil } == nil)
        #expect(code { $0.data["appAppleId"] = 1 } == nil)
        func production(_ id: PayloadText?) -> VerificationCode? {
            code {
                $0.moveToProduction()
                $0.data["appAppleId"] = id
            }
        }
        #expect(production(.raw("\(Subscriber.appAppleId)")) == nil)
        #expect(production(1) == .wrongAppAppleId)
        #expect(production(nil) == .wrongAppAppleId)
        #expect(production("1234567890") == .wrongAppAppleId)
        var subscriber = Subscriber(authority)
        subscriber.moveToProduction()
        let jws = subscriber.jws
        let unconfigured = Subscriber.verifier(trusting: authority) { $0.apps = [Subscriber.bundleId: nil] }
        do throws(VerificationFailure) {
            _ = try unconfigured.verifyNotification(jws)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .wrongAppAppleId)
            #expect(error.message.contains("STOREHOOK_APPS"))
        }
    }

    @Test("that a payload cannot be read, or is about nothing, are told as such")
    func malformedPayload() {
        #expect(code { $0.notification["signedDate"] = nil } == .malformedPayload)
        #expect(code { $0.notification["signedDate"] = "2026-01-02" } == .malformedPayload)
        #expect(code { $0.notification["signedDate"] = .raw("9223372036854775808") } == .malformedPayload)
        #expect(code { $0.notification["signedDate"] = .raw("9223372036854775807") } == .malformedPayload)
        #expect(code { $0.notification["notificationUUID"] = nil } == .malformedPayload)
        #expect(code { $0.notification["notificationUUID"] = "1" } == .malformedPayload)
        #expect(code { $0.notification["notificationType"] = nil } == .malformedPayload)
        #expect(code { $0.notification["summary"] = ["bundleId": "com.example.app"] } == .malformedPayload)
        #expect(code { $0.transaction["transactionId"] = nil } == .malformedPayload)
        #expect(code { $0.transaction["signedDate"] = .raw("9223372036854775807") } == .malformedPayload)
        #expect(code { $0.renewal["originalTransactionId"] = "" } == .malformedPayload)
        for text in ["", "[]", "7", "{\"a\":1,\"a\":1}", String(repeating: "[", count: 100_000), "{}"] {
            let jws = Array(authority.sign(text).utf8)
            #expect(
                failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == .malformedPayload)
        }
        var empty = Subscriber(authority).notification
        empty["data"] = nil
        let jws = Array(authority.sign(empty.bytes).utf8)
        #expect(failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == .malformedPayload)
    }

    @Test("count a part without a date of its own from the notification's signing on, with certificates valid then")
    func undatedParts() throws {
        var subscriber = Subscriber(authority)
        subscriber.transaction["signedDate"] = nil
        subscriber.renewal["signedDate"] = "2026-01-02"
        let verified = try verifier.verifyNotification(subscriber.jws)
        #expect(verified.transaction?.signedDate == verified.payload.signedDate)
        #expect(verified.transaction?.expiresDate != nil)
        #expect(verified.renewal?.signedDate == verified.payload.signedDate)
        // By itself nothing tells when it was signed, and so not which record of the transaction is the latest.
        let transaction = Array(authority.sign(subscriber.transaction.bytes).utf8)
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyTransaction(transaction) }
                == .malformedPayload)
    }

    @Test("do not fit parts of another app, environment or subscription")
    func mismatchedParts() throws {
        #expect(code { $0.transaction["bundleId"] = "com.example.other" } == .mismatchedParts)
        #expect(code { $0.transaction["environment"] = "Production" } == .mismatchedParts)
        #expect(code { $0.renewal["environment"] = "Production" } == .mismatchedParts)
        #expect(code { $0.renewal["originalTransactionId"] = "2000000900000009" } == .mismatchedParts)
        #expect(code { $0.transaction["originalTransactionId"] = "2000000900000009" } == .mismatchedParts)
        // Old records name no environment, and a renewal info may come alone.
        #expect(code { $0.transaction["environment"] = nil } == nil)
        #expect(code { $0.renewal["environment"] = nil } == nil)
        #expect(
            code {
                $0.hasTransaction = false
                $0.renewal["originalTransactionId"] = "2000000900000009"
            } == nil)
    }

    @Test("do not fit an app transaction of another app or environment")
    func mismatchedAppTransaction() {
        func code(_ bundleId: PayloadText, _ environment: PayloadText, _ date: PayloadText?) -> VerificationCode? {
            var download: PayloadText = ["bundleId": bundleId, "receiptType": environment]
            download["receiptCreationDate"] = date
            var app: PayloadText = ["bundleId": "com.example.app", "environment": "Sandbox"]
            app["signedAppTransactionInfo"] = .text(authority.sign(download.bytes))
            var payload = Subscriber(authority).notification
            payload["data"] = nil
            payload["appData"] = app
            let jws = Array(authority.sign(payload.bytes).utf8)
            return failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
        }
        #expect(code("com.example.app", "Sandbox", 1_767_323_045_678) == nil)
        #expect(code("com.example.other", "Sandbox", 1_767_323_045_678) == .mismatchedParts)
        #expect(code("com.example.app", "Production", 1_767_323_045_678) == .mismatchedParts)
        #expect(code("com.example.app", "Sandbox", nil) == .malformedPayload)
    }

    @Test("do not lend trust to a part that another hand signed")
    func partOfAnotherHand() throws {
        let stranger = try SimulatedAuthority.generate()
        #expect(code { $0.partsAuthority = stranger } == .untrustedRoot)
        // Another trusted hand is another matter: Apple's leaves change and overlap.
        var subscriber = Subscriber(authority)
        subscriber.partsAuthority = stranger
        let both = Subscriber.verifier(trusting: authority, stranger)
        #expect(try both.verifyNotification(subscriber.jws).renewal != nil)
        #expect(both.chainCache.statistics.count == 2)
    }

    @Test("do not lend trust to a part that was edited, cut or left empty")
    func editedPart() {
        func code(_ name: String, _ edit: (String) -> String) -> VerificationCode? {
            let subscriber = Subscriber(authority)
            var payload = subscriber.payload
            guard var data = payload["data"], case .text(let part) = data[name] else { return nil }
            data[name] = .text(edit(part))
            payload["data"] = data
            let jws = Array(authority.sign(payload.bytes).utf8)
            return failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
        }
        for name in ["signedTransactionInfo", "signedRenewalInfo"] {
            #expect(code(name) { _ in "" } == .malformed)
            #expect(code(name) { String($0.dropLast()) } != nil)
            #expect(
                code(name) { part in
                    let segments = part.split(separator: ".")
                    return
                        "\(segments[0]).\(Subscriber(authority).authority.sign("{}").split(separator: ".")[1]).\(segments[2])"
                } == .invalidSignature)
        }
    }

    @Test("of a failure in a part are told with the part's name and without its contents")
    func messages() {
        var subscriber = Subscriber(authority)
        subscriber.transaction["bundleId"] = "com.example.secret"
        let jws = subscriber.jws
        do throws(VerificationFailure) {
            _ = try verifier.verifyNotification(jws)
            Issue.record("accepted")
        } catch {
            #expect(error.message.hasPrefix("signedTransactionInfo: "))
            #expect(!error.message.contains("secret"))
            #expect(!error.message.contains("\n"))
        }
    }

    @Test("of parts that stand alone are checked too")
    func standalone() {
        func code(_ text: PayloadText) -> VerificationCode? {
            let jws = Array(authority.sign(text.bytes).utf8)
            return failure { () throws(VerificationFailure) in try verifier.verifyTransaction(jws) }
        }
        var transaction = Subscriber(authority).transaction
        #expect(code(transaction) == nil)
        transaction["environment"] = nil
        #expect(code(transaction) == .wrongEnvironment)
        transaction["environment"] = "Sandbox"
        transaction["bundleId"] = "com.example.other"
        #expect(code(transaction) == .wrongBundle)
        let download: PayloadText = [
            "bundleId": "com.example.app", "receiptType": "Production", "receiptCreationDate": 1_767_323_045_678,
        ]
        let jws = Array(authority.sign(download.bytes).utf8)
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyAppTransaction(jws) } == .wrongAppAppleId)
    }
}
