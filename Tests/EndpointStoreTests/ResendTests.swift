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

@Suite("Sending events again")
struct ResendTests {
    /// Two endpoints that have got two events of each of two accounts.
    private func delivered(_ body: (EndpointSite, [Int64]) async throws -> Void) async throws {
        try await EndpointSite.with { site in
            let ids = [
                try await site.add().id,
                try await site.add("https://b.example/", EndpointFilter(environment: "Production")).id,
            ]
            for account in 1...2 { try await site.write(2, of: account) }
            for id in ids {
                try await site.deal(id)
                try await DealingTests.deliver(site, id)
            }
            #expect(try await site.value("select count(*) from storehook.deliveries") == 8 as Int64)
            try await body(site, ids)
        }
    }

    /// What an endpoint is brought, lane by lane.
    private func brought(_ site: EndpointSite, _ id: Int64) async throws -> [[Int64]] {
        try await site.deal(id)
        let batch = try await site.store.claim(100, of: id, for: Lease(owner: "test", duration: .seconds(60)))
        return batch.rows.map { row in row.content.map(\.eventID) }
    }

    private func eventIDs(_ site: EndpointSite) async throws -> [Int64] {
        try await site.pool.query("select id from storehook.events order by id").map { try $0.decode(0) }
    }

    @Test("by its number an event goes again to every endpoint, or to one; its name stays")
    func byNumber() async throws {
        try await delivered { site, ids in
            let events = try await eventIDs(site)
            #expect(try await site.store.resend(EventSelection(eventIDs: [events[1]]), by: "cli:test") == 2)
            #expect(
                try await site.store.resend(EventSelection(eventIDs: [events[1]]), by: "cli:test") == 0,
                "it waits already")
            #expect(
                try await site.store.resend(EventSelection(eventIDs: [events[2]], endpointID: ids[0]), by: "cli:test")
                    == 1)
            #expect(try await brought(site, ids[0]) == [[events[1]], [events[2]]])
            #expect(try await brought(site, ids[1]) == [[events[1]]])
            #expect(Delivery.webhookID(events[1]) == "evt_\(events[1])" && Delivery.eventID("evt_7") == 7)
        }
    }

    @Test(
        "what is sent again is on record with who did it and why, an act for each endpoint; what sends nothing is not")
    func record() async throws {
        try await delivered { site, ids in
            let events = try await eventIDs(site)
            /// Each act: who, on what, how many deliveries, and whether it has this reason.
            func acts() async throws -> [String] {
                try await site.pool.query(
                    """
                    select concat_ws(' ', a.actor, a.act, a.subject_kind, a.subject, a.after::jsonb ->> 'deliveries',
                                     a.after::jsonb ->> 'first_events', coalesce(t.body, '') like '%repaired%')
                      from storehook.audit a left join storehook.audit_texts t using (place)
                     where a.act = 'resend_delivery' order by a.place
                    """
                ).map { try $0.decode(0, as: String.self) }
            }
            let one = EventSelection(eventIDs: [events[1]])
            #expect(try await site.store.resend(one, by: "cli:kim", why: "repaired") == 2)
            let both = ids.map { #"cli:kim resend_delivery endpoint \#($0) 1 ["evt_\#(events[1])"] t"# }
            #expect(try await acts() == both)
            #expect(try await site.store.resend(one, by: "cli:kim", why: "repaired") == 0)
            #expect(try await acts() == both)
            let rest = EventSelection(since: .earliest, endpointID: ids[0])
            #expect(try await site.store.resend(rest, by: "cli:sam", portion: 2) == 3)
            let counted = try await acts().dropFirst(2)
            #expect(
                counted.allSatisfy { $0.hasPrefix("cli:sam resend_delivery endpoint \(ids[0]) ") && $0.hasSuffix(" f") }
            )
            #expect((2...4).contains(counted.count), "a transaction is an act: \(counted)")
            let delivered = try await site.store.deliveries(
                EventSelection(eventIDs: [events[3]], endpointID: ids[1]), outcome: .delivered, limit: 9)
            let delivery = try #require(delivered.elements.first)
            #expect(try await site.store.resend(delivery, by: "cli:kim", why: "repaired"))
            #expect(try await acts().last?.hasPrefix("cli:kim resend_delivery delivery \(delivery.id) 1 ") == true)
        }
    }

    @Test("an account's events go again in order, behind what waits, each with the number before it")
    func byAccount() async throws {
        try await delivered { site, ids in
            let events = try await eventIDs(site)
            try await site.write(of: 1)
            try await site.deal(ids[0])
            let token = UniqueIdentifier(EndpointSite.token(1))
            #expect(try await site.store.resend(EventSelection(token: token, endpointID: ids[0]), by: "cli:test") == 2)
            let lanes = try await brought(site, ids[0])
            #expect(lanes.map { $0.dropFirst() } == [[events[0], events[1]]])
            let previous = try await site.pool.query(
                "select previous_sequence from storehook.deliveries_pending where endpoint_id = \(ids[0]) order by id"
            ).map { try $0.decode(0, as: Int64?.self) }
            #expect(previous == [2, nil, 1])
        }
    }

    @Test("from an instant on an endpoint gets everything that it wants, also what is older than it")
    func byTime() async throws {
        try await delivered { site, _ in
            let late = try await site.add("https://late.example/").id
            let narrow = try await site.add("https://narrow.example/", EndpointFilter(environment: "Sandbox")).id
            let instant: PostgresTimestamp = try await site.value("select max(told_at) from storehook.events")
            #expect(try await site.store.resend(EventSelection(since: instant, endpointID: late), by: "cli:test") == 2)
            #expect(
                try await site.store.resend(
                    EventSelection(since: instant.adding(.seconds(-3600)), until: instant, endpointID: late),
                    by: "cli:test")
                    == 2)
            #expect(
                try await site.store.resend(
                    EventSelection(since: instant.adding(.seconds(-3600)), endpointID: narrow), by: "cli:test")
                    == 0)
            let events = try await eventIDs(site)
            #expect(Set(try await brought(site, late)) == [[events[0], events[1]], [events[2], events[3]]])
            // What comes next follows upon that.
            try await site.write(of: 2)
            try await site.deal(late)
            let previous: Int64 = try await site.value(
                "select previous_sequence from storehook.deliveries_pending where endpoint_id = \(late) and position is not null"
            )
            #expect(previous == 2)
        }
    }

    @Test("what one transaction told is sent again once, however many are taken at a time")
    func portions() async throws {
        try await EndpointSite.with { site in
            try await site.write(5, of: 1)
            try await site.write(1, of: 2)
            try await site.write(7, of: 1)
            let late = try await site.add().id
            for portion in [1, 3, 5, 2_000] as [Int64] {
                let sent = try await site.store.resend(
                    EventSelection(since: .earliest, endpointID: late), by: "cli:test", portion: portion)
                #expect(sent == 13, "\(portion) at a time")
                let ids = try await site.pool.query(
                    "delete from storehook.deliveries_pending returning event_id"
                ).map { try $0.decode(0, as: Int64.self) }
                #expect(ids.sorted() == (try await eventIDs(site)).sorted())
            }
        }
    }

    @Test("what is not dealt out so far comes once, in order, and is not sent again before")
    func undealt() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(2, of: 1)
            try await site.deal(id)
            try await DealingTests.deliver(site, id)
            _ = try await site.store.disable(id, why: "for a while", by: "test")
            try await site.write(2, of: 1)
            try await site.write(1, of: 2)
            let instant: PostgresTimestamp = try await site.value(
                "select min(told_at) from storehook.events where sequence = 3")
            #expect(try await site.store.resend(EventSelection(since: instant, endpointID: id), by: "cli:test") == 0)
            let token = UniqueIdentifier(EndpointSite.token(1))
            #expect(try await site.store.resend(EventSelection(token: token), by: "cli:test") == 2)
            _ = try await site.store.enable(id, skipsMissed: false, by: "test")
            try await site.deal(id)
            let waiting = try await site.pool.query(
                "select sequence, previous_sequence from storehook.deliveries_pending order by id"
            ).map { try [$0.decode(0, as: Int64.self), $0.decode(1, as: Int64?.self)] }
            #expect(waiting == [[1, nil], [2, 1], [3, 2], [4, 3], [1, nil]])
        }
    }

    @Test("the lanes of what is sent again come into the queue once")
    func queuedOnce() async throws {
        try await delivered { site, ids in
            let events = try await eventIDs(site)
            for event in events.prefix(2) {
                #expect(
                    try await site.store.resend(EventSelection(eventIDs: [event], endpointID: ids[0]), by: "cli:test")
                        == 1)
                try await site.deal(ids[0])
                let isPast: Bool = try await site.value(
                    """
                    select c.queued_resend = (select max(id) from storehook.deliveries_pending) and not c.has_resends
                      from storehook.endpoint_cursors c where c.endpoint_id = \(ids[0])
                    """)
                #expect(isPast)
            }
            #expect(try await brought(site, ids[0]) == [Array(events.prefix(2))])
        }
    }

    @Test("dead deliveries go again to the last, though a portion of them waits already")
    func deadPortions() async throws {
        try await delivered { site, ids in
            try await site.pool.query(
                "update storehook.deliveries set outcome = 'dead', reason = 'timeout' where endpoint_id = \(ids[0])")
            let events = try await eventIDs(site)
            #expect(
                try await site.store.resend(
                    EventSelection(eventIDs: Array(events.prefix(2)), endpointID: ids[0]), by: "cli:test") == 2)
            #expect(try await site.store.resendDead(EventSelection(), by: "cli:test", portion: 2) == 2)
            #expect(try await site.store.standings().map(\.dead) == [0, 0])
        }
    }

    @Test("dead deliveries are kept, and go again once")
    func dead() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(2, of: 1)
            try await site.deal(id)
            let batch = try await site.store.claim(1, of: id, for: Lease(owner: "test", duration: .seconds(60)))
            let row = batch.rows[0]
            _ = try await site.store.settle(
                [
                    LaneOutcome(
                        laneID: row.id,
                        ends: row.content.map {
                            .init(deliveryID: $0.id, attempts: 10, status: nil, reason: "timeout")
                        }, retry: nil)
                ], of: id, token: batch.token, EndpointNews())
            #expect(try await site.store.standings().map(\.dead) == [2])
            #expect(try await site.store.resendDead(EventSelection(endpointID: 99), by: "cli:test") == 0)
            #expect(try await site.store.resendDead(EventSelection(), by: "cli:test") == 2)
            #expect(try await site.store.resendDead(EventSelection(), by: "cli:test") == 0)
            #expect(try await site.store.standings().map(\.dead) == [0])
            #expect(try await brought(site, id) == [row.content.map(\.eventID)])
            let records = try await site.store.deliveries(EventSelection(), limit: 10).elements
            #expect(records.map(\.outcome) == [.waiting, .waiting, .dead, .dead])
            #expect(records.last?.resentAt != nil)
        }
    }

    @Test("deliveries are found by endpoint, event, account, time and what became of them")
    func list() async throws {
        try await delivered { site, ids in
            let events = try await eventIDs(site)
            func count(_ selection: EventSelection, _ outcome: DeliveryRecord.Outcome? = nil) async throws -> Int {
                try await site.store.deliveries(selection, outcome: outcome, limit: 100).elements.count
            }
            #expect(try await count(EventSelection()) == 8)
            #expect(try await count(EventSelection(endpointID: ids[0])) == 4)
            #expect(try await count(EventSelection(eventIDs: [events[0]])) == 2)
            let token = UniqueIdentifier(EndpointSite.token(2))
            #expect(try await count(EventSelection(token: token, endpointID: ids[1])) == 2)
            #expect(try await count(EventSelection(eventIDs: [events[0]], token: token)) == 0)
            #expect(try await count(EventSelection(), .delivered) == 8)
            #expect(try await count(EventSelection(), .dead) == 0)
            let last: PostgresTimestamp = try await site.value("select max(told_at) from storehook.events")
            #expect(try await count(EventSelection(since: last)) == 4)
            #expect(try await count(EventSelection(until: last)) == 4)
            // In pages that look through three each.
            let own = EventSelection(endpointID: ids[0])
            let all = try await site.store.deliveries(own, limit: 100).elements.map(\.id)
            var (paged, cursor): ([Int64], ListCursor?) = ([], nil)
            repeat {
                let page = try await site.store.deliveries(own, after: cursor, limit: 2, lookingThrough: 3)
                paged += page.elements.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(paged == all && all == all.sorted(by: >))
            // What is asked for by account is found by its events, and comes in the same order.
            let about = EventSelection(token: token)
            let whole = try await site.store.deliveries(about, limit: 100).elements.map(\.id)
            paged = []
            repeat {
                let page = try await site.store.deliveries(about, after: cursor, limit: 1, lookingThrough: 1)
                paged += page.elements.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(!whole.isEmpty && paged == whole && whole == whole.sorted(by: >))
            #expect(try await site.store.deliveries(own, of: ["com.example.none"], limit: 9).elements.isEmpty)
        }
    }
}
