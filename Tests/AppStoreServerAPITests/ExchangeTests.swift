import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI

@Suite("A call")
struct ExchangeTests {
    private static let start = Timestamp(millisecondsSince1970: 1_769_904_000_000)

    private func failure(_ exchange: Exchange) -> AppStoreFailure? {
        if case .failed(let failure) = exchange.step { failure } else { nil }
    }

    @Test("whose token Production refuses without a word asks Sandbox: the app may never have been released")
    func bareUnauthorized() {
        var exchange = Exchange(.subscriptionStatuses, startingAt: Self.start)
        exchange.received(TransportAnswer(status: 401), at: Self.start, jitter: 0)
        #expect(exchange.step == .ask(.sandbox) && exchange.isTokenRefused)
        exchange.received(TransportAnswer(status: 401), at: Self.start, jitter: 0)
        #expect(failure(exchange)?.reason == .unauthorized)
    }

    @Test("to the one environment that was named ends with what to check when its token is refused")
    func unauthorized() {
        var exchange = Exchange(.subscriptionStatuses, in: .production, startingAt: Self.start)
        exchange.received(TransportAnswer(status: 401), at: Self.start, jitter: 0)
        #expect(failure(exchange)?.message.contains("key_id") == true)
    }

    @Test("that failed for the network is made again within its patience, and says how often it was tried")
    func network() {
        let policy = CallPolicy(maximumAttempts: 100, patience: .seconds(10))
        var exchange = Exchange(.transactionInfo, in: .sandbox, policy: policy, startingAt: Self.start)
        var now = Self.start
        while failure(exchange) == nil {
            exchange.failed(.timeout, at: now, jitter: 0)
            guard case .wait(let until) = exchange.step else { break }
            now = until
            exchange.resume(at: now)
        }
        #expect(failure(exchange)?.reason == .unreachable(.timeout))
        #expect(now.milliseconds(since: Self.start) <= 10_000)
        // 0.25, 0.5, 1, 2, 4: the next would end after 15.75 s.
        #expect(failure(exchange)?.attempts == 6)
    }

