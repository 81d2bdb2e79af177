import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing
import Worker

@Suite("Who posts what does not verify")
struct SenderTests {
    private let limits = JunkLimits(perMinute: 3, bytesPerDay: 1000)

    /// Has a worker do all there is to do, under the limits of this suite.
    private func workOff(_ bench: Bench) async throws {
        var configuration = WorkerConfiguration(name: "test", pollInterval: .milliseconds(30))
        configuration.junk = limits
        let pool = PostgresPool(configuration: bench.database.configuration, size: 2, logger: quiet)
        let worker = bench.worker(pool: pool, configuration)
        let running = Task { try await worker.run() }
        try await bench.untilDone()
        running.cancel()
        _ = await running.result
        await pool.close()
    }

    private func refused(_ bench: Bench) async throws -> Set<String> {
        Set(try await bench.outbox.refusedSenders().map(\.address))
    }

    private func store(_ texts: [String], from sender: String?, _ bench: Bench) async throws {
        try await bench.outbox.store(texts.map { Array($0.utf8) }, from: texts.map { _ in sender })
    }

    @Test("is refused beyond so many a minute and beyond so many bytes a day, and nobody else is")
    func refusal() async throws {
        try await withBench { bench in
            try await store(["a.b", "c.d", "e.f"], from: "192.0.2.1", bench)
            try await store([String(repeating: "x", count: 1001)], from: "2001:db8::", bench)
            try await store(bench.tests(1).map(\.text), from: "192.0.2.3", bench)
            try await store(["a.b", "c.d", "e.f", "g.h", "i.j"], from: nil, bench)
            try await workOff(bench)
            #expect(try await refused(bench) == ["2001:db8::"])
            try await store(["g.h", "i.j", "k.l", "m.n"], from: "192.0.2.1", bench)
            try await workOff(bench)
            #expect(try await refused(bench) == ["192.0.2.1", "2001:db8::"])
            for sender in try await bench.outbox.refusedSenders() {
                #expect(sender.for > .zero && sender.for <= .seconds(86_400))
            }
            #expect(try await bench.letters().count == 13)
        }
    }

    @Test("is not refused where something genuine came from there within 30 days, and is where it is longer ago")
    func honest() async throws {
        try await withBench { bench in
            let junk = (0..<9).map { "junk.\($0)" }
            try await store(bench.tests(1).map(\.text) + junk, from: "192.0.2.1", bench)
            try await workOff(bench)
            try await store(junk, from: "192.0.2.1", bench)
            try await workOff(bench)
            #expect(try await refused(bench).isEmpty)
            try await bench.install("update storehook.senders set verified_at = now() - interval '31 days'")
            try await store(junk, from: "192.0.2.1", bench)
            try await workOff(bench)
            #expect(try await refused(bench) == ["192.0.2.1"])
            // One genuine post, and it is welcome again.
            try await store(bench.tests(2).map(\.text), from: "192.0.2.1", bench)
            try await workOff(bench)
            #expect(try await refused(bench).isEmpty)
        }
    }

    @Test("is not whoever posts what is genuine and of another app")
    func otherApp() async throws {
        try await withBench { bench in
            try await store(bench.tests(9).map(\.text), from: "192.0.2.1", bench)
            try await bench.workOff(bench.strangerToTheApp)
            #expect(try await bench.letters().count == 9)
            #expect(try await bench.value("select count(*) from storehook.senders", as: Int64.self) == 0)
        }
    }

    @Test("What does not verify expires and holds no day back; what is genuine waits for its setting")
    func expiry() async throws {
        try await withBench { bench in
            try await bench.store(["not a JWS", "a.b"])
            try await bench.workOff()
            try await bench.store(bench.tests(1).map(\.text))
            try await bench.workOff(bench.strangerToTheApp)
            try await bench.install(agedOutbox)
            let report = try await bench.outbox.maintain(Retention(days: nil, junkDays: 11))
            #expect(report.expired == 0)
            #expect(try await bench.outbox.maintain(Retention(days: nil, junkDays: 9)).expired == 2)
            #expect(try await bench.letters().map(\.reason) == ["wrong_bundle"])
            let books = try await bench.outbox.conservation()
            #expect(books.discarded == 2 && books.dead == 1 && books.missing == 0)
        }
    }

    @Test("What does not verify is given up with its day, however long it might be kept")
    func partition() async throws {
        try await withBench { bench in
            try await bench.store(["not a JWS", "a.b"])
            try await bench.workOff()
            try await bench.install(agedOutbox)
            let report = try await bench.outbox.maintain(Retention(days: 8, junkDays: 400))
            #expect(report.expired == 2)
            #expect(report.days.filter { $0.outcome == .dropped }.map(\.gone) == [2])
            #expect(report.days.allSatisfy { $0.kept == 0 })
        }
    }

    @Test("The schema gives up the letters of the same codes as are counted against a sender")
    func codes() async throws {
        try await withBench { bench in
            let codes = try await bench.value("select storehook.unverifiable()", as: [String].self)
            #expect(Set(codes) == Set(ReasonCode.named.filter(\.isJunk).map(\.rawValue)))
        }
    }
}
