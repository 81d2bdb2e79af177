import Base
import EventStore
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("Settling deliveries")
struct SettlingTests {
    private func claim(_ site: EndpointSite, _ id: Int64, perLane: Int = 8) async throws -> ClaimedBatch<[Delivery]> {
        try await site.store.claim(100, of: id, for: Lease(owner: "test", duration: .seconds(60)), perLane: perLane)
    }

    /// Calls in a row that failed.
    private func fail(_ site: EndpointSite, _ id: Int64, times: Int, isProbe: Bool = false) async throws
        -> EndpointStore.Settled
    {
        var news = EndpointNews()
        news.failures = times
        news.faults = times
        news.lastFailure = "answered 503"
        news.isProbe = isProbe
        return try await site.store.settle([], of: id, token: UUID(), news)
    }

    @Test("the next of an account is claimed only after the one before it succeeded or was given up; others' meanwhile")
    func order() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(3, of: 1)
            try await site.write(1, of: 2)
            try await site.deal(id)
            let first = try await claim(site, id, perLane: 1)
            #expect(first.rows.map { $0.content.count } == [1, 1])
            #expect(try await claim(site, id).rows.isEmpty)
            let (held, other) = (first.rows[0], first.rows[1])
            var news = EndpointNews()
            news.failures = 1
            news.successes = 1
            let settled = try await site.store.settle(
                [
                    LaneOutcome(
                        laneID: held.id, ends: [],
                        retry: .init(delay: .seconds(3600), attempts: 1, lapses: 0, reason: "http_500")),
                    LaneOutcome(
                        laneID: other.id,
                        ends: [.init(deliveryID: other.content[0].id, attempts: 1, status: 204, reason: nil)],
                        retry: nil),
                ], of: id, token: first.token, news)
            #expect(settled.held == [held.id, other.id] && settled.change == nil)
            #expect(try await claim(site, id).rows.isEmpty)
            try await site.pool.query("update storehook.delivery_queue set due_at = now()")
            let second = try await claim(site, id, perLane: 1)
            #expect(second.rows.map(\.content) == [held.content])
            #expect(second.rows[0].attempts == 2 && second.rows[0].lastReason == "http_500")
            // Given up, it makes room for the next.
            _ = try await site.store.settle(
                [
                    LaneOutcome(
                        laneID: held.id,
                        ends: [.init(deliveryID: held.content[0].id, attempts: 10, status: 500, reason: "http_500")],
                        retry: nil)
                ], of: id, token: second.token, EndpointNews())
            let third = try await claim(site, id)
            #expect(third.rows.map { $0.content.count } == [2] && third.rows[0].attempts == 1)
            let dead = try await site.store.deliveries(EventSelection(), outcome: .dead, limit: 10).elements
            #expect(dead.map(\.sequence) == [1] && dead.first?.attempts == 10 && dead.first?.reason == "http_500")
        }
    }

    @Test("of a lane whose lease is another's nothing is written")
    func fenced() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(of: 1)
            try await site.deal(id)
            let first = try await claim(site, id)
            try await site.pool.query("update storehook.delivery_queue set due_at = now() - interval '1 second'")
            let second = try await claim(site, id)
            #expect(second.rows.map(\.lapsed) == [true])
            let outcome = LaneOutcome(
                laneID: first.rows[0].id,
                ends: [.init(deliveryID: first.rows[0].content[0].id, attempts: 1, status: 200, reason: nil)],
                retry: nil)
            let late = try await site.store.settle([outcome], of: id, token: first.token, EndpointNews())
            #expect(late.held.isEmpty)
            #expect(try await site.value("select count(*) from storehook.deliveries") == 0 as Int64)
            let settled = try await site.store.settle([outcome], of: id, token: second.token, EndpointNews())
            #expect(settled.held == [first.rows[0].id])
            #expect(try await site.value("select count(*) from storehook.deliveries") == 1 as Int64)
        }
    }

    @Test(
        "an endpoint that fails again and again is only probed, one call at a time; a success brings all of it back at once"
    )
    func paused() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            for account in 1...3 { try await site.write(of: account) }
            try await site.deal(id)
            #expect(try await fail(site, id, times: EndpointStore.failuresUntilPause - 1).change == nil)
            #expect(try await fail(site, id, times: 1).change == .paused)
            #expect(try await fail(site, id, times: 1).change == nil)
            #expect(try await site.store.find(id)?.state == .paused)
            #expect(try await claim(site, id).rows.isEmpty)
            let lease = Lease(owner: "test", duration: .seconds(60))
            #expect(try await site.store.claimProbe(of: id, for: lease) == nil, "not at once")
            try await site.pool.query("update storehook.endpoint_health set probe_at = now()")
            #expect(try await site.store.needs().map(\.isDue) == [true])
            // Whatever is put off comes before its time where nothing else can be tried.
            try await site.pool.query(
                "update storehook.delivery_queue set due_at = now() + interval '5 hours', attempts = 5")
            let probe = try #require(try await site.store.claimProbe(of: id, for: lease))
            #expect(probe.rows.count == 1)
            #expect(try await site.store.claimProbe(of: id, for: Lease(owner: "b", duration: .seconds(60))) == nil)
            var news = EndpointNews()
            news.successes = 1
            let settled = try await site.store.settle(
                [
                    LaneOutcome(
                        laneID: probe.rows[0].id,
                        ends: [.init(deliveryID: probe.rows[0].content[0].id, attempts: 1, status: 200, reason: nil)],
                        retry: nil)
                ], of: id, token: probe.token, news)
            #expect(settled.change == .resumed)
            let rest = try await claim(site, id)
            #expect(rest.rows.map(\.attempts) == [6, 6])
            #expect(rest.rows.allSatisfy { $0.content[0].scheduledAt != nil }, "it comes before its time")
            // What fails again waits for its time, whatever becomes of the endpoint meanwhile.
            _ = try await site.store.settle(
                rest.rows.map {
                    LaneOutcome(
                        laneID: $0.id, ends: [],
                        retry: .init(
                            delay: .seconds(3600), attempts: 5, lapses: 0, reason: "http_500", wasEarly: true))
                }, of: id, token: rest.token, EndpointNews())
            #expect(try await fail(site, id, times: 10).change == .paused)
            #expect(try await site.store.settle([], of: id, token: UUID(), news).change == .resumed)
            #expect(try await claim(site, id).rows.isEmpty)
        }
    }

    @Test("answers about events pause nobody, however many there are")
    func aboutEvents() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            var news = EndpointNews()
            news.failures = 50
            #expect(try await site.store.settle([], of: id, token: UUID(), news).change == nil)
            #expect(try await fail(site, id, times: 9).change == nil)
            #expect(try await site.store.find(id)?.failures == 59)
            #expect(try await fail(site, id, times: 1).change == .paused)
        }
    }

    @Test("what an endpoint asked for is heeded, whatever else succeeded meanwhile")
    func restBesideSuccess() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(of: 1)
            try await site.deal(id)
            var news = EndpointNews()
            (news.successes, news.failures, news.rest) = (3, 1, .seconds(60))
            _ = try await site.store.settle([], of: id, token: UUID(), news)
            #expect(try await site.store.needs().filter(\.isDue).isEmpty)
            #expect(try await claim(site, id).rows.isEmpty)
        }
    }

    @Test("a probe that fails makes the next one later, up to a minute")
    func probes() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            _ = try await fail(site, id, times: 10)
            let left: PostgresQuery = """
                select extract(epoch from probe_at - now())::double precision from storehook.endpoint_health
                """
            var waits = [try await site.value(left, as: Double.self)]
            for _ in 0..<8 {
                _ = try await fail(site, id, times: 1, isProbe: true)
                waits.append(try await site.value(left))
            }
            #expect(waits[0] <= 5 && waits[1] > 5 && waits[1] <= 10 && waits[8] > 40 && waits[8] <= 60)
            let before: PostgresTimestamp = try await site.value("select probe_at from storehook.endpoint_health")
            _ = try await fail(site, id, times: 1)
            #expect(try await site.value("select probe_at from storehook.endpoint_health") == before)
        }
    }

    @Test("one that fails for five days is disabled, and so is one that says it is gone; both say why")
    func disabled() async throws {
        try await EndpointSite.with { site in
            let (failing, gone) = (try await site.add().id, try await site.add("https://gone.example/").id)
            _ = try await fail(site, failing, times: 10)
            try await site.pool.query(
                """
                update storehook.endpoint_health set failing_since = now() - interval '5 days 1 second' where endpoint_id = \(failing)
                """)
            #expect(try await fail(site, failing, times: 1).change == .disabled)
            var news = EndpointNews()
            news.failures = 1
            news.isGone = true
            #expect(try await site.store.settle([], of: gone, token: UUID(), news).change == .gone)
            #expect(try await site.store.list().map(\.reason) == ["failing", "gone"])
            #expect(try await site.store.list().map(\.state) == [.disabled, .disabled])
        }
    }

    @Test("an endpoint that asks to be left alone is, and others are not")
    func rest() async throws {
        try await EndpointSite.with { site in
            let (busy, other) = (try await site.add().id, try await site.add("https://other.example/").id)
            try await site.write(of: 1)
            for id in [busy, other] { try await site.deal(id) }
            var news = EndpointNews()
            news.failures = 1
            news.rest = .seconds(60)
            _ = try await site.store.settle([], of: busy, token: UUID(), news)
            #expect(try await site.store.needs().filter(\.isDue).map(\.endpointID) == [other])
            #expect(try await claim(site, busy).rows.isEmpty)
            #expect(try await claim(site, other).rows.count == 1)
        }
    }

    @Test("what there is to do is looked for from where the last look found something")
    func floors() async throws {
        try await EndpointSite.with { site in
            let (busy, idle) = (try await site.add().id, try await site.add("https://other.example/").id)
            try await site.write(of: 1)
            try await site.deal(busy)
            let due: PostgresTimestamp = try await site.value("select due_at from storehook.delivery_queue")
            let needs = try await site.store.needs()
            let first = try #require(needs.first { $0.endpointID == busy })
            let other = try #require(needs.first { $0.endpointID == idle })
            #expect(first.isDue && first.floor == due && !other.isDue && other.floor > due)
            func isDue(from floor: PostgresTimestamp) async throws -> Bool? {
                try await site.store.needs(from: [busy: floor]).first { $0.endpointID == busy }?.isDue
            }
            #expect(try await isDue(from: due) == true)
            #expect(try await isDue(from: due.adding(.milliseconds(1))) == false)
        }
    }

    @Test("a glance at endpoints counts up to a bound, says where there is more, and otherwise as is watched")
    func glance() async throws {
        try await EndpointSite.with { site in
            let busy = try await site.add().id
            let idle = try await site.add("https://b.example/", EndpointFilter(environment: "Production")).id
            try await site.write(2, of: 1)
            try await site.deal(busy)
            for standing in try await site.store.standings() {
                let seen = try #require(try await site.store.glance(at: [standing.endpointID]).first)
                #expect(seen.lanes == standing.lanes && seen.behind == standing.behind && seen.dead == standing.dead)
                #expect(seen.state == standing.state && !seen.hasMoreLanes && !seen.hasMoreDead)
            }
            try await site.pool.query(
                """
                insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
                select 1000000 + n, \(busy), n, now(), n, 'dead', 9, 500, 'http_500' from generate_series(1, 10050) n
                """)
            let all = try await site.store.glance()
            #expect(all.map(\.endpointID) == [busy, idle] && all.map(\.dead) == [10_000, 0])
            #expect(all.map(\.hasMoreDead) == [true, false])
            #expect(try await site.store.standings().map(\.dead) == [10_050, 0])
            #expect(try await site.store.glance(at: [4711]).isEmpty)
        }
    }

    @Test("how it stands with an endpoint tells what waits, since when, and what was given up")
    func standing() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            let idle = try #require(try await site.store.standings().first)
            #expect(idle.lanes == 0 && idle.behind == 0 && idle.dead == 0 && idle.oldestAge == .zero)
            try await site.write(2, of: 1)
            let behind = try #require(try await site.store.standings().first)
            #expect(behind.behind == 2 && behind.oldestAge > .zero)
            try await site.deal(id)
            let waiting = try #require(try await site.store.standings().first)
            #expect(waiting.behind == 0 && waiting.lanes == 1 && waiting.oldestAge > behind.oldestAge)
        }
    }
}
