import Base
import EventStore
import Events
import EvidenceStore
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing
import WebhookSupport

@testable import Webhooks

@Suite("Endpoints that take some of their events")
struct RefusingEndpointTests {
    @Test("what an endpoint refuses of some accounts dies by its schedule, and pauses nothing")
    func refusedAccounts() async throws {
        try await EndpointSite.with { site in
            let refused = Set((1...20).map { EndpointSite.token($0).uuidString.lowercased() })
            let receiver = try await WebhookReceiver.start { post in
                let account = (post.data("account") as? String)?.lowercased() ?? ""
                return .status(refused.contains(account) ? 404 : 204)
            }
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/").id
            let schedule = RetrySchedule.listed([Duration](repeating: .milliseconds(10), count: 3))
            let log = RecordedLog()
            try await RunningWebhooks.with(site, schedule: schedule, logger: log.logger) {
                for account in 1...20 { try await site.write(of: account) }
                try await site.untilEnded(20)
                try await site.write(of: 21)
                try await site.untilEnded(21)
            }
            let dead = try await site.store.deliveries(EventSelection(), outcome: .dead, limit: 100).elements
            #expect(dead.count == 20 && dead.allSatisfy { $0.attempts == 4 && $0.reason == "http_404" })
            #expect(receiver.posts.count == 81)
            #expect(!log.text.contains("only probed"))
            #expect(try await site.store.find(id)?.state == .enabled)
        }
    }

    @Test("answers about an event are those of 4xx that tell nothing of who asks, of when, or of the endpoint")
    func aboutEvent() {
        for status in [400, 403, 404, 409, 413, 422] {
            #expect(CallOutcome.answered(status: status, retryAfter: nil).isAboutEvent, "\(status)")
        }
        for status in [200, 302, 401, 407, 408, 410, 429, 500, 503] {
            #expect(!CallOutcome.answered(status: status, retryAfter: nil).isAboutEvent, "\(status)")
        }
        #expect(!CallOutcome.failed(.timeout).isAboutEvent)
    }

    @Test("to one endpoint events cannot be dealt out; the others get theirs")
    func undealt() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start()
            let broken = try await site.add("http://127.0.0.1:\(receiver.port)/broken").id
            try await site.add("http://127.0.0.1:\(receiver.port)/well")
            try await site.pool.query(
                """
                create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$
                """)
            try await site.pool.query(
                """
                create trigger refuse before insert on storehook.delivery_lanes
                   for each row when (new.endpoint_id = \(unescaped: "\(broken)")) execute function refuse()
                """)
            let log = RecordedLog()
            try await RunningWebhooks.with(site, logger: log.logger) {
                for account in 1...5 { try await site.write(of: account) }
                try await site.untilEnded(5)
            }
            #expect(receiver.posts.allSatisfy { $0.line == "POST /well" })
            #expect(log.text.contains("Cannot deal events out"))
        }
    }

    @Test(
        "of a lane in hand nothing further is sent once the endpoint is called no more, or with a secret that was replaced"
    )
    func changedMeanwhile() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start()
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/").id
            try await site.write(3, of: 1)
            try await site.deal(id)
            let callable = try #require(try await site.store.callable(id, site.key))
            let batch = try await site.store.claim(1, of: id, for: Lease(owner: "test", duration: .seconds(60)))
            let claimedAt = try #require(batch.claimedAt)
            let caller = EndpointCaller(RunningWebhooks.local, resolver: ScriptedNames([:]))
            func run(_ current: EndpointStore.Callable?) async throws -> LaneWork.Result {
                await LaneWork(
                    row: try #require(batch.rows.first), token: batch.token, leaseEnd: batch.leaseEnd,
                    clock: DatabaseClock(claimedAt), callable: callable, current: { current }, isProbe: false,
                    caller: caller, schedule: .deliveries, metrics: WebhookMetrics(), isStopped: { false }
                ).run()
            }
            let stopped = try await run(nil)
            #expect(stopped.outcome.ends.count == 1 && stopped.outcome.retry == nil && receiver.posts.count == 1)
            var rotated = callable
            rotated.secrets = [WebhookSecret(), WebhookSecret()]
            let whole = try await run(rotated)
            #expect(whole.outcome.ends.count == 3)
            let signatures = receiver.posts.dropFirst().map { $0.headers["webhook-signature"]?.contains(" ") }
            #expect(signatures == [false, true, true])
            await caller.shutdown()
        }
    }

    @Test("an answer's Retry-After puts the delivery off in each of its forms; what is none leaves it to the schedule")
    func retryAfter() async throws {
        try await EndpointSite.with { site in
            let wish = Mutex("")
            let receiver = try await WebhookReceiver.start { _ in
                .status(503, ["Retry-After": wish.withLock(\.self)])
            }
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/").id
            try await site.write(of: 1)
            try await site.deal(id)
            let callable = try #require(try await site.store.callable(id, site.key))
            let batch = try await site.store.claim(1, of: id, for: Lease(owner: "test", duration: .seconds(60)))
            let row = try #require(batch.rows.first)
            let caller = EndpointCaller(RunningWebhooks.local, resolver: ScriptedNames([:]))
            let clock = DatabaseClock(PostgresTimestamp(millisecondsSince1970: 784_111_740_000))
            for (text, isHeeded) in [
                ("120", true), ("Sun, 06 Nov 1994 08:51:00 GMT", true), ("Sunday, 06-Nov-94 08:51:00 GMT", true),
                ("Sun Nov  6 08:51:00 1994", true), ("in two minutes", false), ("Sun Nov 6 08:51:00 1994", false),
            ] {
                wish.withLock { $0 = text }
                let result = await LaneWork(
                    row: row, token: batch.token, leaseEnd: batch.leaseEnd, clock: clock, callable: callable,
                    current: { callable }, isProbe: false, caller: caller, schedule: .deliveries,
                    metrics: WebhookMetrics(), isStopped: { false }
                ).run()
                // Dates have whole seconds, and the clock goes on meanwhile.
                let delay = try #require(result.outcome.retry?.delay)
                #expect((isHeeded ? 100.0...120 : 5...6).contains(delay / .seconds(1)), "\(text): \(delay)")
                #expect((result.news.rest != nil) == isHeeded)
            }
            await caller.shutdown()
        }
    }
}
