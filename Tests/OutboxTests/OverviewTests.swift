import Base
import Postgres
import TestSupport
import Testing

@testable import EvidenceStore

@Suite("The overview")
struct OverviewTests {
    /// What a worker did in the tests.
    private static let done: WorkTally.Count = {
        var done = WorkTally.Count()
        (done.recorded, done.duplicates, done.buried) = (3, 1, 2)
        let start = Timestamp(millisecondsSince1970: 1_000_000)
        for delay: Int64 in [100, 300, -50] { done.apple.add(from: start, to: start.adding(milliseconds: delay)) }
        done.own.add(from: start, to: start.adding(milliseconds: 40))
        return done
    }()

    /// As if so many seconds had passed since the rows were written: five at least, since each has a slot of its own.
    private func pass(_ seconds: Int, _ queue: OutboxBench) async throws {
        let (time, slots) = (Double(seconds), Int32(seconds / 5))
        try await queue.pool.query(
            """
            with old as (
                delete from storehook.overview_ring where seconds = 5 returning *
            )
            insert into storehook.overview_ring
            select r.*
              from (select jsonb_populate_record(
                               null::storehook.overview_ring,
                               to_jsonb(o) || jsonb_build_object(
                                   'slot', (o.slot - \(slots) % 720 + 720) % 720,
                                   'at', o.at - make_interval(secs => \(time)))) as made, o.at
                      from old o order by o.at) m
             cross join lateral (select (m.made).*) r
             order by m.at
            """)
        try await queue.pool.query(
            """
            update storehook.overview_state
               set sampled_at = sampled_at - make_interval(secs => \(time)), slot = (slot - \(slots) % 720 + 720) % 720,
                   detail_at = detail_at - make_interval(secs => \(time))
            """)
    }

