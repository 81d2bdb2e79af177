import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("A known attack on a payload")
struct KnownAttackTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier

    init() throws {
        authority = try SimulatedAuthority.generate()
        verifier = Subscriber.verifier(trusting: authority)
    }

    private func code(_ jws: [UInt8]) -> VerificationCode? {
        failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
    }

    private func code(signing payload: [UInt8]) -> VerificationCode? { code(Array(authority.sign(payload).utf8)) }

    private func segments(_ jws: [UInt8]) -> [[UInt8]] { jws.split(separator: UInt8(ascii: ".")).map { Array($0) } }

    private func joined(_ segments: [[UInt8]]) -> [UInt8] { Array(segments.joined(separator: [UInt8(ascii: ".")])) }

    /// A subscriber's payload with one piece of its text exchanged, truly signed again.
    private func code(exchanging old: String, for new: String, in part: WritableKeyPath<Subscriber, PayloadText>)
        throws -> VerificationCode?
    {
        var subscriber = Subscriber(authority)
        let text = subscriber[keyPath: part].json
        try #require(text.contains(old))
        subscriber[keyPath: part] = .raw(text.replacing(old, with: new))
        return code(subscriber.jws)
    }

    @Test(
        "an edited payload under the genuine header and signature is refused",
        arguments: ["2000000900000002", "9990"])
    func edited(value: String) throws {
        let transaction = Array(authority.sign(Subscriber(authority).transaction.bytes).utf8)
        var parts = segments(transaction)
        let payload = String(decoding: try #require(Base64.url.decode(parts[1])), as: UTF8.self)
        try #require(payload.contains(value))
        parts[1] = Base64.url.encode(Array(payload.replacing(value, with: "1" + value.dropFirst()).utf8))
        let forged = joined(parts)
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyTransaction(forged) } == .invalidSignature)
    }

    @Test("a genuine transaction put into another notification is refused, whoever signs the notification again")
    func transplanted() throws {
        var victim = Subscriber(authority)
        victim.transaction["transactionId"] = "2000000900000077"
        victim.transaction["originalTransactionId"] = "2000000900000070"
        let stolen = authority.sign(victim.transaction.bytes)
        let thief = Subscriber(authority)
        var payload = thief.payload
        var data = try #require(payload["data"])
        data["signedTransactionInfo"] = .text(stolen)
        payload["data"] = data
        // Only Apple can sign it again; an attacker has only the old signature.
        let genuine = segments(thief.jws)
        #expect(code(joined([genuine[0], Base64.url.encode(payload.bytes), genuine[2]])) == .invalidSignature)
        // And should Apple's own hand mix two customers up, the parts still have to belong together.
        #expect(code(signing: payload.bytes) == .mismatchedParts)
    }

    @Test("a name that stands twice is refused in every part, however it is written")
    func duplicateKeys() throws {
        for twice in [#""signedDate":1767323045600,"#, #""sign\u0065dDate":1767323045600,"#] {
            #expect(try code(exchanging: "{", for: "{" + twice, in: \.transaction) == .malformedPayload)
            #expect(try code(exchanging: "{", for: "{" + twice, in: \.renewal) == .malformedPayload)
            var outer = Subscriber(authority).payload.bytes
            outer.insert(contentsOf: twice.utf8, at: 1)
            #expect(code(signing: outer) == .malformedPayload)
        }
        #expect(
            try code(exchanging: "{", for: #"{"environment":"Production","#, in: \.data) == .malformedPayload)
    }

    @Test("deeply nested JSON is refused in every part, however well signed")
    func deep() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let depth = 20_000
            let nest = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            for part in [\Subscriber.transaction, \.renewal, \.data] {
                #expect(try code(exchanging: "{", for: "{\"deep\":\(nest),", in: part) == .malformedPayload)
            }
        }
    }

    @Test(
        "huge JSON is read in linear time and judged by what it says, and a text by its bound: the size alone is the receiver's to refuse"
    )
    func huge() throws {
        let members = (0..<15_000).map { "\"member number \($0)\":\($0)," }.joined()
        #expect(try code(exchanging: "{", for: "{" + members, in: \.transaction) == nil)
        let text = String(repeating: "x", count: 300_000)
        #expect(try code(exchanging: "2000000900000002", for: text, in: \.transaction) == .malformedPayload)
        #expect(try code(exchanging: "com.example.app\"", for: text + "\"", in: \.data) == .malformedPayload)
    }

    @Test("a number beyond Int64 is refused as a date and absent as anything else, never rounded")
    func largeNumbers() throws {
        for number in ["9223372036854775808", "-9223372036854775809", "1e400", "99999999999999999999999999"] {
            for field in ["purchaseDate", "expiresDate", "signedDate"] {
                var subscriber = Subscriber(authority)
                subscriber.transaction[field] = .raw(number)
                #expect(code(subscriber.jws) == .malformedPayload, "\(field) \(number)")
            }
            var subscriber = Subscriber(authority)
            subscriber.moveToProduction()
            subscriber.data["appAppleId"] = .raw(number)
            #expect(code(subscriber.jws) == .wrongAppAppleId, "\(number)")
        }
    }

    @Test("a date with a fraction is read as the millisecond it lies in, and cannot stretch a certificate's validity")
    func fractions() throws {
        var subscriber = Subscriber(authority)
        subscriber.transaction["expiresDate"] = .raw("1770001440000.9999")
        subscriber.notification["signedDate"] = .raw("1767323045678.9")
        let verified = try verifier.verifyNotification(subscriber.jws)
        #expect(verified.transaction?.expiresDate?.millisecondsSince1970 == 1_770_001_440_000)
        #expect(verified.payload.signedDate.millisecondsSince1970 == 1_767_323_045_678)

        let second = Timestamp(secondsSince1970: Subscriber.signedDate / 1000)
        var shape = CertificateShape.leaf
        shape.notBefore = second
        shape.notAfter = second
        let narrow = try SimulatedAuthority.generate(leaf: shape)
        let strict = Subscriber.verifier(trusting: narrow)
        for (date, expected) in [
            ("1767323045999.9999", nil), ("1767323046000.0001", .certificateNotValidAt),
            ("1767323044999.9999", .certificateNotValidAt),
        ] as [(String, VerificationCode?)] {
            var subscriber = Subscriber(narrow)
            subscriber.notification["signedDate"] = .raw(date)
            let jws = subscriber.jws
            #expect(failure { () throws(VerificationFailure) in try strict.verifyNotification(jws) } == expected)
        }
    }

    @Test("bytes that are not UTF-8 are refused in every part, however well signed")
    func invalidUTF8() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] {
            let member = Array("\"text\":\"".utf8) + bytes + Array("\",".utf8)
            var outer = Subscriber(authority).payload.bytes
            outer.insert(contentsOf: member, at: 1)
            #expect(code(signing: outer) == .malformedPayload, "\(bytes)")
            var transaction = Subscriber(authority).transaction.bytes
            transaction.insert(contentsOf: member, at: 1)
            let jws = Array(authority.sign(transaction).utf8)
            #expect(
                failure { () throws(VerificationFailure) in try verifier.verifyTransaction(jws) } == .malformedPayload)
        }
    }
}
