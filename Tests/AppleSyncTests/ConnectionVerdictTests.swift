import AppStorePayloads
import AppStoreServerAPI
import AppleSync
import Base
import Pipeline
import StandInSupport
import TestSupport
import Testing

@Suite("What a test notification shows of the way from Apple")
struct ConnectionVerdictTests {
    /// Which link each of Apple's words for an attempt blames.
    private static let links: [String: ConnectionVerdict.Link] = [
        "TIMED_OUT": .receiver, "TLS_ISSUE": .tls, "CIRCULAR_REDIRECT": .proxy, "NO_RESPONSE": .receiver,
        "SOCKET_ISSUE": .receiver, "UNSUPPORTED_CHARSET": .proxy, "INVALID_RESPONSE": .proxy,
        "PREMATURE_CLOSE": .receiver, "UNSUCCESSFUL_HTTP_RESPONSE_CODE": .url, "OTHER": .url,
    ]

    @Test("each of Apple's words for a failed attempt names a link, and the sentence repeats the word")
    func everyWord() {
        #expect(Set(Self.links.keys).union(["SUCCESS"]) == Set(SendAttempt.Result.known.map(\.rawValue)))
        // What is seen at the URL from here decides, where something is seen.
        let url = "https://example.com/webhooks/apple"
        for (word, link) in Self.links {
            let result = SendAttempt.Result(rawValue: word)
            let verdict = ConnectionVerdict.undelivered(result, nil)
            #expect(verdict.link == link && verdict.isFault, "\(word): \(verdict)")
            #expect(verdict.sentence.hasPrefix("\(link.rawValue): ") && verdict.sentence.contains(word))
            #expect(ConnectionVerdict.undelivered(result, (url, .status(404))).link == .proxy)
            #expect(ConnectionVerdict.undelivered(result, (url, .tls)).link == .tls)
            #expect(ConnectionVerdict.undelivered(result, (url, .silence)).link == .receiver)
            #expect(ConnectionVerdict.undelivered(result, (url, .receiver)).isFault)
        }
        let unknown = ConnectionVerdict.undelivered(SendAttempt.Result(rawValue: "SOMETHING_NEW"), nil)
        #expect(unknown.link == .url && unknown.sentence.contains("SOMETHING_NEW"))
    }

    @Test(
        "a fault of the stand-in is Apple's word for it, until it is mended, and each environment has a notification of its own"
    )
    func faults() async throws {
        try await RunningStandIn.with { shop in
            try await shop.shop("faults", #"{"postResult": "NO_RESPONSE"}"#)
            let lost = try await Self.way(shop)
            #expect(lost.result?.rawValue == "NO_RESPONSE" && ConnectionVerdict(lost).link == .receiver)
            #expect(shop.receiver.requests.isEmpty)
            try await shop.shop("faults", "{}")
            let delivered = try await Self.way(shop)
            // Without a database nothing can be said of what came of it.
            #expect(delivered.result == .success && !ConnectionVerdict(delivered).isFault)
            #expect(!shop.receiver.requests.isEmpty)
            let other = try await Self.way(shop, in: .production)
            #expect(Set([lost, delivered, other].map(\.notificationUUID)).count == 3)
            for wrong in [
                #"{"postResult": "SUCCESS"}"#, #"{"keyRefusedIn": "Xcode"}"#, #"{"clockAheadSeconds": 90000}"#,
            ] {
                #expect(try await shop.shop("faults", wrong).string("error") != nil)
            }
        }
    }

    private static func way(
        _ shop: RunningStandIn, in environment: Environment = .sandbox
    ) async throws -> TestNotificationTrial.Way {
        let patience = TestNotificationTrial.Patience(
            questions: Array(repeating: .milliseconds(50), count: 100), looks: 1)
        return try await TestNotificationTrial(shop.client, nil, patience: patience, now: MachineClock().now).run(
            in: environment)
    }

    @Test("a wait is spent to half on Apple, and to half here", arguments: [2, 4, 30, 600])
    func patience(seconds: Int) {
        let patience = TestNotificationTrial.Patience(within: .seconds(seconds))
        #expect(patience.questions.reduce(.zero, +) == .milliseconds(seconds * 500))
        #expect(patience.betweenLooks * patience.looks == .milliseconds(seconds * 500))
        #expect(patience.questions.allSatisfy { $0 > .zero && $0 <= .seconds(5) })
    }
}
