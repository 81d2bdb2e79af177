import Base
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Refusals of PostgreSQL's")
struct RefusalNoteTests {
    private func error(_ state: SQLState = "22001", _ constraint: String? = nil) -> PostgresError {
        var error = PostgresError(.server(state), "ERROR: refused")
        (error.table, error.constraint) = ("storehook.notifications", constraint)
        return error
    }

    private func apply(_ pool: PostgresPool, secondsAgo: Int = 0, record: Bool = false) async throws {
        let at = PostgresQuery("clock_timestamp() - make_interval(secs => \(Double(secondsAgo)))")
        try await pool.query(
            record
                ? "insert into storehook.records (digest, outbox_id, kind, source, received_at, applied_at, outcome) values (sha256(gen_random_uuid()::text::bytea), (random() * 1e9)::bigint, 'receipt', 'client', now(), \(embedding: at), 'applied')"
                : "insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at, received_at, applied_at, outcome) values (gen_random_uuid(), (random() * 1e9)::bigint, 'TEST', 'Sandbox', 'a', now(), now(), \(embedding: at), 'applied')"
        )
    }

    private func claimed(_ count: Int, _ pool: PostgresPool) async throws -> (ids: [Int64], lease: Lease) {
        try await Outbox(pool).store((0..<count).map { Array("\($0)".utf8) })
        let lease = Lease(owner: "test", duration: .seconds(60))
        let batch = try await Outbox(pool).claim(count, for: lease)
        return (batch.rows.map(\.id), lease)
    }

