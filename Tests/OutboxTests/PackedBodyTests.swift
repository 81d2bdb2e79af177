import AppStorePayloads
import EvidenceStore
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("Packed bytes")
struct PackedBodyTests {
    private func unpack(_ packed: [UInt8], _ headers: [SignatureHeader]) throws -> [UInt8] {
        try PackedBody.unpack(packed) { digest in headers.first { $0.digest == digest }?.text }
    }

    /// Packs where that is possible, and expects the very same bytes back.
    @discardableResult
    private func roundTrip(_ body: [UInt8], _ headers: [SignatureHeader]) throws -> [UInt8]? {
        guard let packed = PackedBody.pack(body, knowing: headers) else { return nil }
        #expect(packed.count < body.count)
        #expect(try unpack(packed, headers) == body)
        return packed
    }

    @Test("are at most a third of a subscription notification, and give back every kind byte for byte")
    func everyKind() async throws {
        let authority = try await Signed.authority.value
        let bodies = Signed.everyKind(by: authority)
        let header = Signed.header(of: bodies[0])
        var largest = 0.0
        for body in bodies {
            let packed = try #require(try roundTrip(body, [header]))
            largest = max(largest, Double(packed.count) / Double(body.count))
            // A row of more than 2,032 bytes would not keep them within it (PostgreSQL's TOAST_TUPLE_THRESHOLD).
            #expect(packed.count < 1_980)
        }
        print("of \(bodies.count) the largest share is \(largest)")
        #expect(bodies.contains { $0.count > 17_000 })
        #expect(largest <= 1.0 / 3)
    }

    @Test("are not made without the header, nor of one that only begins or ends like it")
    func unknownHeader() async throws {
        let body = Signed.purchase(by: try await Signed.authority.value)
        let header = Signed.header(of: body)
        let stranger = Signed.header(of: Signed.purchase(by: try SimulatedAuthority.generate()))
        #expect(PackedBody.pack(body, knowing: []) == nil)
        #expect(PackedBody.pack(body, knowing: [stranger]) == nil)
        for text in [Array(header.text.dropFirst()), Array(header.text.dropLast()), header.text + [65]] {
            #expect(PackedBody.pack(body, knowing: [SignatureHeader(digest: header.digest, text: text)]) == nil)
        }
    }

    @Test("name several headers, and leave alone what is under one that is not known")
    func rotation() async throws {
        let authority = try await Signed.authority.value
        let other = try SimulatedAuthority.generate()
        let header = Signed.header(of: Signed.purchase(by: authority))
        let inner = Signed.header(of: Signed.purchase(by: other))
        for count in 0...6 {
            let parts = (0..<count).map { other.sign(#"{"number":"\#($0).5"}"#) }
            let body = Array(authority.sign("{\"parts\":[\"\(parts.joined(separator: "\",\""))\"]}").utf8)
            let both = try #require(try roundTrip(body, [inner, header]))
            let one = try #require(try roundTrip(body, [header]))
            #expect(both.count < 250 + count * 100)
            #expect(one.count > count * inner.text.count)
        }
    }

    /// Payloads that resemble Apple's and are not.
    private static func oddities(_ header: String) -> [String] {
        [
            "", "{}", ".", "..", "...", header, header + ".", header + "..", "." + header, header + header + ".",
            header + "." + header, header + "." + header + ".", header + "." + header + "." + header,
            String(header.dropLast()) + "." + header + ".x.y", header.lowercased() + ".e30.e30\"",
            header + ".e30.AA\"", header + ".e30.AB\"", header + ".e30=.AA==\"", header + ".e3.AA\"",
            header + ".e.AA\"", header + ".e30.A\"", header + ".e30.AA", header + ".e-_.A-\"",
            header + ".e30." + String(repeating: "A", count: 4000) + "\"", "\"" + header + ".é.ü\"",
            String(repeating: header + ".", count: 5), String(repeating: header + ".e30.AA\"", count: 9),
            String(repeating: ".", count: 1000), String(repeating: "a.", count: 100) + header + ".e30.AA\"",
        ]
    }

    @Test("give back oddly made payloads byte for byte")
    func oddities() async throws {
        let authority = try await Signed.authority.value
        let header = Signed.header(of: Signed.purchase(by: authority))
        let text = String(decoding: header.text, as: UTF8.self)
        for payload in Self.oddities(text) {
            let body = Array(authority.sign(payload).utf8)
            let packed = try roundTrip(body, [header])
            // Only the thousand dots are not packed.
            #expect((packed == nil) == (payload.count == 1000), "\(payload.count)")
        }
    }

    @Test("are made of no text but the one that comes back", arguments: sampled(Array(0..<4)))
    func mutations(round: Int) async throws {
        var generator = SeededGenerator()
        print("STOREHOOK_TEST_SEED=\(generator.seed)")
        let authority = try await Signed.authority.value
        let bodies = Signed.everyKind(by: authority)
        let header = Signed.header(of: bodies[0])
        let odd: [UInt8] = Array("=.\"\n+/ -_AB{\\".utf8) + [0, 0xFF, 0xC3]
        var packed = 0
        for _ in 0..<250 {
            var body = bodies.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !body.isEmpty {
                let place = Int.random(in: 0..<body.count, using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: body.removeLast(Int.random(in: 0...min(200, body.count), using: &generator))
                case 2: body.append(contentsOf: Array("=".utf8))
                case 3: body.insert(odd.randomElement(using: &generator) ?? 0, at: place)
                case 4: body.removeSubrange(place..<min(body.count, place + 3))
                case 5:
                    body.insert(contentsOf: header.text.prefix(Int.random(in: 0...5000, using: &generator)), at: place)
                case 6: body[body.count - 1] = odd.randomElement(using: &generator) ?? 0
                // Inside the outer payload, so that it remains canonical base64url of another text.
                default:
                    var segments = body.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(
                        Array.init)
                    guard segments.count == 3, var json = Base64.url.decode(segments[1]), !json.isEmpty else {
                        continue
                    }
                    let inside = Int.random(in: 0..<json.count, using: &generator)
                    if Bool.random(using: &generator) {
                        json[inside] = odd.randomElement(using: &generator) ?? 0
                    } else {
                        json.insert(contentsOf: header.text + Array(".e30.AA".utf8), at: inside)
                    }
                    segments[1] = Base64.url.encode(json)
                    body = Array(segments.joined(separator: Array(".".utf8)))
                }
            }
            if try roundTrip(body, [header]) != nil { packed += 1 }
        }
        // Otherwise this would test nothing.
        #expect(packed > 10 && packed < 225)
    }

