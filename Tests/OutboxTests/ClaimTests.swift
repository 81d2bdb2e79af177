import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Claiming")
struct ClaimTests {
    @Test("brings what was stored, byte for byte, and settling ends it")
    func wholeWay() async throws {
        try await withQueue { queue in
            let bodies: [[UInt8]] = [[0, 1, 255], [], Array(repeating: 7, count: Outbox.maximumBodySize)]
            try await queue.outbox.store(bodies)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(10, for: lease).rows
            #expect(claimed.map(\.body) == bodies)
            #expect(claimed.allSatisfy { $0.attempts == 1 && !$0.lapsed && $0.lastReason == nil })
            #expect(try await queue.take(claimed.map(\.id), token: lease.token) == Set(claimed.map(\.id)))
            #expect(try await queue.rows().isEmpty)
            #expect(try await queue.value("select count(*) from storehook.outbox", as: Int64.self) == 3)
        }
    }

    @Test("takes the longest due first, no more than asked for, and nothing before its time")
    func order() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(5)
            try await queue.pool.query(
                """
                update storehook.outbox_queue set due_at = now() + case id
                    when \(ids[0]) then interval '1 hour' when \(ids[3]) then interval '-2 s' when \(ids[4]) then interval '-1 s'
                    else interval '0' end
                """)
            #expect(Set(try await queue.outbox.claim(2, for: .fresh()).rows.map(\.id)) == [ids[3], ids[4]])
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.map(\.id) == [ids[1], ids[2]])
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.isEmpty)
        }
    }

    @Test("counts the attempt where another connection sees it, before any work can begin")
    func attemptsAreDurable() async throws {
        try await withQueue { queue in
            try await queue.fill(1)
            _ = try await queue.outbox.claim(1, for: .fresh()).rows
            let other = try await PostgresConnection.connect(to: queue.database.configuration, logger: quiet)
            let rows = try await other.query("select attempts from storehook.outbox_queue")
            #expect(try rows.one().decode(0, as: Int16.self) == 1)
            await other.close()
        }
    }

    @Test("leases by the database's clock, for as long as it was told")
    func databaseClock() async throws {
        try await withQueue { queue in
            try await queue.fill(1)
            let before = try await queue.value("select clock_timestamp()", as: PostgresTimestamp.self)
            _ = try await queue.outbox.claim(1, for: .fresh(.seconds(600))).rows
            let after = try await queue.value("select clock_timestamp()", as: PostgresTimestamp.self)
            let due = try await queue.value(
                "select due_at - interval '600 s' from storehook.outbox_queue", as: PostgresTimestamp.self)
            #expect(before <= due && due <= after)
        }
    }

    @Test("two claimers at once never get the same row, and leave none behind", arguments: [UInt64(1), 2, 3])
    func disjoint(seed: UInt64) async throws {
        try await withQueue(connections: 8) { queue in
            let ids = try await queue.fill(300)
            let claims = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for claimer in 0..<8 {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(claimer))
                        var mine: [Int64] = []
                        while true {
                            let size = Int.random(in: 1...12, using: &generator)
                            let claimed = try await queue.outbox.claim(size, for: .fresh()).rows
                            #expect(claimed.count <= size)
                            mine += claimed.map(\.id)
                            // A claimer may find every due row locked by others for a moment: ask who is left.
                            if claimed.isEmpty {
                                let due = try await queue.value(
                                    "select count(*) from storehook.outbox_queue where due_at <= now()", as: Int64.self)
                                if due == 0 { return mine }
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.count == 300)
            #expect(Set(claims) == Set(ids))
        }
    }

    @Test("passes by a row that an open transaction is claiming, and waits for nobody")
    func skipsLocked() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(2)
            let held = try await HeldTransaction(
                in: queue.database, "select 1 from storehook.outbox_queue where id = \(ids[0]) for update")
            #expect(try await queue.outbox.claim(2, for: .fresh()).rows.map(\.id) == [ids[1]])
            try await held.release()
            #expect(try await queue.outbox.claim(2, for: .fresh()).rows.map(\.id) == [ids[0]])
        }
    }

    @Test("takes rows whose lease ran out one by one, each alone, and counts on")
    func lapsed() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(3)
            let dead = Lease.fresh()
            _ = try await queue.outbox.claim(3, for: dead).rows
            #expect(try await queue.outbox.claim(3, for: .fresh()).rows.isEmpty)
            try await queue.passTime()
            var seen: [Int64] = []
            for _ in 0..<3 {
                let claimed = try await queue.outbox.claim(100, for: .fresh()).rows
                #expect(claimed.count == 1)
                #expect(claimed.allSatisfy { $0.lapsed && $0.attempts == 2 })
                seen += claimed.map(\.id)
            }
            #expect(seen.sorted() == ids)
            #expect(try await queue.take(ids, token: dead.token).isEmpty)
        }
    }

    @Test("leaves a lapsed row out of a batch of fresh ones, and fresh ones out of a lapsed row's")
    func lapsedApart() async throws {
        try await withQueue { queue in
            let old = try await queue.fill(1)
            _ = try await queue.outbox.claim(1, for: .fresh()).rows
            try await queue.outbox.store([[1], [2]])
            // The fresh rows have been due for longer.
            try await queue.pool.query("update storehook.outbox_queue set due_at = now() - interval '1 s'")
            try await queue.pool.query("update storehook.outbox_queue set due_at = now() where id = \(old[0])")
            let fresh = try await queue.outbox.claim(10, for: .fresh()).rows
            #expect(fresh.count == 2 && fresh.allSatisfy { !$0.lapsed })
            let lapsed = try await queue.outbox.claim(10, for: .fresh()).rows
            #expect(lapsed.map(\.id) == old && lapsed.allSatisfy(\.lapsed))
        }
    }

    @Test("plans with the partitions of its own rows alone: what is done to the others is no matter")
    func partitions() async throws {
        try await withQueue { queue in
            try await queue.fill(3)
            // A row of another day, in its own partition.
            try await queue.pool.withTransaction { try $0.executeScript(agedOutbox) }
            try await queue.outbox.store([[1, 2, 3]])
            let other = try await queue.value(
                """
                select 'outbox_' || to_char(max(day), 'YYYYMMDD') from storehook.outbox_days
                 where has_partition and day > (now() at time zone 'UTC')::date + 1
                """, as: String.self)
            let held = try await HeldTransaction(
                in: queue.database, "lock table storehook.\(unescaped: other) in access exclusive mode")
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(10, for: lease).rows
            #expect(claimed.map(\.body) == [Array("0".utf8), Array("1".utf8), Array("2".utf8), [1, 2, 3]])
            try await queue.bury(claimed, lease)
            let letters = try await queue.outbox.deadLettersWithBodies(DeadLetterFilter(), limit: 10)
            #expect(try letters.map { try $0.evidence?.body.get() } == claimed.map(\.body))
            let last = try #require(letters.last?.letter.id)
            #expect(try await queue.outbox.deadLetter(last)?.body == .success([1, 2, 3]))
            try await held.release()
        }
    }

    @Test("brings a row whose bytes are gone, so that somebody buries it")
    func missingBody() async throws {
        try await withQueue { queue in
            try await queue.fill(1)
            try await queue.pool.query("delete from storehook.outbox")
            #expect(try await queue.outbox.claim(1, for: .fresh()).rows.map(\.body) == [nil])
        }
    }
}