    @Test("that does something once is not repeated where it was perhaps heard, and is where it was not")
    func notTwice() {
        for endpoint in [AppleEndpoint.extendRenewalDate, .massExtension] {
            for fault in TransportFault.allCases {
                var exchange = Exchange(endpoint, in: .production, startingAt: Self.start)
                exchange.failed(fault, at: Self.start, jitter: 0)
                if fault == .notConnected || fault == .tls {
                    #expect(failure(exchange) == nil, "\(fault)")
                } else {
                    #expect(failure(exchange)?.reason == .outcomeUnknown, "\(fault)")
                }
            }
            var exchange = Exchange(endpoint, in: .production, startingAt: Self.start)
            exchange.received(TransportAnswer(status: 502), at: Self.start, jitter: 0)
            #expect(failure(exchange)?.reason == .outcomeUnknown)
            // Apple's general error, and a code of a later day, do not say that it may be.
            for code in ["5000000", "5030000"] {
                exchange = Exchange(endpoint, in: .production, startingAt: Self.start)
                exchange.received(
                    TransportAnswer(status: 500, body: Array("{\"errorCode\":\(code)}".utf8)), at: Self.start, jitter: 0
                )
                #expect(failure(exchange)?.reason == .outcomeUnknown, "\(code)")
            }
            // Apple's own word that it may be.
            exchange = Exchange(endpoint, in: .production, startingAt: Self.start)
            exchange.received(
                TransportAnswer(status: 500, body: Array(#"{"errorCode":5000001}"#.utf8)), at: Self.start, jitter: 0)
            #expect(failure(exchange) == nil)
        }
    }

    @Test("that is answered 429 waits for the instant in Retry-After, which is in milliseconds since 1970")
    func retryAfter() {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        let instant = Self.start.adding(milliseconds: 1500)
        exchange.received(
            TransportAnswer(status: 429, retryAfter: "\(instant.millisecondsSince1970)"), at: Self.start, jitter: 0)
        #expect(exchange.step == .wait(until: instant) && exchange.blockedUntil == instant)
    }

    @Test(
        "that is answered 429 takes a proxy's seconds for seconds, its date for a date, and an instant gone by, or none, for a wait that grows"
    )
    func oddRetryAfter() {
        for (text, wait) in [
            ("2", 2000 as Int64), ("1769903999000", 250), ("soon", 250), ("-5", 250), ("+5", 250), ("2, 2", 250),
            ("Sun, 01 Feb 2026 00:00:07 GMT", 7000), ("Sunday, 01-Feb-26 00:00:07 GMT", 7000),
            ("Sun Feb  1 00:00:07 2026", 7000), ("Sat, 31 Jan 2026 23:59:59 GMT", 250),
        ] {
            var exchange = Exchange(.transactionInfo, startingAt: Self.start)
            exchange.received(TransportAnswer(status: 429, retryAfter: text), at: Self.start, jitter: 0)
            #expect(exchange.step == .wait(until: Self.start.adding(milliseconds: wait)), "\(text)")
        }
    }

    @Test("that would have to wait for an hour says until when instead")
    func longRetryAfter() {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        let instant = Self.start.adding(seconds: 3600)
        exchange.received(
            TransportAnswer(status: 429, retryAfter: "\(instant.millisecondsSince1970)"), at: Self.start, jitter: 0)
        #expect(failure(exchange)?.reason == .rateLimited(until: instant))
    }

    @Test("that is told to wait for years waits for an hour: Apple counts by the hour")
    func absurdRetryAfter() {
        for text in ["4102444800000", "9223372036854775807", "99999999999999999999", "999999999"] {
            var exchange = Exchange(.transactionInfo, startingAt: Self.start)
            exchange.received(TransportAnswer(status: 429, retryAfter: text), at: Self.start, jitter: 0)
            #expect(failure(exchange)?.reason == .rateLimited(until: Self.start.adding(seconds: 3600)), "\(text)")
            #expect(exchange.blockedUntil == Self.start.adding(seconds: 3600))
        }
    }

    @Test(
        "says when it was answered, by the clock of whoever did",
        arguments: [
            ("Sun, 01 Feb 2026 00:00:07 GMT", 7 as Int64?), ("Sun, 01 Feb 2026 23:59:59 GMT", 86_399),
            ("Sunday, 01-Feb-26 00:00:07 GMT", 7), ("Sun, 30 Feb 2026 00:00:07 GMT", nil),
            ("Sun, 01 Feb 2026 00:00:07 +0100", nil), ("Sun, 1 Feb 2026 00:00:07 GMT", nil), ("", nil),
        ])
    func answeredAt(_ text: String, _ seconds: Int64?) {
        var exchange = Exchange(.transactionInfo, startingAt: Self.start)
        exchange.received(TransportAnswer(status: 200, date: text), at: Self.start, jitter: 0)
        #expect(exchange.answeredAt == seconds.map { Self.start.adding(seconds: $0) })
    }

    @Test("to an environment that does not have it is not made")
    func orderInSandbox() {
        let exchange = Exchange(.orderLookup, in: .sandbox, startingAt: Self.start)
        #expect(failure(exchange)?.reason == .notInThisEnvironment && exchange.attempts == 0)
        #expect(Exchange(.orderLookup, startingAt: Self.start).step == .ask(.production))
    }

    @Test("that is redirected, or answered with what is none of Apple's, ends with the status")
    func otherStatuses() {
        for status in [301, 400, 403, 404, 418] {
            var exchange = Exchange(.transactionInfo, startingAt: Self.start)
            exchange.received(
                TransportAnswer(status: status, body: Array("<html>".utf8)), at: Self.start, jitter: 0)
            #expect(failure(exchange)?.reason == .status(status))
        }
    }
}
