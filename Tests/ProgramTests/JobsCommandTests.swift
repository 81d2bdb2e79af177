import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

/// `storehook jobs`, and the workers that carry jobs out.
struct JobsCommandTests {
    /// Dead letters of so many bodies that are no JWS.
    private func bury(_ site: Site, _ count: Int) async throws {
        try await site.outbox.store((0..<count).map { Array("junk \($0)".utf8) })
        try await site.with(["work"]) { _ in try await site.untilDone() }
    }

    private func make(_ site: Site, _ act: Job.Act, perSecond: Int? = nil) async throws -> Job {
        let jobs = JobStore(site.pool)
        let matching = try await jobs.matching(DeadLetterFilter())
        return try await jobs.make(
            .init(
                act, DeadLetterFilter(), upTo: matching.upTo, confirmed: matching.count, perSecond: perSecond,
                by: "cli:kim", why: "probes")
        ).job
    }

    @Test("A job is listed, shown with its letters and stopped with a reason; one that has ended cannot be stopped")
    func commands() async throws {
        try await withSite { site in
            try await bury(site, 2)
            let job = try await make(site, .discard)
            let list = try #require(
                try await site.run("jobs", "list", "--format", "json").json() as? [String: Any])
            let listed = try #require((list["jobs"] as? [[String: Any]])?.first)
            #expect(listed["act"] as? String == "discard" && listed["total"] as? Int == 2)
            let none = try await site.run("jobs", "list", "--state", "running", "--format", "table")
            #expect(none.ending == .exited(0) && !none.output.contains("discard"))
            let shown = try #require(
                try await site.run("jobs", "show", "\(job.id)", "--format", "json").json() as? [String: Any])
            #expect((shown["items"] as? [[String: Any]])?.count == 2 && shown["why"] as? String == "probes")
            #expect(try await site.run("jobs", "stop", "\(job.id)").ending == .exited(2))
            let stopped = try await site.run("jobs", "stop", "\(job.id)", "--why", "wrong", "--as", "sam")
            #expect(stopped.ending == .exited(0), "\(stopped.errors)")
            try await site.with(["work"]) { _ in
                try await eventually("a worker notices") {
                    try await JobStore(site.pool).job(job.id)?.state == .stopped
                }
            }
            #expect(try await site.run("jobs", "stop", "\(job.id)", "--why", "again").ending == .exited(1))
            #expect(try await site.run("jobs", "show", "4711").ending == .exited(1))
            #expect(try await site.run("jobs", "show", "x").ending == .exited(2))
            #expect(try await site.run("jobs", "list", "--after", "x").ending == .exited(2))
            #expect(try await site.outbox.deadLetters(DeadLetterFilter(), limit: 9).count == 2)
        }
    }

    @Test("A worker that is killed with a job in hand leaves whole portions, and another one goes on with the rest")
    func killed() async throws {
        try await withSite { site in
            try await bury(site, 4)
            let job = try await make(site, .discard, perSecond: 1)
            let jobs = JobStore(site.pool)
            let lease = ["STOREHOOK_LEASE_SECONDS": "3"]
            let victim = try site.start(["work"], lease)
            try await eventually("it has begun") { try await jobs.job(job.id)?.done ?? 0 > 0 }
            victim.signal(SIGKILL)
            #expect(await victim.end() == .signalled(SIGKILL))
            await victim.discard()
            #expect(try await jobs.job(job.id)?.state == .running)
            try await site.with(["work"], lease) { _ in
                try await eventually("the other one ends it") { try await jobs.job(job.id)?.hasEnded == true }
            }
            let done = try #require(try await jobs.job(job.id))
            #expect(done.state == .done && done.done == 4 && done.skipped == 0)
            let counted = try await site.outbox.conservation()
            #expect(counted.discarded == 4 && counted.missing == 0 && counted.doubled == 0)
        }
    }
}
