import AppStorePayloads
import AppStoreServerAPI
import AppleSync
import Base
import EvidenceStore
import Pipeline
import Postgres
import StandInSupport
import TestSupport
import Testing

@testable import AppleRecords

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
        // What is seen at the URL from here decides, where it does not contradict Apple's word.
        let answered = [
            "CIRCULAR_REDIRECT", "UNSUPPORTED_CHARSET", "INVALID_RESPONSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
        ]
        let unanswered = ["TIMED_OUT", "NO_RESPONSE", "SOCKET_ISSUE"]
        let url = "https://example.com/webhooks/apple"
        for (word, link) in Self.links {
            let result = SendAttempt.Result(rawValue: word)
            let verdict = ConnectionVerdict.undelivered(result, nil)
            #expect(verdict.link == link && verdict.isFault, "\(word): \(verdict)")
            #expect(verdict.sentence.hasPrefix("\(link.rawValue): ") && verdict.sentence.contains(word))
            for (answer, decided, seen) in [
                (ConnectionVerdict.URLAnswer.status(404), word == "TLS_ISSUE" ? nil : .proxy, "\(url) answers 404"),
                (.tls, answered.contains(word) ? nil : .tls, "TLS fails at \(url)"),
                (.silence, unanswered.contains(word) ? .receiver : nil, "nothing answers at \(url)"),
                (.receiver, nil, ""),
            ] as [(ConnectionVerdict.URLAnswer, ConnectionVerdict.Link?, String)] {
                let verdict = ConnectionVerdict.undelivered(result, (url, answer))
                #expect(verdict.link == decided ?? link && verdict.isFault, "\(word), \(answer): \(verdict)")
                #expect(seen.isEmpty || verdict.sentence.contains(seen), "\(word), \(answer): \(verdict)")
                #expect(answer == .receiver || !verdict.sentence.contains("a receiver answers at"), "\(verdict)")
            }
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

    @Test(
        "what is here outweighs what Apple says of the answer, and what Apple says outweighs how it came here at last")
    func order() async throws {
        try await RunningStandIn.with { shop in
            let post = WaitingPost(storedAt: PostgresTimestamp(MachineClock().now()))
            let (busy, late) = (
                with(post) { $0.isAnyApplied = true }, with(post) { ($0.isAnyApplied, $0.ahead) = (true, 7) }
            )
            let (putOff, ahead) = (
                with(post) { $0.lastReason = "database_timeout" }, with(post) { $0.lastReason = "signed_in_future" }
            )
            var ways: [String: TestNotificationTrial.Way] = [:]
            for word in ["TIMED_OUT", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"] {
                try await shop.shop("faults", word == "SUCCESS" ? "{}" : #"{"postResult": "\#(word)"}"#)
                ways[word] = with(try await Self.way(shop)) { $0.isLookedFor = true }
            }
            let here: [(CanaryArrival.Place?, CanaryWaiting?, ConnectionVerdict.Link?, String)] = [
                (.applied, nil, nil, "came through"), (.dead, nil, .app, "wrong_bundle"),
                (nil, .stored(post), .worker, "no worker takes it"),
                (nil, .stored(busy), .worker, "no worker takes it"),
                (nil, .stored(late), .worker, "behind 7 others"), (nil, .stored(putOff), .worker, "database_timeout"),
                (nil, .stored(ahead), .clock, "in the future"),
            ]
            for (word, way) in ways {
                for (place, waiting, link, words) in here {
                    let verdict = ConnectionVerdict(
                        with(way) {
                            $0.arrival = place.map { CanaryArrival(place: $0) }
                            ($0.waiting, $0.deadReason) = (waiting, "wrong_bundle")
                        })
                    #expect(verdict.link == link && verdict.sentence.contains(words), "\(word): \(verdict)")
                    // Apple's own word is not lost.
                    let isSaid = place != .dead && word != "SUCCESS"
                    #expect(!isSaid || verdict.sentence.contains("Apple says \(word) of the answer"), "\(verdict)")
                }
            }
            // A post that is here is known before Apple lists an attempt.
            let early = TestNotificationTrial.Way(token: "T", environment: .sandbox)
            #expect(ConnectionVerdict(early).link == .apple)
            #expect(ConnectionVerdict(with(early) { $0.waiting = .stored(post) }).link == .worker)
            for (word, link) in [
                ("TIMED_OUT", ConnectionVerdict.Link.receiver), ("UNSUCCESSFUL_HTTP_RESPONSE_CODE", .url),
                ("SUCCESS", .url),
            ] {
                let way = try #require(ways[word])
                for waiting in [CanaryWaiting.nowhere, .hidden] where word != "SUCCESS" {
                    #expect(ConnectionVerdict(with(way) { $0.waiting = waiting }).link == link)
                }
                let recovered = ConnectionVerdict(with(way) { $0.arrival = CanaryArrival(place: .recovered) })
                #expect(recovered.link == link && recovered.sentence.contains("fetched from Apple's history"))
                #expect(word == "SUCCESS" || recovered.sentence.contains("could not deliver (\(word))"), "\(recovered)")
            }
            let success = try #require(ways["SUCCESS"])
            #expect(ConnectionVerdict(with(success) { $0.waiting = .nowhere }).link == .url)
            let hidden = ConnectionVerdict(with(success) { $0.waiting = .hidden })
            #expect(hidden.link == nil && hidden.isFault && hidden.sentence.hasPrefix("worker or url: "), "\(hidden)")
            // Without its reason a letter points to the rights alone.
            let unread = ConnectionVerdict(with(success) { $0.arrival = CanaryArrival(place: .dead) })
            #expect(unread.link == .database && unread.sentence.contains("sql/roles.sql"), "\(unread)")
        }
    }

    private func with<T>(_ value: T, _ change: (inout T) -> Void) -> T {
        var changed = value
        change(&changed)
        return changed
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