    @Test("by one row alone are its own, however often; by two rows within ten minutes, at any worker, they are not")
    func second() async throws {
        try await withQueue { bench in
            let pool = bench.pool
            let (ids, lease) = try await claimed(4, pool)
            func note(_ ids: [Int64], _ error: PostgresError) async throws -> [Bool?] {
                let notes = try await Outbox(pool).note(
                    ids.map { Refusal(of: $0, error) }, after: .zero, token: lease.token)
                return ids.map { notes[$0]?.hasSecond }
            }
            for _ in 0..<3 { #expect(try await note([ids[0]], error()) == [false]) }
            // Another code, another constraint: another refusal.
            #expect(try await note([ids[1]], error("22003")) == [false])
            #expect(try await note([ids[1]], error("22001", "x")) == [false])
            #expect(try await note([ids[1]], error()) == [true])
            // From now on for the first one, too.
            #expect(try await note([ids[0]], error()) == [true])
            #expect(try await note([ids[0]], error()) == [true])
            // At once, with others that met something else.
            #expect(try await note([ids[2], ids[3]], error("21000")) == [true, true])
            try await pool.query(
                "update storehook.refusals set last_at = last_at - interval '11 minutes', other_at = other_at - interval '11 minutes'"
            )
            #expect(try await note([ids[0]], error()) == [false])
            #expect(try await note([ids[1]], error()) == [true])
        }
    }

    @Test("say since when a row is refused, and whether another one was applied or settled since")
    func neighbours() async throws {
        try await withQueue { bench in
            let (pool, outbox) = (bench.pool, bench.outbox)
            let (ids, lease) = try await claimed(3, pool)
            func note(_ id: Int64, after elapsed: Duration) async throws -> RefusalNote? {
                try await outbox.note([Refusal(of: id, error())], after: elapsed, token: lease.token)[id]
            }
            try await apply(pool, secondsAgo: 60)
            let first = try #require(try await note(ids[0], after: .seconds(30)))
            #expect(
                !first.areOthersApplied && !first.areOthersSettled && first.age >= .seconds(30)
                    && first.age < .seconds(40))
            try await apply(pool, secondsAgo: 20)
            // It keeps its time; one that is refused for the first time has its own.
            #expect(try await note(ids[0], after: .zero)?.areOthersApplied == true)
            #expect(try #require(try await note(ids[0], after: .zero)).age >= .seconds(30))
            #expect(try await note(ids[1], after: .seconds(5))?.areOthersApplied == false)
            try await apply(pool, record: true)
            #expect(try await note(ids[1], after: .zero)?.areOthersApplied == true)
            // A letter settles a row, and applies none.
            let (others, other) = try await claimed(1, pool)
            try await pool.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                values (77, now(), 'unverified', 'malformed', 'x', 1)
                """)
            let besides = try await outbox.note(
                [Refusal(of: others[0], error())], after: .zero, token: other.token)
            #expect(besides[others[0]]?.areOthersSettled == false)
            // A record was applied a moment before.
            #expect(besides[others[0]]?.areOthersApplied == true)
            try await pool.query("update storehook.dead_letters set dead_at = clock_timestamp()")
            let after = try await outbox.note([Refusal(of: others[0], error())], after: .zero, token: other.token)
            #expect(after[others[0]]?.areOthersSettled == true)
            // A question alone leaves nothing behind, and neither does a note by a lease that was lost.
            let asked = try await outbox.note([], readingAbout: [ids[2]], after: .seconds(3), token: lease.token)
            #expect(asked[ids[2]]?.areOthersApplied == true && asked[ids[2]]?.hasSecond == false)
            _ = try await outbox.note([Refusal(of: ids[2], error())], after: .seconds(3), token: UUID())
            let marked = try await pool.query(
                "select id from storehook.outbox_queue where refused_at is not null order by id"
            )
            .map { try $0.decode(0, as: Int64.self) }
            #expect(marked == [ids[0], ids[1], others[0]])
        }
    }

    @Test("are listed by code while the rows wait; none is left once rows are settled or gone")
    func waiting() async throws {
        try await withQueue { bench in
            let (pool, outbox) = (bench.pool, bench.outbox)
            let rows = RefusedRows(pool)
            let (ids, lease) = try await claimed(3, pool)
            #expect(try await rows.groups().isEmpty)
            #expect(try await outbox.isSettling(since: .zero))
            for (id, state) in zip(ids, ["P0001", "P0001", "23514"]) {
                _ = try await outbox.note(
                    [Refusal(of: id, error(SQLState(rawValue: state), "added"))], after: .seconds(9), token: lease.token
                )
                try await outbox.queue.postpone(
                    [id], by: [.seconds(60)], reason: "sqlstate_\(state.lowercased())", token: lease.token)
            }
            let groups = try await rows.groups()
            #expect(groups.map(\.reason) == ["sqlstate_p0001", "sqlstate_23514"] && groups.map(\.count) == [2, 1])
            #expect(groups.allSatisfy { $0.table == "storehook.notifications" && $0.constraint == "added" })
            #expect(groups.allSatisfy { $0.age >= .seconds(9) && $0.message == "ERROR: refused" })
            let samples = try await rows.samples()
            #expect(samples.map(\.name) == ["storehook_queue_refused", "storehook_queue_refused"])
            #expect(samples.map { $0.labels.map(\.value) } == [["sqlstate_23"], ["sqlstate_p0"]])
            #expect(samples.map(\.value) == [1, 2])
            try await apply(pool, secondsAgo: 10)
            #expect(try await !outbox.isSettling(since: .seconds(5)))
            #expect(try await outbox.isSettling(since: .seconds(15)))
            try await pool.query("delete from storehook.outbox_queue")
            #expect(try await rows.groups().isEmpty)
            #expect(try await outbox.isSettling(since: .zero))
        }
    }

    @Test(
        "take no room: the latest two hundred kinds are kept, none for longer than a week, and two workers wait for each other in one order"
    )
    func bounds() async throws {
        try await withQueue { bench in
            let (pool, outbox) = (bench.pool, bench.outbox)
            let (ids, lease) = try await claimed(1, pool)
            try await withThrowingTaskGroup { group in
                for part in 0..<4 {
                    group.addTask {
                        for n in 0..<20 {
                            let numbers = part % 2 == 0 ? Array(0..<10) : (0..<10).reversed()
                            _ = try await Outbox(pool).note(
                                numbers.map {
                                    Refusal(of: ids[0], error("22001", "c\(part % 2 == 0 ? n : $0 + n * 5)"))
                                }, after: .zero,
                                token: lease.token, within: .seconds(30))
                        }
                    }
                }
                try await group.waitForAll()
            }
            for n in 0..<30 {
                _ = try await outbox.note(
                    (0..<10).map { Refusal(of: ids[0], error("22001", "d\(n)_\($0)")) }, after: .zero,
                    token: lease.token)
            }
            let count: PostgresQuery = "select count(*) from storehook.refusals"
            #expect(try await pool.query(count).one().decode(0, as: Int64.self) <= 210)
            #expect(try await pool.query("select 1 from storehook.refusals where constraint_name = 'd29_9'").count == 1)
            try await pool.query("update storehook.refusals set last_at = now() - interval '8 days'")
            _ = try await outbox.note([Refusal(of: ids[0], error("21000"))], after: .zero, token: lease.token)
            #expect(try await pool.query(count).one().decode(0, as: Int64.self) == 1)
        }
    }
}
