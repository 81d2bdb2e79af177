import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("An unverified summary")
struct UnverifiedSummaryTests {
    @Test("tells what a forgery says about itself")
    func forgery() throws {
        let jws = Subscriber(try SimulatedAuthority.generate()).jws
        var edited = jws
        edited.removeLast(5)
        for text in [jws, edited] {
            let summary = UnverifiedSummary.read(text)
            #expect(summary.notificationUUID?.description == "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7")
            #expect(summary.notificationType == .subscribed)
            #expect(summary.subtype == .initialBuy)
            #expect(summary.signedDate?.millisecondsSince1970 == Subscriber.signedDate)
        }
    }

    @Test("is empty where nothing can be read, and takes nothing that could surprise a terminal")
    func nothing() {
        func read(_ payload: String) -> UnverifiedSummary {
            let segment = String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)
            return UnverifiedSummary.read(Array("e30.\(segment).AA".utf8))
        }
        #expect(UnverifiedSummary.read([]) == UnverifiedSummary())
        #expect(UnverifiedSummary.read(Array("a.b.c".utf8)) == UnverifiedSummary())
        #expect(read("[]") == UnverifiedSummary())
        #expect(read("{\"notificationType\":\"\\u001b[2J\",\"signedDate\":1e300}") == UnverifiedSummary())
        #expect(read("{\"notificationType\":\"\(String(repeating: "A", count: 65))\"}") == UnverifiedSummary())
        #expect(read("{\"notificationUUID\":\"no\",\"subtype\":\"a b\",\"signedDate\":\"1\"}") == UnverifiedSummary())
        #expect(read("{\"subtype\":\"OF_2030\"}").subtype?.rawValue == "OF_2030")
        #expect(read(#"{"bundleId":"com.example.app"}"#).bundleId == "com.example.app")
        #expect(read(#"{"data":{"bundleId":"com.example.a-1"}}"#).bundleId == "com.example.a-1")
        #expect(read(#"{"data":{"bundleId":"a b"}}"#) == UnverifiedSummary())
        #expect(read(#"{"summary":{"bundleId":"\u001b[2J"}}"#) == UnverifiedSummary())
    }
}