    @Test("has no row before a worker writes one, then the latest, with what all workers did since the one before")
    func latest() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            let before = try await overview.latest()
            #expect(before.sample == nil && before.detail == nil && !before.isCurrent)
            #expect(try await overview.series(ofDay: false).isEmpty)
            #expect(try await overview.note(Self.done))
            // It is not due again, and what is done meanwhile counts with the next row.
            #expect(try await !overview.note(Self.done))
            #expect(try await !overview.note(Self.done))
            let first = try #require(try await overview.latest().sample)
            #expect((first.recorded, first.duplicates, first.buried) == (3, 1, 2))
            #expect(first.apple == .init(count: 3, mean: 133, longest: 300), "a negative delay counts as 0")
            #expect(first.own == .init(count: 1, mean: 40, longest: 40))
            #expect(try await overview.latest().isCurrent)
            try await pass(6, queue)
            #expect(try await overview.note(WorkTally.Count()))
            let second = try #require(try await overview.latest().sample)
            #expect((second.recorded, second.apple.count, second.apple.longest) == (6, 6, 300))
            #expect(second.span >= .seconds(5) && second.span < .seconds(60), "\(second.span)")
            #expect(try await overview.series(ofDay: false).map(\.recorded) == [3, 6])
            try await pass(40, queue)
            #expect(try await !overview.latest().isCurrent)
            // After a pause only the last interval is counted.
            try await pass(4000, queue)
            #expect(try await overview.note(WorkTally.Count()))
            #expect(try await overview.latest().sample?.span == .seconds(5))
        }
    }

    @Test("a row is written by one worker, however many come at once, and no worker's count is lost")
    func together() async throws {
        try await withQueue(connections: 8) { queue in
            let overview = OverviewStore(queue.pool)
            let written = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 { group.addTask { try await overview.note(Self.done) } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(written == 1)
            try await pass(6, queue)
            #expect(try await overview.note(WorkTally.Count()))
            let counts = try await overview.series(ofDay: false).map(\.recorded)
            #expect(counts.reduce(0, +) == 48, "\(counts)")
        }
    }

    @Test("says how the queue stands, counts no further than its bound and says so")
    func depth() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            try await queue.fill(5)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(3, for: lease).rows
            try await queue.outbox.queue.reschedule(
                [claimed[0].id], by: [.seconds(60)], reason: "x", token: lease.token)
            try await queue.bury([claimed[1]], lease)
            try await queue.pool.query(
                "update storehook.outbox_queue set received_at = received_at - interval '1 hour' where lease_token is not null"
            )
            #expect(try await overview.note(WorkTally.Count()))
            let sample = try #require(try await overview.latest().sample)
            #expect(sample.queue.map(\.state) == [.ready, .scheduled, .leased, .dead])
            #expect(sample.queue.map(\.counted.count) == [2, 1, 1, 1])
            #expect(sample.leased.oldestAge >= .seconds(3600) && sample.ready.oldestAge < .seconds(600))
            #expect(sample.queue.allSatisfy { !$0.counted.isMore })
            // A lease that runs out is ready, and named with its worker.
            try await queue.passTime()
            try await queue.pool.query(
                """
                insert into storehook.outbox_queue (id, received_at, due_at)
                select n, now(), now() from generate_series(1000001, 1010005) n
                """)
            try await pass(60, queue)
            #expect(try await overview.note(WorkTally.Count()))
            let latest = try await overview.latest()
            #expect(latest.sample?.ready.count == 10_000 && latest.sample?.ready.isMore == true)
            #expect(latest.detail?.lapsed.map(\.worker) == ["test"])
        }
    }

    @Test("counts what was stored in its own time, each once, up to its bound")
    func received() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            #expect(try await overview.note(WorkTally.Count()))
            try await queue.fill(7)
            var counts: [Int64] = []
            // A row counts up to a second before it is written.
            for _ in 0..<3 {
                try await pass(6, queue)
                try await queue.pool.query(
                    "update storehook.outbox set received_at = received_at - interval '6 seconds'")
                #expect(try await overview.note(WorkTally.Count()))
                counts.append(try #require(try await overview.latest().sample).received.count)
            }
            #expect(counts.reduce(0, +) == 7, "\(counts)")
            try await queue.pool.query(
                """
                insert into storehook.outbox (id, received_at, body)
                select n, now() - interval '2 seconds', 'x' from generate_series(1000001, 1020005) n
                """)
            try await pass(6, queue)
            #expect(try await overview.note(WorkTally.Count()))
            let full = try #require(try await overview.latest().sample).received
            #expect(full.count == 20_000 && full.isMore)
        }
    }

    @Test("keeps an hour of five seconds and a day of five minutes, and never more rows than that")
    func bounded() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            #expect(try await overview.note(Self.done))
            try await pass(240, queue)
            try await queue.pool.query("update storehook.overview_state set sampled_at = now() - interval '5 minutes'")
            #expect(try await overview.note(Self.done))
            // The five minutes before are a row: what was done in them in all.
            let day = try await overview.series(ofDay: true)
            #expect(day.map(\.recorded) == [6] && day.first?.apple.count == 6)
            // There is no slot beyond.
            await #expect(throws: PostgresError.self) {
                try await queue.pool.query(
                    "update storehook.overview_ring set slot = 720 where seconds = 5")
            }
            await #expect(throws: PostgresError.self) {
                try await queue.pool.query("update storehook.overview_ring set slot = 288 where seconds = 300")
            }
            try await pass(3601, queue)
            #expect(try await overview.series(ofDay: false).isEmpty)
        }
    }

    @Test("says which jobs are not done yet, and how far each is")
    func jobs() async throws {
        try await withQueue { queue in
            let (overview, jobs) = (OverviewStore(queue.pool), JobStore(queue.pool))
            #expect(try await overview.latest().jobs.isEmpty)
            try await queue.fill(3)
            let letters = Lease.fresh()
            try await queue.bury(try await queue.outbox.claim(3, for: letters).rows, letters, of: "com.example.app")
            let filter = DeadLetterFilter(apps: ["com.example.app"])
            let matching = try await jobs.matching(filter)
            let job = try await jobs.make(
                .init(.discard, filter, upTo: matching.upTo, confirmed: 3, by: "cli:kim", why: "probes")
            ).job
            let waiting = try #require(try await overview.latest().jobs.first)
            #expect(waiting.id == job.id && waiting.act == .discard && waiting.state == .waiting)
            #expect(waiting.total == 3 && waiting.done == 0 && waiting.apps == ["com.example.app"])
            let lease = Lease.fresh()
            _ = try await jobs.claim(for: lease)
            #expect(try await jobs.step(job.id, lease, portion: 2) == .more(2))
            let running = try #require(try await overview.latest().jobs.first)
            #expect(running.state == .running && running.done == 2)
            while try await jobs.step(job.id, lease, portion: 2) != .ended {}
            #expect(try await overview.latest().jobs.isEmpty)
        }
    }

    @Test("has of an instant the row that was the latest then and the rows up to it, and none before the ring begins")
    func past() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            #expect(try await overview.latest(at: Timestamp(millisecondsSince1970: 0)).begins == nil)
            #expect(try await overview.note(Self.done))
            try await pass(600, queue)
            #expect(try await overview.note(WorkTally.Count()))
            let first = try #require(try await overview.series(ofDay: false).first)
            let at = Timestamp(first.at)
            for (seconds, isCurrent) in [(0, true), (10, true), (300, false)] as [(Int64, Bool)] {
                let then = try await overview.latest(at: at.adding(seconds: seconds))
                #expect(then.sample == first && then.begins == first.at, "\(seconds)")
                #expect(then.isCurrent == isCurrent && then.detail == nil && then.jobs.isEmpty, "\(seconds)")
            }
            let before = try await overview.latest(at: at.adding(seconds: -1))
            #expect(before.sample == nil && before.begins == first.at && !before.isCurrent)
            #expect(try await overview.series(ofDay: false, endingAt: at.adding(seconds: 10)) == [first])
            #expect(try await overview.series(ofDay: false, endingAt: at.adding(seconds: -1)).isEmpty)
            // Behind the last hour there are rows of five minutes.
            try await queue.pool.query("delete from storehook.overview_ring where seconds = 5")
            let latest = try await overview.latest(at: at.adding(seconds: 3600))
            #expect(latest.sample?.interval == .seconds(300), "\(latest)")
        }
    }

    @Test("says of apps how far they are proven and how their canaries fare, and which members are staff still")
    func detail() async throws {
        try await withQueue { queue in
            let overview = OverviewStore(queue.pool)
            try await queue.pool.query(
                """
                insert into storehook.canaries (environment, bundle_id, planned_at, asked_at, test_token, outcome, applied_at, settled_at)
                values ('Sandbox', 'com.example.app', now(), now(), 'T', 'applied', now(), now())
                """)
            try await queue.pool.query(
                """
                insert into storehook.staff_members (mail, role, apps, added_by)
                values ('a@example.com', 'viewer', null, 'x'), ('b@example.com', 'viewer', '{com.example.app}', 'x'),
                       ('c@example.com', 'viewer', null, 'x')
                """)
            try await queue.pool.query(
                "update storehook.staff_members set removed_at = now(), removed_by = 'x' where mail like 'c%'")
            #expect(try await overview.note(WorkTally.Count()))
            let latest = try await overview.latest(watchedBy: [1, 2, 3, 99])
            #expect(latest.detail?.apps.map(\.bundleID) == ["com.example.app"])
            #expect(latest.detail?.apps.first?.canaryAppliedAt != nil)
            #expect(latest.members == [1: nil, 2: ["com.example.app"]])
        }
    }
}
