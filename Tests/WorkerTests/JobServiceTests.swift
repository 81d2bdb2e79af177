import AppStorePayloads
import Base
import EvidenceStore
import Operations
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import StandInSupport
import TestSupport
import Testing

/// Jobs, carried out beside a worker.
struct JobServiceTests {
    private func service(_ bench: Bench, name: String = "test", portion: Int = 2) -> JobService {
        let rehearsal = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
        return JobService(
            JobStore(bench.pool), name: name, portion: portion, interval: .milliseconds(20), logger: quiet
        ) { try await rehearsal.run($0, at: Timestamp(millisecondsSince1970: Bench.now)) }
    }

    /// A job of all open letters.
    private func make(_ bench: Bench, _ act: Job.Act, perSecond: Int? = nil) async throws -> Job {
        let jobs = JobStore(bench.pool)
        let matching = try await jobs.matching(DeadLetterFilter())
        return try await jobs.make(
            .init(
                act, DeadLetterFilter(), upTo: matching.upTo, confirmed: matching.count, perSecond: perSecond,
                by: "cli:kim", why: "why")
        ).job
    }

    /// Letters about so many purchases of an app that was not configured.
    private func prepare(_ bench: Bench, _ count: Int) async throws {
        try await bench.store((1...count).map { bench.purchase(lane: $0).signed(by: bench.authority) })
        try await bench.workOff(bench.strangerToTheApp)
    }

    private static let ofJobs = ["jobs", "job_items", "job_queue"]

    @Test("a rehearsal says what a replay would do and changes nothing, and the replay then does just that")
    func carriedOut() async throws {
        try await withBench { bench in
            try await prepare(bench, 5)
            let (jobs, service) = (JobStore(bench.pool), service(bench))
            #expect(try await !service.work(), "there is nothing to do")
            let before = try await bench.contents(but: Self.ofJobs)
            let rehearsal = try await make(bench, .rehearse)
            #expect(try await service.work())
            #expect(try await bench.contents(but: Self.ofJobs) == before)
            let report = try #require(try await jobs.job(rehearsal.id)?.report)
            let read = try #require(JSONDocument(report.bytes).object)
            #expect(read.integer("letters") == 5 && read.integer("applied") == 5 && read.integer("dead") == 0)
            #expect(read.integer("changed") == 5 && read.elementCount("changes") == 5)
            let change = read["changes"]?.elements?.first?.object
            #expect(change?.string("to") == "active" && change?["from"]?.isNull == true)

            let replay = try await make(bench, .replay)
            #expect(try await service.work())
            #expect(try await !service.work())
            let done = try #require(try await jobs.job(replay.id))
            #expect(done.state == .done && done.done == 5)
            try await bench.workOff()
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 5 && counted.dead == 0 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("one that cannot be done is tried five times, with pauses, and then says why; the letters are as they were")
    func failing() async throws {
        try await withBench { bench in
            try await prepare(bench, 1)
            let jobs = JobStore(bench.pool)
            let service = JobService(jobs, name: "test", logger: quiet) { _ in throw NeverHappened("a report") }
            let job = try await make(bench, .rehearse)
            for attempt in 1...5 {
                await #expect(throws: NeverHappened.self) { _ = try await service.work() }
                #expect(try await !service.work(), "it waits")
                #expect(
                    try await bench.value("select attempts from storehook.job_queue", as: Int16.self) == Int16(attempt))
                try await bench.pool.query("update storehook.job_queue set due_at = now()")
            }
            #expect(try await service.work())
            let failed = try #require(try await jobs.job(job.id))
            #expect(failed.state == .failed && failed.error?.contains("a report") == true)
            #expect(try await bench.letters().count == 1)
            #expect(try await bench.value("select count(*) from storehook.job_queue", as: Int64.self) == 0)
        }
    }

    @Test("a job with a pace leaves others their turn")
    func turns() async throws {
        try await withBench { bench in
            try await prepare(bench, 4)
            let (jobs, service) = (JobStore(bench.pool), service(bench, name: "one"))
            let slow = try await make(bench, .discard, perSecond: 1)
            let other = try await make(bench, .rehearse)
            #expect(try await service.work())
            #expect(try await service.work())
            #expect(try await jobs.job(other.id)?.state == .done)
            let paced = try #require(try await jobs.job(slow.id))
            #expect(paced.state == .running && paced.done == 1)
        }
    }

    @Test("a worker that stops gives its job back at once, and another one goes on where it was")
    func handedOver() async throws {
        try await withBench { bench in
            try await prepare(bench, 4)
            let jobs = JobStore(bench.pool)
            // One letter a second, so that the first worker stops in the middle.
            let job = try await make(bench, .discard, perSecond: 1)
            let group = ServiceGroup(services: [service(bench, name: "first")], logger: quiet)
            let running = Task { try await group.run() }
            try await eventually("it has begun") { try await jobs.job(job.id)?.done ?? 0 > 0 }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(try await jobs.job(job.id)?.state == .running)
            let free =
                "select count(*) from storehook.job_queue where lease_token is null and due_at <= now() + interval '1 s'"
            #expect(try await bench.value("\(unescaped: free)", as: Int64.self) == 1)
            let second = service(bench, name: "second")
            try await eventually("it is done") {
                _ = try await second.work()
                return try await jobs.job(job.id)?.state == .done
            }
            let done = try #require(try await jobs.job(job.id))
            #expect(done.state == .done && done.done == 4)
            #expect(try await bench.outbox.conservation().discarded == 4)
        }
    }
}