    @Test("that are damaged are an error and neither a trap nor more than a JWS may be long", arguments: 0..<4)
    func damage(round: Int) async throws {
        var generator = SeededGenerator()
        print("STOREHOOK_TEST_SEED=\(generator.seed)")
        let body = Signed.purchase(by: try await Signed.authority.value)
        let header = Signed.header(of: body)
        let packed = try #require(PackedBody.pack(body, knowing: [header]))
        for _ in 0..<800 {
            var bytes = packed
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
            case 1:
                bytes = (0..<Int.random(in: 0..<300, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            default:
                // Mostly where the numbers stand.
                let end = Bool.random(using: &generator) ? 60 : bytes.count
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: 0..<end, using: &generator)] = .random(in: 0...255, using: &generator)
                }
            }
            do throws(UnreadableBody) {
                let unpacked = try PackedBody.unpack(bytes) { _ in header.text }
                #expect(unpacked.count <= Outbox.maximumBodySize)
            } catch {
                #expect(!error.description.contains("\n"))
            }
        }
    }

    @Test("cannot ask for more than a JWS may be long")
    func bomb() async throws {
        let header = Signed.header(of: Signed.purchase(by: try await Signed.authority.value))
        let size = header.text.count
        // As often as they promise, that header is named (number 0, kind 1): some 4 kB for each byte, and one too many.
        func bomb(_ count: Int, promising length: Int) -> [UInt8] {
            let promise = [UInt8(length & 0x7F | 0x80), UInt8(length >> 7 & 0x7F | 0x80), UInt8(length >> 14)]
            return promise + [1] + header.digest + [UInt8](repeating: 1, count: count)
        }
        let most = Outbox.maximumBodySize / size
        #expect(try unpack(bomb(most, promising: most * size), [header]).count == most * size)
        #expect(throws: UnreadableBody.damaged) { try unpack(bomb(most + 1, promising: (most + 1) * size), [header]) }
        #expect(throws: UnreadableBody.damaged) { try unpack(bomb(10_000, promising: most * size), [header]) }
        // Nested twice ("A" as base64 of base64), which would multiply.
        #expect(try unpack([2, 0, 0x0B, 0x04, 0x41], []) == Array("QQ".utf8))
        #expect(throws: UnreadableBody.damaged) { try unpack([3, 0, 0x0F, 0x0B, 0x04, 0x41], []) }
    }

    @Test("of what no JWS is are not made")
    func junk() async throws {
        let header = Signed.header(of: Signed.purchase(by: try await Signed.authority.value))
        let junk: [[UInt8]] = [
            [], [0], Array(".".utf8), Array("..".utf8), Array("a.b.c".utf8), header.text,
            header.text + Array(".e30".utf8),
            header.text + Array(".e30.AA.AA".utf8), header.text + Array(".e30.AA=".utf8),
            header.text + Array(".e31.AA".utf8), [UInt8](repeating: 46, count: 100_000),
            header.text + Array(".".utf8) + [UInt8](repeating: 65, count: Outbox.maximumBodySize) + Array(".AA".utf8),
        ]
        for body in junk { #expect(PackedBody.pack(body, knowing: [header]) == nil) }
    }

    @Test(
        "of what Apple really signed give it back byte for byte, at most a third in size",
        .enabled(
            if: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] != nil,
            "STOREHOOK_APPLE_SIGNED names no directory of notifications signed by Apple"))
    func apples() throws {
        let directory = URL(
            fileURLWithPath: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] ?? "/nowhere")
        func bodies(_ place: URL) throws -> [[UInt8]] {
            try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "jws" }.map { [UInt8](try Data(contentsOf: $0)) }
        }
        let (genuine, forged) = (try bodies(directory), try bodies(directory.appending(path: "rejected")))
        try #require(!genuine.isEmpty)
        // As if each had been verified, those inside too.
        var headers: Set<SignatureHeader> = []
        for body in genuine + forged {
            headers.insert(Signed.header(of: body))
            guard
                let json = body.split(separator: UInt8(ascii: ".")).dropFirst().first.flatMap({
                    Base64.url.decode(Array($0))
                }),
                let data = try? JSONDocument(json).object?.object("data")
            else { continue }
            for text in [data.string("signedTransactionInfo"), data.string("signedRenewalInfo")].compactMap(\.self) {
                headers.insert(Signed.header(of: Array(text.utf8)))
            }
        }
        for body in genuine {
            let packed = try #require(try roundTrip(body, Array(headers)))
            print("of Apple's \(body.count) bytes \(packed.count) remain")
            #expect(packed.count * 3 <= body.count)
        }
        for body in forged { try roundTrip(body, Array(headers)) }
    }
}
