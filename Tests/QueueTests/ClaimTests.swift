import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Claiming from any queue")
struct ClaimTests {
    @Test("takes the longest due first, no more than asked for, and nothing before its time")
    func order() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(5)
            try await errands.pool.query(
                """
                update errands set due_at = now() + case id when \(ids[0]) then interval '1 hour'
                    when \(ids[3]) then interval '-2 s' when \(ids[4]) then interval '-1 s' else interval '0' end
                """)
            #expect(try await errands.queue.claim(2, for: .fresh()).rows.map(\.id) == [ids[3], ids[4]])
            #expect(try await errands.queue.claim(9, for: .fresh()).rows.map(\.id) == [ids[1], ids[2]])
            let none = try await errands.queue.claim(9, for: .fresh())
            #expect(none.rows.isEmpty && none.claimedAt != nil && none.oldestDueAt == nil)
        }
    }

    @Test("takes what was received first, where the table says so, of what is due and whatever was put off")
    func oldestFirst() async throws {
        try await withErrands { errands in
            let table = QueueTable(
                name: "errands", statements: "errands", channel: "errands", order: .oldestFirst)
            let queue = Queue(table, errands.pool)
            let ids = try await errands.fill(4)
            try await errands.pool.query(
                """
                update errands
                   set received_at = now() - case id when \(ids[1]) then interval '3 hours' when \(ids[2]) then interval '9 hours'
                                                     when \(ids[3]) then interval '7 hours' else interval '0' end,
                       due_at = now() + case id when \(ids[2]) then interval '1 hour' when \(ids[0]) then interval '-1 hour'
                                                else interval '0' end
                """)
            #expect(try await queue.claim(1, for: .fresh()).rows.map(\.id) == [ids[3]])
            #expect(try await queue.claim(9, for: .fresh()).rows.map(\.id) == [ids[0], ids[1]])
            try await errands.passTime()
            #expect(try await queue.claim(9, for: .fresh()).rows.map(\.id) == [ids[2]])
            // The leases of the others ran out: one at a time.
            #expect(try await queue.claim(9, for: .fresh()).rows.map(\.id) == [ids[3]])
        }
    }

    @Test("leases by the database's clock, for as long as it was told, and counts the attempt before any work")
    func lease() async throws {
        try await withErrands { errands in
            try await errands.fill(1)
            let before = try await errands.value("select clock_timestamp()", as: PostgresTimestamp.self)
            _ = try await errands.queue.claim(1, for: .fresh(.milliseconds(600_500)))
            let after = try await errands.value("select clock_timestamp()", as: PostgresTimestamp.self)
            let other = try await PostgresConnection.connect(to: errands.database.configuration, logger: quiet)
            let row = try await other.query("select attempts, due_at - interval '600.5 s' from errands").one()
            await other.close()
            let (attempts, due) = try row.values(Int16.self, PostgresTimestamp.self)
            #expect(attempts == 1)
            #expect(before <= due && due <= after)
        }
    }

    @Test("goes on however often a row was claimed and its worker vanished: one that is never given up blocks nobody")
    func countless() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(2)
            try await errands.pool.query(
                """
                update errands set attempts = 32767, lapses = 32767, lease_owner = 'gone', lease_token = gen_random_uuid(),
                                   due_at = now() - interval '1 s'
                 where id = \(ids[0])
                """)
            let row = try #require(try await errands.queue.claim(9, for: .fresh()).rows.first)
            #expect(row.id == ids[0] && row.attempts == 32_000 && row.lapses == 32_000)
            #expect(try await errands.queue.claim(9, for: .fresh()).rows.map(\.id) == [ids[1]])
        }
    }

    @Test("takes no row but those that the claimer can work, if it says which")
    func among() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(4)
            let mine = [ids[1], ids[3]]
            let allowed: PostgresQuery = "select unnest(\(mine)) as id"
            let claimed = try await errands.queue.claim(9, for: .fresh(), among: allowed, joining: nil) {
                $0.map { _ in }
            }
            #expect(claimed.rows.map(\.id) == mine)
            let none = try await errands.queue.claim(9, for: .fresh(), among: allowed, joining: nil) { $0.map { _ in } }
            #expect(none.rows.isEmpty)
        }
    }

    @Test("two claimers at once never get the same row, and leave none behind", arguments: [UInt64(1), 2, 3])
    func disjoint(seed: UInt64) async throws {
        try await withErrands(connections: 8) { errands in
            let ids = try await errands.fill(300)
            let claims = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for claimer in 0..<8 {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(claimer))
                        var mine: [Int64] = []
                        while true {
                            let size = Int.random(in: 1...12, using: &generator)
                            let claimed = try await errands.queue.claim(size, for: .fresh()).rows
                            mine += claimed.map(\.id)
                            // A claimer may find every due row locked by others for a moment: ask who is left.
                            guard claimed.isEmpty else { continue }
                            let due: Int64 = try await errands.value(
                                "select count(*) from errands where due_at <= now()")
                            if due == 0 { return mine }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.count == 300)
            #expect(Set(claims) == Set(ids))
        }
    }

    @Test("takes rows whose lease ran out one by one, each alone, and counts on")
    func lapsed() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(3)
            let dead = Lease.fresh()
            #expect(try await !errands.queue.claim(3, for: dead).isSuspect)
            #expect(try await errands.queue.claim(3, for: .fresh()).rows.isEmpty)
            try await errands.passTime()
            let fresh = try await errands.fill(1)
            var seen: [Int64] = []
            for _ in 0..<3 {
                let batch = try await errands.queue.claim(100, for: .fresh())
                #expect(batch.isSuspect && batch.rows.count == 1)
                #expect(batch.rows.allSatisfy { $0.attempts == 2 })
                seen += batch.rows.map(\.id)
            }
            #expect(seen.sorted() == ids)
            #expect(try await errands.queue.claim(100, for: .fresh()).rows.map(\.id) == fresh)
            #expect(try await errands.take(ids, token: dead.token).isEmpty)
        }
    }

    @Test("concerns its own table alone")
    func apart() async throws {
        try await withErrands { errands in
            try await errands.pool.withTransaction { session in
                try session.executeScript("create table chores (like errands including all)")
            }
            let chores = Queue(QueueTable(name: "chores", statements: "chores", channel: "chores"), errands.pool)
            try await errands.fill(2)
            try await errands.pool.query("insert into chores select * from errands")
            let lease = Lease.fresh()
            let before = try await errands.rows()
            let claimed = try await chores.claim(9, for: lease).rows.map(\.id)
            #expect(claimed.count == 2)
            #expect(try await errands.take(claimed, token: lease.token).isEmpty)
            #expect(try await errands.rows() == before)
            #expect(try await chores.depth().map(\.count) == [0, 0, 2])
        }
    }

    /// What an errand stands for, kept beside its queue.
    private static let texts = ClaimJoin(columns: "t.text", clause: "left join errand_texts t on t.id = c.id")

    private func withTexts(_ body: (Errands, [Int64]) async throws -> Void) async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(3)
            try await errands.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create table errand_texts as select id, 'errand ' || id as text from errands;
                    delete from errand_texts where id = (select max(id) from errands);
                    """)
            }
            try await body(errands, ids)
        }
    }

    @Test("brings what the rows stand for in the same statement, and rows of which it is gone")
    func content() async throws {
        try await withTexts { errands, ids in
            let batch = try await errands.queue.claim(9, for: .fresh(), joining: Self.texts) { rows in
                try rows.map { try $0.decode("text", as: String?.self) }
            }
            #expect(batch.rows.map(\.id) == ids)
            #expect(batch.rows.map(\.content) == ["errand \(ids[0])", "errand \(ids[1])", nil])
        }
    }

    @Test("and failing to read what the rows stand for gives them back, also to a claimer that is cancelled meanwhile")
    func unread() async throws {
        try await withTexts { errands, ids in
            let untouched = try await errands.value(
                "select string_agg(attempts::text, '') from errands", as: String.self)
            // Of the last one nothing is there, and this reader cannot do without.
            await #expect(throws: PostgresError.self) {
                _ = try await errands.queue.claim(9, for: .fresh(), joining: Self.texts) { rows in
                    try rows.map { try $0.decode("text", as: String.self) }
                }
            }
            let claimer = Task {
                try await errands.queue.claim(9, for: .fresh(), joining: Self.texts) { _ -> [Int] in
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw CancellationError()
                }
            }
            await #expect(throws: CancellationError.self) { _ = try await claimer.value }
            let after = try await errands.value("select string_agg(attempts::text, '') from errands", as: String.self)
            #expect(after == untouched)
            let again = try await errands.queue.claim(9, for: .fresh())
            #expect(again.rows.map(\.id) == ids && !again.isSuspect)
        }
    }

    @Test("says so where what it could not read could not be given back either")
    func orphaned() async throws {
        try await withErrands { errands in
            try await errands.fill(2)
            do {
                _ = try await errands.queue.claim(9, for: .fresh(), joining: nil) { _ -> [Int] in
                    try await errands.pool.query("alter table errands rename to away")
                    throw PostgresError(.timeout, "too slow")
                }
                Issue.record("reading failed, and nobody was told")
            } catch let error as PostgresError {
                #expect(error.kind == .timeout)
                #expect(error.message.contains("2 rows") && error.message.contains("when their lease ends"))
            }
        }
    }
}
