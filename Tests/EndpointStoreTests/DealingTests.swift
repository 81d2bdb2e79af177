import AppStorePayloads
import Base
import EventStore
import EvidenceStore
import Foundation
import Postgres
import PurchaseStore
import TestSupport
import Testing
import WebhookSupport

@Suite("Dealing events out to endpoints")
struct DealingTests {
    /// What waits for an endpoint: whose, and which numbers.
    private func waiting(_ site: EndpointSite, _ id: Int64) async throws -> [String] {
        try await site.pool.query(
            """
            select l.subject || ' ' || p.sequence || ' after ' || coalesce(p.previous_sequence::text, '-')
              from storehook.deliveries_pending p join storehook.delivery_lanes l on l.id = p.lane_id
             where p.endpoint_id = \(id) order by p.id
            """
        ).map { try $0.decode(0) }
    }

    @Test("an endpoint gets what is told from now on, each event once, and each says which came before it")
    func order() async throws {
        try await EndpointSite.with { site in
            try await site.write(2, of: 1)
            let endpoint = try await site.add()
            try await site.deal(endpoint.id)
            #expect(try await waiting(site, endpoint.id).isEmpty)
            try await site.write(2, of: 1)
            try await site.write(1, of: 2)
            try await site.deal(endpoint.id)
            try await site.write(1, of: 1)
            try await site.deal(endpoint.id)
            let (one, two) = (
                "Production/\(EndpointSite.token(1))".lowercased(), "Production/\(EndpointSite.token(2))".lowercased()
            )
            #expect(
                try await waiting(site, endpoint.id).map { $0.lowercased() } == [
                    "\(one) 3 after -", "\(one) 4 after 3", "\(two) 1 after -", "\(one) 5 after 4",
                ])
            let lanes: Int64 = try await site.value("select count(*) from storehook.delivery_queue")
            #expect(lanes == 2)
        }
    }

    @Test("an event that was begun before the endpoint was added is not its, though it gets its place later")
    func older() async throws {
        try await EndpointSite.with { site in
            try await site.write(1, of: 1, place: false)
            let endpoint = try await site.add()
            try await site.place()
            try await site.deal(endpoint.id)
            #expect(try await waiting(site, endpoint.id).isEmpty)
        }
    }

    @Test("an event that is committed after the endpoint was added is its, however long ago it was begun")
    func begunBefore() async throws {
        try await EndpointSite.with { site in
            let endpoint = try await site.add()
            try await site.write(1, of: 1, place: false)
            for table in ["events", "events_unplaced"] {
                try await site.pool.query(
                    "update storehook.\(unescaped: table) set told_at = told_at - interval '1 minute'")
            }
            try await site.place()
            try await site.deal(endpoint.id)
            #expect(try await waiting(site, endpoint.id).count == 1)
        }
    }

    @Test("each endpoint gets the app, the environment and the kinds that it wants, and of accounts everything")
    func filters() async throws {
        try await EndpointSite.with { site in
            let app = try await site.add("https://a.example/", EndpointFilter(bundleID: "com.example.app"))
            let sandbox = try await site.add("https://b.example/", EndpointFilter(environment: "Sandbox"))
            let kinds = try await site.add(
                "https://c.example/", EndpointFilter(kinds: ["account.*", "subscription.trial_started"]))
            try await site.write(of: 1)
            try await site.write(of: 1, app: "com.example.other")
            try await site.write(of: 1, kind: "account.access_changed", app: nil)
            try await site.write(of: 1, kind: "account.access_changed", app: "com.example.other")
            try await site.write(of: 1, environment: "Sandbox", app: "com.example.other")
            try await site.write(of: 1, kind: "subscription.trial_started", app: "com.example.other")
            try await site.write(of: 1, kind: "subscription.trialxstarted", app: "com.example.other")
            var counts: [Int] = []
            for endpoint in [app, sandbox, kinds] {
                try await site.deal(endpoint.id)
                counts.append(try await waiting(site, endpoint.id).count)
            }
            // Of an app also what is no app's, as a grant, and what another one changed of an account.
            #expect(counts == [3, 1, 3])
            let resent = try await site.store.resend(
                EventSelection(token: UniqueIdentifier(EndpointSite.token(1)), endpointID: app.id), by: "cli:test")
            #expect(resent == 0, "what it wants waits, and the rest it does not want")
        }
    }

    @Test("patterns fit kinds as SQL fits them, and a pattern that fits none is named")
    func patterns() {
        #expect(
            EndpointFilter(kinds: ["*", "subscription.*", "*.refunded", "account.access_changed"]).strangePattern == nil
        )
        #expect(
            EndpointFilter(kinds: ["subscription.renewed", "subscription.bought"]).strangePattern
                == "subscription.bought")
        #expect(EndpointFilter(kinds: ["subscription_*"]).strangePattern == "subscription_*")
    }

    @Test("with four dealers at once every event is dealt out once and every account's are in order")
    func concurrent() async throws {
        try await EndpointSite.with { site in
            let endpoint = try await site.add()
            let (accounts, rounds) = (7, 30)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for account in 1...accounts {
                    group.addTask { for _ in 0..<rounds { try await site.write(of: account) } }
                }
                for _ in 0..<4 {
                    group.addTask {
                        while try await site.value(
                            "select position from storehook.endpoint_cursors") < Int64(accounts * rounds)
                        {
                            _ = try await site.store.deal(endpoint.id, atMost: 3)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await site.deal(endpoint.id)
            let chains: Int64 = try await site.value(
                """
                select count(*) from (
                    select sequence, previous_sequence,
                           lag(sequence) over (partition by lane_id order by id) as before
                      from storehook.deliveries_pending) d
                 where previous_sequence is not distinct from before and sequence = coalesce(before, 0) + 1
                """)
            #expect(chains == Int64(accounts * rounds))
            let lanes: Int64 = try await site.value("select count(*) from storehook.delivery_queue")
            #expect(lanes == Int64(accounts))
        }
    }

    @Test("what is dealt out while a lane is taken off is never left behind")
    func noLaneIsLost() async throws {
        try await EndpointSite.with { site in
            let endpoint = try await site.add()
            let rounds = 150
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 0..<rounds { try await site.write(of: 1) } }
                for _ in 0..<2 {
                    group.addTask {
                        while try await site.value("select count(*) from storehook.deliveries") < Int64(rounds) {
                            _ = try await site.store.deal(endpoint.id, atMost: 2)
                            try await Self.deliver(site, endpoint.id)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let delivered = try await site.pool.query(
                "select sequence from storehook.deliveries order by ended_at, id"
            ).map { try $0.decode(0, as: Int64.self) }
            #expect(delivered == Array(1...Int64(rounds)))
        }
    }

    @Test("what an endpoint that is away has missed is a position, not rows")
    func room() async throws {
        try await EndpointSite.with { site in
            let endpoint = try await site.add()
            for account in 1...20 { try await site.write(of: account) }
            for _ in 0..<30 { _ = try await site.store.deal(endpoint.id, atMost: 2, room: 6) }
            let waiting: Int64 = try await site.value("select count(*) from storehook.deliveries_pending")
            #expect((6...10).contains(waiting))
            try await Self.deliver(site, endpoint.id)
            for _ in 0..<30 { _ = try await site.store.deal(endpoint.id, atMost: 2, room: 6) }
            try await Self.deliver(site, endpoint.id)
            let delivered: Int64 = try await site.value("select count(*) from storehook.deliveries")
            #expect(delivered >= 12)
        }
    }

    @Test("of few accounts with many events no more is dealt out than there is room for")
    func roomOfEvents() async throws {
        try await EndpointSite.with { site in
            let endpoint = try await site.add()
            for account in 1...2 { try await site.write(40, of: account) }
            for _ in 0..<60 { _ = try await site.store.deal(endpoint.id, atMost: 2, room: 6) }
            let waiting: Int64 = try await site.value("select count(*) from storehook.deliveries_pending")
            #expect((6...10).contains(waiting))
        }
    }

    /// Takes what is due for an endpoint, as one that says yes does.
    static func deliver(_ site: EndpointSite, _ id: Int64, perLane: Int = 8) async throws {
        let lease = Lease(owner: "test", duration: .seconds(60))
        let batch = try await site.store.claim(100, of: id, for: lease, perLane: perLane)
        guard !batch.rows.isEmpty else { return }
        var news = EndpointNews()
        news.successes = batch.rows.count
        let outcomes = batch.rows.map { row in
            LaneOutcome(
                laneID: row.id,
                ends: row.content.map { .init(deliveryID: $0.id, attempts: 1, status: 200, reason: nil) }, retry: nil)
        }
        _ = try await site.store.settle(outcomes, of: id, token: batch.token, news)
    }
}
