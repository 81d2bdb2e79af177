import EventStore
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing
import WebhookSupport

@testable import Webhooks

@Suite("What endpoints answer")
struct AnswerTests {
    @Test("is kept as text without what nobody sees, without blanks around it and a character that was cut off")
    func cleaned() {
        let said = " \r\n<b>no</b>\tnot\u{0}here\u{1B}[31m\u{202E}x \n"
        #expect(AnswerText.cleaned(Array(said.utf8)) == "<b>no</b>\tnot here [31m x")
        #expect(AnswerText.cleaned(Array("n\u{E9}".utf8).dropLast()) == "n")
        #expect(AnswerText.cleaned([0xFF, 0x61, 0xFE, 0x62] as [UInt8]) == "\u{FFFD}a\u{FFFD}b")
        #expect(AnswerText.cleaned([] as [UInt8]) == nil)
        #expect(AnswerText.cleaned(Array(" \n".utf8)) == nil)
    }

    @Test(
        "stands with each attempt and its time, and in no log, until the person is erased or deliveries are no longer kept"
    )
    func kept() async throws {
        try await EndpointSite.with { site in
            let (log, calls) = (RecordedLog(), Calls())
            let server = try ScriptedServer { _ in
                calls.next() == 1 ? .json(500, "<b>person-1\u{0} is unknown</b>") : .json(200, "")
            }
            defer { server.stop() }
            try await site.add("http://127.0.0.1:\(server.port)/")
            try await site.write(of: 1)
            try await RunningWebhooks.with(site, logger: log.logger) { try await site.untilEnded(1) }
            let id: Int64 = try await site.value("select id from storehook.deliveries")
            let delivery = try #require(try await site.store.delivery(id))
            let attempts = try await site.store.attempts(at: delivery)
            #expect(attempts.map(\.code) == ["http_500", "http_200"] && attempts.map(\.status) == [500, 200])
            #expect(attempts.map(\.answer) == ["<b>person-1  is unknown</b>", nil])
            #expect(attempts.allSatisfy { (0..<10_000).contains($0.milliseconds) })
            #expect(!log.text.contains("unknown"))
            let token = EndpointSite.token(1)
            try await site.pool.query("insert into storehook.accounts (token, account) values (\(token), 'person-1')")
            try await site.pool.query(
                "update storehook.accounts set account = null, erased_at = now(), erased_by = 'cli:test' where token = \(token)"
            )
            #expect(try await site.store.attempts(at: delivery).map(\.answer) == [nil, nil])
            try await site.pool.query(
                "update storehook.delivery_attempts set attempted_at = now() - interval '31 days' where status = 500")
            _ = try await site.store.dropOld(keeping: 30)
            #expect(try await site.store.attempts(at: delivery).map(\.status) == [200])
        }
    }
}

/// Counts calls.
private final class Calls: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
