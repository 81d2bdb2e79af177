import Base
import EvidenceStore
import Postgres
import TestSupport
import Testing

@Suite("Jobs")
struct JobTests {
    /// Buries so many notifications.
    private func bury(_ queue: OutboxBench, _ count: Int, of app: String? = nil) async throws {
        try await queue.outbox.store((0..<count).map { Array("\($0)".utf8) })
        let lease = Lease.fresh()
        let rows = try await queue.outbox.claim(count, for: lease).rows
        try await queue.bury(rows, lease, reason: app == nil ? "malformed" : "wrong_bundle", of: app)
    }

    /// A job of all letters that match now.
    private func make(
        _ jobs: JobStore, _ act: Job.Act, _ filter: DeadLetterFilter = DeadLetterFilter(), perSecond: Int? = nil
    ) async throws -> Job {
        let matching = try await jobs.matching(filter)
        return try await jobs.make(
            .init(
                act, filter, upTo: matching.upTo, confirmed: matching.count, perSecond: perSecond, by: "cli:kim",
                why: "repaired")
        ).job
    }

    /// Works on a job until it ends.
    /// - Returns: how many letters each step settled or passed by.
    private func workOff(_ jobs: JobStore, _ id: Int64, _ lease: Lease, portion: Int = 100) async throws -> [Int] {
        var steps: [Int] = []
        while true {
            switch try await jobs.step(id, lease, portion: portion) {
            case .more(let count): steps.append(count)
            case .ended: return steps
            case .lost: throw NeverHappened("the worker keeps its job")
            }
        }
    }

    private func open(_ queue: OutboxBench) async throws -> [Int64] {
        try await queue.outbox.deadLetters(DeadLetterFilter(), limit: 1000).map(\.id)
    }

