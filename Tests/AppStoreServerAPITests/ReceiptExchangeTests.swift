import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("A question to verifyReceipt")
struct ReceiptExchangeTests {
    private static let start = Timestamp(millisecondsSince1970: 1_769_904_000_000)
    private static let both: Set<Base.Environment> = [.production, .sandbox]

    private static func answer(_ status: Int64, _ more: String = "") -> TransportAnswer {
        TransportAnswer(status: 200, body: Array(#"{"status":\#(status)\#(more)}"#.utf8))
    }

    private func failure(_ exchange: Exchange) -> AppStoreFailure? {
        if case .failed(let failure) = exchange.step { failure } else { nil }
    }

    /// Answers as the environment that is asked, until there is an end; what was asked, in order.
    private func run(
        _ exchange: inout Exchange, _ answer: (Base.Environment) -> TransportAnswer
    ) -> [Base.Environment] {
        var asked: [Base.Environment] = []
        var now = Self.start
        for _ in 0..<100 {
            switch exchange.step {
            case .ask(let place):
                asked.append(place)
                exchange.received(answer(place), at: now, jitter: 1)
            case .wait(let instant):
                now = instant
                exchange.resume(at: now)
            case .done, .failed: return asked
            }
        }
        return asked
    }

    @Test("begins in Production and goes to Sandbox with a receipt from there, and back, and never in a circle")
    func environments() {
        var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        #expect(run(&exchange) { Self.answer($0 == .sandbox ? 0 : 21_007) } == [.production, .sandbox])
        guard case .done(.sandbox, _) = exchange.step else {
            Issue.record("\(exchange.step)")
            return
        }
        exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        #expect(run(&exchange) { _ in Self.answer(0) } == [.production])
        // Each sends to the other.
        exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        #expect(run(&exchange) { Self.answer($0 == .sandbox ? 21_008 : 21_007) } == [.production, .sandbox])
        #expect(failure(exchange)?.code == "production_receipt" && failure(exchange)?.isTransient == false)
        // Where only Sandbox is served it is asked at once, and Production is not.
        exchange = Exchange(receiptsOf: [.sandbox, .xcode], startingAt: Self.start)
        #expect(run(&exchange) { _ in Self.answer(21_008) } == [.sandbox])
        #expect(failure(exchange)?.code == "production_receipt")
        exchange = Exchange(receiptsOf: [.production], startingAt: Self.start)
        #expect(run(&exchange) { _ in Self.answer(21_007) } == [.production])
        #expect(failure(exchange)?.code == "sandbox_receipt")
        #expect(failure(Exchange(receiptsOf: [.xcode], startingAt: Self.start))?.code == "not_in_this_environment")
    }

    @Test(
        "ends with a reason of its own for each status, which says what to do",
        arguments: Array(21_000...21_010) + [21_100, 21_199].map { Int64($0) })
    func statuses(_ status: Int64) {
        let codes: [Int64: String] = [
            21_000: "receipt_request_not_posted", 21_001: "receipt_status_retired", 21_002: "receipt_malformed",
            21_003: "receipt_not_authentic", 21_004: "shared_secret_mismatch", 21_005: "receipt_server_unavailable",
            21_006: "receipt_subscription_expired", 21_007: "sandbox_receipt", 21_008: "production_receipt",
            21_009: "receipt_internal_error", 21_010: "receipt_account_not_found", 21_100: "receipt_internal_21100",
            21_199: "receipt_internal_21199",
        ]
        var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        let asked = run(&exchange) { place in
            // Those two are only true of the environment that is not the receipt's.
            status == 21_008 && place == .production ? Self.answer(21_007) : Self.answer(status)
        }
        let failure = failure(exchange)
        #expect(failure?.code == codes[status])
        #expect(failure?.message.hasPrefix("verifyReceipt answers \(status): ") == true)
        #expect((failure?.message.count ?? 0) > 50)
        let isPassing = [21_002, 21_005, 21_009].contains(status) || status >= 21_100
        #expect(failure?.isTransient == isPassing)
        #expect(asked.count == (isPassing ? 6 : [21_007, 21_008].contains(status) ? 2 : 1))
    }

    @Test("does not end with an error of Apple's that passes")
    func passing() {
        for status in [21_002, 21_005, 21_009, 21_155] as [Int64] {
            var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
            var left = 3
            let asked = run(&exchange) { _ in
                left -= 1
                return Self.answer(left > 0 ? status : 0)
            }
            #expect(asked.count == 3)
            guard case .done(.production, _) = exchange.step else {
                Issue.record("\(status) \(exchange.step)")
                return
            }
        }
    }

    @Test("heeds Apple's word on whether to ask again, however it is spelled")
    func isRetryable() {
        for name in ["is-retryable", "is_retryable"] {
            for no in ["false", "0", "\"0\"", "\"false\""] {
                var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
                #expect(run(&exchange) { _ in Self.answer(21_199, #","\#(name)":\#(no)"#) }.count == 1, "\(no)")
                #expect(failure(exchange)?.isTransient == false)
            }
            for yes in ["true", "1", "\"1\""] {
                var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
                #expect(run(&exchange) { _ in Self.answer(21_100, #","\#(name)":\#(yes)"#) }.count == 6)
                #expect(failure(exchange)?.isTransient == true)
                exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
                #expect(run(&exchange) { _ in Self.answer(21_003, #","\#(name)":\#(yes)"#) }.count == 6)
            }
        }
    }

    @Test("outlives a network that is away for a moment, a 503 and a 429, within its patience")
    func network() {
        let policy = CallPolicy(maximumAttempts: 100, patience: .seconds(10))
        var exchange = Exchange(receiptsOf: Self.both, policy: policy, startingAt: Self.start)
        var now = Self.start
        while failure(exchange) == nil, now.milliseconds(since: Self.start) <= 60_000 {
            if case .wait(let instant) = exchange.step {
                now = instant
                exchange.resume(at: now)
            }
            exchange.failed(.disconnected, at: now, jitter: 0)
        }
        #expect(failure(exchange)?.code == "unreachable" && now.milliseconds(since: Self.start) <= 10_000)
        for status in [500, 503, 429] {
            var answers = [TransportAnswer(status: status), Self.answer(0)]
            exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
            #expect(run(&exchange) { _ in answers.removeFirst() }.count == 2)
        }
        exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        #expect(run(&exchange) { _ in TransportAnswer(status: 403) }.count == 1)
        #expect(failure(exchange)?.code == "unexpected_status")
        for body in ["", "no JSON", "[]", "{}", #"{"status":"x"}"#] {
            exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
            _ = run(&exchange) { _ in TransportAnswer(status: 200, body: Array(body.utf8)) }
            #expect(failure(exchange)?.code == "unreadable_answer", "\(body)")
        }
    }

    @Test("knows every status by a name of its own")
    func names() {
        #expect(ReceiptStatus.known.count == 12 + 100)
        #expect(Set(ReceiptStatus.known.map(\.name)).count == ReceiptStatus.known.count)
        let unknown = ReceiptStatus(rawValue: 21_500)
        #expect(!unknown.isKnown && unknown.behaviour == .giveUp)
        var exchange = Exchange(receiptsOf: Self.both, startingAt: Self.start)
        _ = run(&exchange) { _ in Self.answer(21_500) }
        #expect(failure(exchange)?.code == "receipt_21500")
    }
}
