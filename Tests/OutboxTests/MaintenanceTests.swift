import Outbox
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
                #expect(try await queue.outbox.maintain(patient) == MaintenanceReport())
            }
            let due = try await queue.outbox.daysToDrop(Retention(days: 9))
            #expect(due.count == 1)
            let report = try await queue.outbox.maintain(Retention(days: 9))
            #expect(report.days.map(\.day) == due)
            #expect(report.days.map(\.outcome) == [.dropped])
            #expect(report.days.map(\.gone) == [4])
            #expect(try await queue.outbox.maintain(Retention(days: 9)) == MaintenanceReport())
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
}