    @Test("settle the letters that matched when they were confirmed, a portion at a time, and none that came later")
    func replay() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 5)
            try await bury(queue, 2, of: "com.example.app")
            let filter = DeadLetterFilter(reason: "malformed")
            let matching = try await jobs.matching(filter)
            #expect(matching.count == 5 && matching.among == 7 && matching.downTo == nil)
            try await bury(queue, 3)
            let made = try await jobs.make(
                .init(.replay, filter, upTo: matching.upTo, confirmed: 5, by: "cli:kim", why: "repaired"))
            #expect(made.later == 3 && made.job.total == 5 && made.job.state == .waiting)
            #expect(made.job.actor == "cli:kim" && made.job.filter.text.contains("malformed"))
            let lease = Lease.fresh()
            #expect(try await jobs.claim(for: lease)?.id == made.job.id)
            #expect(try await jobs.claim(for: .fresh()) == nil)
            #expect(try await workOff(jobs, made.job.id, lease, portion: 2) == [2, 2, 1])
            let done = try #require(try await jobs.job(made.job.id))
            #expect(done.state == .done && done.done == 5 && done.skipped == 0 && done.hasEnded)
            #expect(try await open(queue).count == 5)
            #expect(try await queue.rows().count == 5)
            let items = try await jobs.items(of: made.job.id, limit: 3)
            #expect(items.elements.count == 3)
            #expect(items.elements.allSatisfy { $0.outcome == "done" && $0.endedAt != nil })
            let next: ListCursor = try #require(items.next)
            let rest = try await jobs.items(of: made.job.id, after: next, limit: 3)
            #expect(rest.elements.count == 2 && rest.next == nil)
            let letter = try #require(try await queue.outbox.deadLetter(items.elements[0].letterID)).letter
            #expect(letter.resolution == .replayed && letter.jobID == made.job.id)
            #expect(letter.resolvedBy == "cli:kim" && letter.resolvedWhy == "repaired")
            let counted = try await queue.outbox.conservation()
            #expect(counted.pending == 5 && counted.dead == 5 && counted.missing == 0 && counted.doubled == 0)
            // One act on record, and not one for each step.
            let rows = try await queue.pool.query(
                "select act || ' ' || actor || ' ' || subject_kind || ' ' || subject from storehook.audit order by place"
            ).map { try $0.decode(0, as: String.self) }
            #expect(rows == ["replay_dead_letters cli:kim job \(made.job.id)"])
        }
    }

    @Test("are not made where another number of letters matches, and nothing of them is left then")
    func changed() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 3)
            let upTo = try await jobs.matching(DeadLetterFilter()).upTo
            func refusal(_ confirmed: Int64, _ act: Job.Act = .discard) async throws -> JobRefusal? {
                do {
                    _ = try await jobs.make(
                        .init(act, DeadLetterFilter(), upTo: upTo, confirmed: confirmed, by: "cli:kim", why: "why"))
                    return nil
                } catch let error as JobRefusal {
                    return error
                }
            }
            #expect(try await refusal(2) == .changed(matching: 3))
            #expect(try await refusal(4) == .changed(matching: 3))
            #expect(try await refusal(0) == .changed(matching: 0))
            #expect(try await refusal(100_001) == .tooMany(most: 100_000))
            #expect(try await refusal(5001, .rehearse) == .tooMany(most: 5000))
            _ = try await queue.outbox.discard([try await open(queue)[0]], by: "me", why: "a probe")
            #expect(try await refusal(3) == .changed(matching: 2))
            #expect(try await queue.value("select count(*) from storehook.jobs", as: Int64.self) == 0)
            #expect(try await queue.value("select count(*) from storehook.job_items", as: Int64.self) == 0)
            #expect(try await refusal(2) == nil)
            #expect(try await open(queue).count == 2, "nothing is settled before a worker begins")
        }
    }

    @Test("have a part of what matches only where they name it: otherwise none is made of what was not looked through")
    func part() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 4)
            try await bury(queue, 2, of: "com.example.app")
            let filter = DeadLetterFilter(text: "MALF")
            let seen = try await jobs.matching(filter, lookingThrough: 5)
            #expect(seen.count == 3 && seen.among == 5)
            let newest = try await queue.outbox.letters(filter, limit: 3).elements
            #expect(seen.downTo == newest.last?.outboxID)
            #expect(try await jobs.matching(filter, lookingThrough: 6).downTo == nil)
            func draft(_ filter: DeadLetterFilter, confirming count: Int64) -> JobStore.Draft {
                .init(.discard, filter, upTo: seen.upTo, confirmed: count, by: "cli:kim", why: "probes")
            }
            for count: Int64 in [3, 4] {
                await #expect(throws: JobRefusal.unseen(most: 5)) {
                    _ = try await jobs.make(draft(filter, confirming: count), lookingThrough: 5)
                }
            }
            #expect(try await queue.value("select count(*) from storehook.jobs", as: Int64.self) == 0)
            var part = filter
            part.downTo = seen.downTo
            let made = try await jobs.make(draft(part, confirming: 3), lookingThrough: 5).job
            #expect(made.total == 3 && made.filter.text.contains("downTo"), "\(made.filter.text)")
            #expect(try await jobs.letters(of: made.id) == newest.map(\.id).sorted())
            let whole = try await jobs.make(draft(filter, confirming: 4), lookingThrough: 6).job
            #expect(whole.total == 4 && !whole.filter.text.contains("downTo"))
            // Named letters are looked for among themselves.
            let named = DeadLetterFilter(ids: newest.map(\.id))
            #expect(try await jobs.make(draft(named, confirming: 3), lookingThrough: 5).job.total == 3)
        }
    }

    @Test("go on with another worker when one dies in the middle, and the first one can do nothing more")
    func death() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 6)
            let job = try await make(jobs, .discard)
            let (first, second) = (Lease.fresh(), Lease.fresh())
            #expect(try await jobs.claim(for: first)?.attempts == 1)
            #expect(try await jobs.step(job.id, first, portion: 2) == .more(2))
            // Its lease runs out.
            try await queue.pool.query("update storehook.job_queue set due_at = now()")
            let claimed = try #require(try await jobs.claim(for: second))
            #expect(claimed.id == job.id && claimed.lapsed && claimed.attempts == 2)
            #expect(try await jobs.step(job.id, first, portion: 2) == .lost)
            #expect(try await !jobs.end(job.id, report: nil, error: "no", first))
            #expect(try await workOff(jobs, job.id, second, portion: 3) == [3, 1])
            let done = try #require(try await jobs.job(job.id))
            #expect(done.state == .done && done.done == 6)
            #expect(try await queue.outbox.conservation().discarded == 6)
        }
    }

    @Test("settle each letter once, also where letters are settled by others, and two jobs have the same ones")
    func together() async throws {
        try await withQueue(connections: 8) { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 40)
            let ids = try await open(queue)
            let both = [try await make(jobs, .replay), try await make(jobs, .replay)]
            _ = try await queue.outbox.discard(Array(ids.prefix(3)), by: "me", why: "probes")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in both {
                    group.addTask {
                        let lease = Lease.fresh()
                        let claimed = try #require(try await jobs.claim(for: lease))
                        _ = try await self.workOff(jobs, claimed.id, lease, portion: 7)
                    }
                }
                try await group.waitForAll()
            }
            let ended = [try await jobs.job(both[0].id), try await jobs.job(both[1].id)].compactMap(\.self)
            #expect(ended.allSatisfy { $0.state == .done && $0.done + $0.skipped == 40 })
            #expect(ended.reduce(0) { $0 + $1.done } == 37)
            #expect(try await queue.rows().count == 37)
            let counted = try await queue.outbox.conservation()
            #expect(counted.pending == 37 && counted.discarded == 3 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("are stopped between two steps: what is settled stays so, and the rest is left alone")
    func stop() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 5)
            let job = try await make(jobs, .discard)
            let lease = Lease.fresh()
            _ = try await jobs.claim(for: lease)
            #expect(try await jobs.step(job.id, lease, portion: 2) == .more(2))
            let stopped = try await jobs.stop(job.id, by: "cli:sam", why: "the wrong ones")
            #expect(!stopped.hasEnded && stopped.stoppedBy == "cli:sam")
            await #expect(throws: JobRefusal.over(.running)) {
                _ = try await jobs.stop(job.id, by: "cli:sam", why: "again")
            }
            await #expect(throws: JobRefusal.unknown) { _ = try await jobs.stop(4711, by: "cli:sam", why: "none") }
            #expect(try await jobs.step(job.id, lease, portion: 2) == .ended)
            let ended = try #require(try await jobs.job(job.id))
            #expect(ended.state == .stopped && ended.done == 2 && ended.stoppedWhy == "the wrong ones")
            #expect(try await open(queue).count == 3)
            #expect(try await jobs.items(of: job.id, limit: 9).elements.count { $0.outcome == nil } == 3)
            let acts = try await queue.pool.query("select act from storehook.audit order by place")
                .map { try $0.decode(0, as: String.self) }
            #expect(acts == ["discard_dead_letters", "stop_job"])
            // The letters are free for another job.
            #expect(try await make(jobs, .replay).total == 3)
        }
    }

    @Test("of staff of some apps have their letters alone, and are listed for staff of these apps")
    func scope() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 2, of: "com.example.a")
            try await bury(queue, 3, of: "com.example.b")
            try await bury(queue, 1)
            let own = try await make(jobs, .discard, DeadLetterFilter(apps: ["com.example.a"]))
            let all = try await make(jobs, .rehearse)
            #expect(own.total == 2 && own.apps == ["com.example.a"] && all.total == 6)
            #expect(try await jobs.list(limit: 9).elements.map(\.id) == [all.id, own.id])
            let first = try await jobs.list(limit: 1)
            #expect(first.elements.map(\.id) == [all.id])
            let next: ListCursor = try #require(first.next)
            #expect(try await jobs.list(after: next, limit: 1).elements.map(\.id) == [own.id])
            #expect(try await jobs.list(ofApps: ["com.example.a", "com.example.c"], limit: 9).elements == [own])
            #expect(try await jobs.list(ofApps: ["com.example.b"], limit: 9).elements.isEmpty)
            #expect(try await jobs.list(state: .done, limit: 9).elements.isEmpty)
            // A rehearsal is no act.
            #expect(try await queue.value("select count(*) from storehook.audit", as: Int64.self) == 1)
        }
    }

    @Test("that rehearse end with a report, and are deleted after a day, others with the histories")
    func rehearsal() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 2)
            let job = try await make(jobs, .rehearse)
            let lease = Lease.fresh()
            _ = try await jobs.claim(for: lease)
            #expect(try await jobs.beginRehearsal(job.id, lease))
            #expect(try await jobs.letters(of: job.id) == (try await open(queue)))
            #expect(try await jobs.job(job.id, endedBy: .now)?.state == .running)
            #expect(try await jobs.end(job.id, report: PostgresJSON(Array(#"{"letters":2}"#.utf8)), lease))
            let ended = try #require(try await jobs.job(job.id, endedBy: .now + .seconds(9)))
            #expect(ended.state == .done && ended.report?.text.contains("letters") == true)
            #expect(try await open(queue).count == 2)
            let discard = try await make(jobs, .discard)
            _ = try await jobs.claim(for: lease)
            _ = try await workOff(jobs, discard.id, lease)
            #expect(try await jobs.dropOld(keeping: 30) == 0)
            try await queue.pool.query("update storehook.jobs set ended_at = now() - interval '2 days'")
            #expect(try await jobs.dropOld(keeping: 30) == 1)
            #expect(try await jobs.list(limit: 9).elements.map(\.id) == [discard.id])
            try await queue.pool.query("update storehook.jobs set ended_at = now() - interval '31 days'")
            #expect(try await jobs.dropOld(keeping: 30) == 1)
            #expect(try await queue.value("select count(*) from storehook.job_items", as: Int64.self) == 0)
        }
    }

    @Test("are a hundred at most that are not done yet")
    func busy() async throws {
        try await withQueue { queue in
            let jobs = JobStore(queue.pool)
            try await bury(queue, 1)
            for _ in 0..<100 { _ = try await make(jobs, .rehearse) }
            await #expect(throws: JobRefusal.busy) { _ = try await make(jobs, .discard) }
            let lease = Lease.fresh()
            let claimed = try #require(try await jobs.claim(for: lease))
            #expect(try await jobs.end(claimed.id, report: nil, error: "its workers vanished", lease))
            #expect(try await jobs.job(claimed.id)?.state == .failed)
            #expect(try await make(jobs, .discard).total == 1)
        }
    }
}
