import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("Every code of Apple's")
struct ErrorCodeTests {
    private static let start = Timestamp(millisecondsSince1970: 1_769_904_000_000)
    /// The codes of Apple's table, by what has to become of them.
    static let givenUp: [Int64] = [
        4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_008, 4_000_009, 4_000_010, 4_000_011, 4_000_012, 4_000_013,
        4_000_014, 4_000_018, 4_000_019, 4_000_020, 4_000_032, 4_000_033, 4_000_034, 4_000_035, 4_000_036, 4_000_037,
        4_000_038, 4_000_039, 4_000_040, 4_000_041, 4_000_042, 4_000_047, 4_000_048, 4_000_183, 4_000_185, 4_000_187,
        4_030_004, 4_030_005, 4_030_007, 4_040_001, 4_040_003, 4_040_007, 4_040_008, 4_040_009, 4_040_019,
    ]
    static let retried: [Int64] = [4_040_002, 4_040_004, 4_040_006, 5_000_000, 5_000_001]

    private func answer(_ code: Int64) -> TransportAnswer {
        TransportAnswer(
            status: Int(code / 10_000), body: Array(#"{"errorCode":\#(code),"errorMessage":"said Apple"}"#.utf8))
    }

    @Test("that cannot be otherwise next time ends the call at once, and says what to do", arguments: givenUp)
    func givesUp(_ code: Int64) {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        exchange.received(answer(code), at: Self.start, jitter: 0)
        guard case .failed(let failure) = exchange.step else {
            Issue.record("\(code): \(exchange.step)")
            return
        }
        #expect(failure.reason == .apple(ServerErrorCode(rawValue: code)))
        #expect(failure.environment == .production && failure.attempts == 1 && !failure.isTransient)
        #expect(ServerErrorCode(rawValue: code).isKnown && failure.code != "unknown")
        #expect(failure.message.contains("\(code)") && !failure.description.contains("said Apple"))
    }

    @Test("that may pass is asked again, later and later, and given up after six times", arguments: retried)
    func retries(_ code: Int64) {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        var now = Self.start
        var waits: [Int64] = []
        for _ in 0..<5 {
            exchange.received(answer(code), at: now, jitter: 1)
            guard case .wait(let until) = exchange.step else { break }
            waits.append(until.milliseconds(since: now))
            exchange.resume(at: until.adding(milliseconds: -1))
            #expect(exchange.step == .wait(until: until))
            exchange.resume(at: until)
            #expect(exchange.step == .ask(.production))
            now = until
        }
        #expect(waits == [500, 1000, 2000, 4000, 8000])
        exchange.received(answer(code), at: now, jitter: 1)
        guard case .failed(let failure) = exchange.step else {
            Issue.record("\(code): \(exchange.step)")
            return
        }
        #expect(failure.reason == .apple(ServerErrorCode(rawValue: code)))
        #expect(failure.attempts == 6 && failure.isTransient)
    }

    @Test(
        "of an id that Production does not know sends the call to Sandbox, at once", arguments: [4_040_010, 4_040_005])
    func asksElsewhere(_ code: Int64) {
        var exchange = Exchange(.subscriptionStatuses, startingAt: Self.start)
        exchange.received(answer(code), at: Self.start, jitter: 0)
        #expect(exchange.step == .ask(.sandbox))
        exchange.received(TransportAnswer(status: 200, body: [1]), at: Self.start, jitter: 0)
        #expect(exchange.step == .done(.sandbox, [1]))
    }

    @Test("of an id that nobody knows is believed only after five seconds: Apple learns of fresh transactions late")
    func believesLate() {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        var now = Self.start
        var asked: [Environment] = []
        while true {
            if case .ask(let environment) = exchange.step {
                asked.append(environment)
                exchange.received(answer(4_040_010), at: now, jitter: 0)
            } else if case .wait(let until) = exchange.step {
                now = until
                exchange.resume(at: now)
            } else {
                break
            }
        }
        #expect(asked == [.production, .sandbox, .production, .sandbox, .production, .sandbox, .production, .sandbox])
        #expect(now.milliseconds(since: Self.start) == 5000)
        guard case .failed(let failure) = exchange.step else { return }
        #expect(failure.reason == .apple(.transactionIdNotFound))
    }

    @Test("of a fresh id in the one environment that was named is asked there again, and answered")
    func freshInOnePlace() {
        var exchange = Exchange(.transactionInfo, in: .sandbox, startingAt: Self.start)
        exchange.received(answer(4_040_010), at: Self.start, jitter: 0)
        let second = Self.start.adding(seconds: 1)
        #expect(exchange.step == .wait(until: second))
        exchange.resume(at: second)
        exchange.received(TransportAnswer(status: 200), at: second, jitter: 0)
        #expect(exchange.step == .done(.sandbox, []))
    }

    @Test("of a later day is judged by its status: 5xx may pass, 4xx may not")
    func unknownCodes() {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        exchange.received(answer(5_030_000), at: Self.start, jitter: 0)
        guard case .wait = exchange.step else {
            Issue.record("\(exchange.step)")
            return
        }
        var other = Exchange(.transactionInfo, startingAt: Self.start)
        other.received(answer(4_000_999), at: Self.start, jitter: 0)
        guard case .failed(let failure) = other.step else {
            Issue.record("\(other.step)")
            return
        }
        #expect(failure.code == "apple_4000999")
    }

    @Test("of the table has a name of its own, advice without its own number, and known behaviour")
    func table() {
        let codes = ServerErrorCode.known
        #expect(Set(codes.map(\.name)).count == codes.count)
        #expect(codes.isSuperset(of: (Self.givenUp + Self.retried).map(ServerErrorCode.init(rawValue:))))
        for code in codes { #expect(!code.advice.isEmpty && code.behaviour != nil, "\(code)") }
    }
}
