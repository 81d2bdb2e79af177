import AccountStore
import AppStorePayloads
import EventStore
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("Beyond the retention")
struct RetentionTests {
    private static let week = Retention(days: 7)

    /// Half of some lives is old and its bytes are dropped; the other half came after it.
    private func withHalfGone(_ seed: UInt64, _ body: (Bench, Int) async throws -> Void) async throws {
        try await withBench { bench in
            let simulation = Simulation(
                seed: seed, subscribers: 8, notifications: 120, duplicatePercent: 20, order: .shuffled,
                endingAt: Bench.now)
            let texts = Array(simulation.signedDeliveries(by: bench.authority))
            try await bench.store(Array(texts[..<60]))
            try await bench.workOff()
            try await bench.install(agedOutbox)
            try await bench.store(Array(texts[60...]))
            try await bench.workOff()
            let gone = try await bench.value(
                "select count(*) from storehook.notifications where received_at < now() - interval '8 days'",
                as: Int64.self)
            let report = try await bench.outbox.maintain(Self.week)
            #expect(report.days.map(\.outcome) == [.dropped])
            #expect(report.days.first?.gone == 60)
            try await body(bench, Int(gone))
        }
    }

    @Test(
        "a rebuild finds nothing amiss, and forgets no line whose bytes are gone",
        arguments: sampled([UInt64(5), 6, 7]))
    func rebuild(seed: UInt64) async throws {
        try await withHalfGone(seed) { bench, gone in
            let before = try await bench.contents()
            let (report, differences) = try await bench.rebuild(repair: false)
            #expect(report.differences == 0 && differences.count == 0)
            #expect(report.purchases > 0)
            // What is about no line of purchases is no part of a rebuild.
            #expect(report.withoutBytes > 0 && report.withoutBytes <= gone)
            _ = try await bench.rebuild(repair: true)
            let after = try await bench.contents()
            #expect(after == before)
        }
    }

    @Test("a rebuild mends what was derived from bytes that are gone, out of the records that were kept of them")
    func repair() async throws {
        try await withHalfGone(8) { bench, _ in
            let before = try await bench.contents()
            try await bench.install(
                """
                delete from storehook.subscriptions where hashtext(original_transaction_id) % 2 = 0;
                update storehook.subscriptions set paid_until = paid_until + interval '1 day';
                update storehook.transactions set expires_at = expires_at + interval '1 year';
                """)
            let (report, _) = try await bench.rebuild(repair: true)
            #expect(report.differences > 0)
            let after = try await bench.contents()
            #expect(after == before)
        }
    }

    @Test("an open dead letter is replayed and applied all the same")
    func replay() async throws {
        try await withBench { bench in
            let purchase = bench.purchase()
            try await bench.store([purchase.signed(by: bench.authority)] + bench.tests(5, lane: 2).map(\.text))
            try await bench.workOff(bench.strangerToTheApp)
            try await bench.install(agedOutbox)
            let counted = try await bench.outbox.conservation()
            let letters = try await bench.letters()
            #expect(letters.count == 6)
            _ = try await bench.outbox.discard(letters.dropFirst().map(\.id), by: "test", why: "tests")
            #expect(
                try await bench.outbox.maintain(Self.week).days.map { [$0.gone, $0.kept] } == [[5, 1]])
            #expect(
                try await bench.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "test", why: nil).count == 1)
            try await bench.workOff()
            #expect(try await bench.letters().isEmpty)
            let after = try await bench.outbox.conservation()
            #expect(after.received == counted.received && after.applied == 1 && after.discarded == 5)
            #expect(after.missing == 0 && after.doubled == 0)
            // And now that it is settled its bytes go, too.
            #expect(
                try await bench.outbox.maintain(Self.week).days.map { [$0.gone, $0.kept] } == [[1, 0]])
            #expect(try await bench.value("select count(*) from storehook.outbox", as: Int64.self) == 0)
            #expect(try await bench.outbox.conservation() == after)
        }
    }

    @Test("workers drop by themselves, once however many they are")
    func maintenance() async throws {
        try await withBench { bench in
            try await bench.store(bench.tests(20).map(\.text))
            try await bench.workOff()
            try await bench.install(
                """
                \(agedOutbox)
                drop table storehook.outbox_\(Self.tomorrow);
                """)
            let counted = try await bench.outbox.conservation()
            let rounds = (0..<4).map { _ in
                MaintenanceService(
                    of: bench.pool, retention: Self.week, interval: .milliseconds(50), logger: quiet)
            }
            let group = ServiceGroup(services: rounds, logger: quiet)
            let running = Task { try await group.run() }
            try await eventually("the day is dropped and tomorrow's partition is there") {
                try await bench.value(
                    """
                    select (select count(*) from storehook.outbox) = 0
                       and to_regclass('storehook.outbox_\(unescaped: Self.tomorrow)') is not null
                    """, as: Bool.self)
            }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(try await bench.outbox.conservation() == counted)
            #expect(
                try await bench.value("select received from storehook.outbox_dropped", as: Int64.self) == 20)
        }
    }

    /// As partitions are named. Not at the very end of a day: the one after it is as good.
    private static let tomorrow = Date(timeIntervalSinceNow: 129_600).formatted(
        .iso8601.year().month().day().dateSeparator(.omitted))
}
