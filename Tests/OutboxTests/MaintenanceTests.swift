import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Maintenance")
struct MaintenanceTests {
    /// Four notifications of ten days ago, all of them repeats.
    private func age(_ queue: OutboxBench) async throws {
        try await queue.fill(4)
        try await queue.pool.withTransaction { session in
            try session.executeScript(
                """
                insert into storehook.duplicates select id, gen_random_uuid() from storehook.outbox_queue;
                delete from storehook.outbox_queue;
                """ + agedOutbox)
        }
    }

    @Test("drops what is older than the retention, and nothing by a retention that is for ever or longer")
    func retention() async throws {
        try await withQueue { queue in
            try await age(queue)
            for patient in [Retention(days: nil), Retention(days: 10), Retention(days: 36_500), .usual] {
                let report = try await queue.outbox.maintain(patient)
                #expect(report.made == 0 && report.days.isEmpty)
            }
            let due = try await queue.outbox.daysToDrop(Retention(days: 9))
            #expect(due.count == 1)
            let report = try await queue.outbox.maintain(Retention(days: 9))
            #expect(report.days.map(\.day) == due)
            #expect(report.days.map(\.outcome) == [.dropped])
            #expect(report.days.map(\.gone) == [4])
            #expect(try await queue.outbox.maintain(Retention(days: 9)).days.isEmpty)
        }
    }

    @Test("puts a day off while somebody goes on reading, and receivers store all the while")
    func reader() async throws {
        try await withQueue { queue in
            try await age(queue)
            let held = try await HeldTransaction(in: queue.database, "select count(*) from storehook.outbox")
            async let round = queue.outbox.maintain(Retention(days: 7))
            try await eventually("the drop waits for its lock") {
                try await !queue.pool.query(
                    """
                    select 1 from pg_locks where not granted and relation = 'storehook.outbox'::regclass
                       and database = (select oid from pg_database where datname = current_database())
                       and mode = 'AccessExclusiveLock'
                    """
                ).isEmpty
            }
            // Behind the waiting lock this waits for as long as the lock does, and then goes through.
            try await queue.fill(1)
            #expect(try await round.days.map(\.outcome) == [.postponed])
            try await held.release()
            #expect(try await queue.outbox.maintain(Retention(days: 7)).days.map(\.outcome) == [.dropped])
        }
    }

    @Test("does all the rest where a day cannot be dropped, and says why it could not")
    func oneDayFails() async throws {
        try await withQueue { queue in
            try await age(queue)
            let fault = RefusingTrigger(of: "outbox_dropped", state: "XX001")
            try await queue.pool.withTransaction { try $0.executeScript(fault.script) }
            let report = try await queue.outbox.maintain(Retention(days: 9))
            #expect(report.days.map(\.outcome) == [.failed])
            #expect(report.failures.map(\.error.sqlState) == ["XX001"])
            #expect(report.settled >= 1)
            try await queue.pool.withTransaction { try $0.executeScript(fault.repair) }
            let next = try await queue.outbox.maintain(Retention(days: 9))
            #expect(next.days.map(\.outcome) == [.dropped] && next.failures.isEmpty)
        }
    }

    @Test("counts a day that is over once, and again only what was still to do then")
    func settles() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(4)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(3, for: lease).rows
            try await queue.bury(Array(claimed[..<1]), lease)
            try await queue.pool.withTransaction { session in
                _ = try Outbox.table.acknowledge([ids[1]], token: lease.token, session)
                try Outbox.recordDuplicates([(ids[1], UUID(), nil)], session)
            }
            try await queue.pool.withTransaction { try $0.executeScript(agedOutbox) }
            let before = try await queue.outbox.conservation()
            // Ten days ago and, from an hour after midnight on, yesterday, which has no rows.
            #expect(try await (1...2).contains(queue.outbox.maintain(.usual).settled))
            func books() async throws -> String {
                try await queue.value(
                    """
                    select concat_ws(' ', received, duplicate, discarded, cardinality(open_ids))
                      from storehook.outbox_settled where received > 0
                    """)
            }
            #expect(try await books() == "4 1 0 3")
            #expect(try await queue.outbox.conservation() == before)
            _ = try await queue.outbox.discard([1], by: "me", why: "a test")
            #expect(try await queue.outbox.conservation().discarded == 1)
            #expect(try await queue.outbox.conservation().dead == 0)
            #expect(try await queue.outbox.maintain(.usual).settled >= 1)
            #expect(try await books() == "4 1 1 2")
            #expect(try await queue.outbox.conservation() == queue.outbox.conservation(audit: true))
        }
    }
}
