import AppStorePayloads
import AppStoreVerification
import Simulation
import Testing

@Suite("A hostile JWS")
struct HostileHeaderTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier
    private let payload: [UInt8]
    private let jws: [UInt8]

    init() throws {
        authority = try SimulatedAuthority.generate()
        verifier = Subscriber.verifier(trusting: authority)
        let subscriber = Subscriber(authority)
        payload = subscriber.payload.bytes
        jws = Array(authority.sign(payload).utf8)
    }

    private func code(_ text: [UInt8]) -> VerificationCode? {
        failure { () throws(VerificationFailure) in try verifier.verifyNotification(text) }
    }

    private func code(header: String) -> VerificationCode? {
        code(Array(authority.sign(payload, header: Array(header.utf8)).utf8))
    }

    private var segments: [[UInt8]] {
        jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
    }

    private func joined(_ segments: [[UInt8]]) -> [UInt8] { Array(segments.joined(separator: [UInt8(ascii: ".")])) }

    private var certificates: [String] {
        authority.chain.map { String(decoding: Base64.standard.encode($0.der), as: UTF8.self) }
    }

    private func header(alg: String? = "ES256", x5c: [String]? = nil, extra: String = "") -> String {
        let chain = (x5c ?? certificates).map { "\"\($0)\"" }.joined(separator: ",")
        return "{" + (alg.map { "\"alg\":\"\($0)\"," } ?? "") + "\"x5c\":[\(chain)]\(extra)}"
    }

    @Test("that does not have three segments is malformed")
    func segmentCount() {
        let parts = segments
        #expect(code([]) == .malformed)
        #expect(code(Array("..".utf8)) == .malformed)
        #expect(code(parts[0]) == .malformed)
        #expect(code(joined(Array(parts[..<2]))) == .malformed)
        #expect(code(joined(parts + [parts[2]])) == .malformed)
        #expect(code(joined([[], parts[1], parts[2]])) == .malformed)
    }

    @Test("with padding, white space or characters of the other base64 is malformed", arguments: 0..<3)
    func segmentText(index: Int) {
        for addition in ["=", "==", " ", "\n", "\r\n", "+", "/", "\u{0}", "é"] {
            var parts = segments
            parts[index] += Array(addition.utf8)
            let result = code(joined(parts))
            // A changed header or payload may also fail as what it says: never is it accepted.
            #expect([.malformed, .invalidSignature].contains(result), "\(addition) in segment \(index)")
            var inside = segments
            inside[index].insert(contentsOf: addition.utf8, at: inside[index].count / 2)
            #expect(
                [.malformed, .invalidSignature].contains(code(joined(inside))), "\(addition) within segment \(index)")
        }
    }

    @Test("whose last character has bits that mean nothing is malformed: one signature has one text")
    func unusedBits() throws {
        var text = jws
        // 64 bytes end in a character with four unused bits.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let last = try #require(text.last)
        let value = try #require(alphabet.firstIndex(of: last))
        text[text.count - 1] = alphabet[value | 1]
        #expect(code(text) == .malformed)
    }

    @Test("whose header is not a strict JSON object is malformed")
    func headerText() {
        for text in [
            "", "[]", "\"ES256\"", "{", "{}", "null", header() + " x", "{\"alg\":\"ES256\"}",
            header(alg: nil), header(alg: "ES256", extra: ",\"alg\":\"none\""),
            header(alg: "none", extra: ",\"al\\u0067\":\"ES256\""), header(extra: ",\"crit\":[\"exp\"]"),
            "{\"alg\":256,\"x5c\":[]}", "{\"alg\":\"ES256\",\"x5c\":\"\"}", "{\"alg\":\"ES256\",\"x5c\":null}",
            "{\"alg\":\"ES256\",\"x5c\":[1,2,3]}", "{\"alg\":\"ES256\",\"x5c\":[[],[],[]]}",
        ] {
            #expect(code(header: text) == .malformed, "\(text.prefix(60))")
        }
        #expect(
            code(joined([Base64.url.encode([0x7B, 0x22, 0xFF, 0x22, 0x7D]), segments[1], segments[2]])) == .malformed)
    }

    @Test("that names another algorithm is refused, however it is signed")
    func algorithm() {
        for name in ["none", "None", "HS256", "ES384", "ES512", "RS256", "EdDSA", "es256", "ES256 ", ""] {
            #expect(code(header: header(alg: name)) == .unsupportedAlgorithm, "\(name)")
        }
        // The classic: no signature at all.
        let unsigned = joined([Base64.url.encode(Array(header(alg: "none").utf8)), segments[1], []])
        #expect(code(unsigned) == .unsupportedAlgorithm)
    }

    @Test("with none, one, two, four or a hundred certificates is refused")
    func chainLength() {
        let all = certificates
        for x5c in [
            [], [all[0]], [all[0], all[1]], [all[0], all[2]], all + [all[2]], all + all,
            Array(repeating: all[0], count: 100),
        ] {
            #expect(code(header: header(x5c: x5c)) == .wrongChainLength, "\(x5c.count) certificates")
        }
    }

    @Test("with a certificate that is no certificate is refused")
    func malformedCertificate() {
        let all = certificates
        let leaf = authority.chain[0].der
        for text in [
            "", "AAAA", "A", all[0] + "=", String(all[0].dropLast(4)), all[0].replacing("+", with: "-") + " ", "{}",
            String(decoding: Base64.standard.encode(leaf + [0]), as: UTF8.self),
            String(decoding: Base64.standard.encode(Array(leaf.dropLast())), as: UTF8.self),
            String(decoding: Base64.url.encode(leaf), as: UTF8.self) + "-",
        ] {
            #expect(code(header: header(x5c: [text, all[1], all[2]])) == .malformedCertificate, "\(text.prefix(20))")
            #expect(code(header: header(x5c: [all[0], text, all[2]])) == .malformedCertificate, "\(text.prefix(20))")
        }
    }

    @Test("may have other members in its header: they decide nothing")
    func otherMembers() {
        #expect(
            code(header: header(extra: ",\"typ\":\"JWT\",\"kid\":\"1\",\"jwk\":{},\"x5u\":\"http://evil.invalid\""))
                == nil)
    }

    @Test("whose signature is short, long, in DER form, of zeros or out of range is refused")
    func signatureForm() {
        let signature = Base64.url.decode(segments[2]) ?? []
        func code(_ bytes: [UInt8]) -> VerificationCode? {
            self.code(joined([segments[0], segments[1], Base64.url.encode(bytes)]))
        }
        #expect(code(signature) == nil)
        let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let order: [UInt8] =
            [255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]
            + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]
        func integer(_ bytes: [UInt8]) -> [UInt8] { [0x02, 0x21, 0x00] + bytes }
        let der: [UInt8] = [0x30, 70] + integer(r) + integer(s)
        for bytes in [
            [], Array(signature.dropLast()), signature + [0], [0] + signature, der, zero + zero, zero + s, r + zero,
            order + s, r + order, [UInt8](repeating: 255, count: 64), s + r, r + r,
        ] {
            #expect(code(bytes) == .invalidSignature, "\(bytes.count) bytes")
        }
    }

    @Test("with the genuine header on another payload or signature is refused")
    func forgedSignature() throws {
        var forger = Subscriber(try SimulatedAuthority.generate())
        forger.notification["notificationUUID"] = "00000000-0000-4000-8000-000000000000"
        let forged = String(decoding: forger.jws, as: UTF8.self).split(separator: ".").map { Array($0.utf8) }
        #expect(code(joined([segments[0], forged[1], forged[2]])) == .invalidSignature)
        #expect(code(joined([segments[0], forged[1], segments[2]])) == .invalidSignature)
        #expect(code(joined([segments[0], segments[1], forged[2]])) == .invalidSignature)
        #expect(code(joined([forged[0], forged[1], forged[2]])) == .untrustedRoot)
    }

    @Test("that is an edited copy is never accepted and never the end of the process")
    func mutations() {
        let seed: UInt64 = 0x5EED_0001
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let headerEnd = segments[0].count
        let payloadEnd = headerEnd + 1 + segments[1].count
        let regions = [0..<headerEnd, headerEnd..<payloadEnd + 1, payloadEnd..<jws.count]
        for round in 0..<600 {
            var edited = jws
            let region = regions[round % 3]
            let position = Int.random(in: region, using: &generator)
            switch round / 3 % 5 {
            case 0: edited[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: edited[position] = UInt8.random(in: 0...255, using: &generator)
            case 2: edited.remove(at: position)
            case 3: edited.insert(UInt8.random(in: 0...255, using: &generator), at: position)
            default: edited.removeSubrange(position...)
            }
            guard edited != jws else { continue }
            #expect(code(edited) != nil, "seed \(seed), round \(round)")
        }
    }

    @Test("whose certificates are edited byte by byte is never accepted and never the end of the process")
    func certificateMutations() {
        let seed: UInt64 = 0x5EED_0002
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for round in 0..<300 {
            var chain = authority.chain.map(\.der)
            let index = round % 3
            let position = Int.random(in: chain[index].indices, using: &generator)
            chain[index][position] ^= UInt8.random(in: 1...255, using: &generator)
            let text = SimulatedAuthority.headerText(alg: "ES256", certificates: chain)
            let result = code(Array(authority.sign(payload, header: text).utf8))
            #expect(result != nil, "seed \(seed), round \(round)")
        }
        #expect(verifier.chainCache.statistics.count <= 1)
    }
}
