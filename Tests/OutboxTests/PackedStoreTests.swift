import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("Storing without the headers that are known")
struct PackedStoreTests {
    /// Posts of one authority, all different.
    private func purchases(_ count: Int, by authority: SimulatedAuthority) -> [[UInt8]] {
        (1...count).map { lane in
            var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
            subscriber.buy(.premiumMonthly, at: 1_769_904_000_000)
            return Array(subscriber.takeNotifications()[0].signed(by: authority).utf8)
        }
    }

    private func packings(_ queue: OutboxBench) async throws -> [Int16] {
        try await queue.pool.query("select packing from storehook.outbox order by id").map { try $0.decode(0) }
    }

    @Test("begins once they are kept and heard of, and a claim gives back both kinds byte for byte")
    func bothKinds() async throws {
        try await withQueue { queue in
            let authority = try await Signed.authority.value
            let bodies = purchases(6, by: authority)
            let junk = Array("no.jws.x".utf8)
            try await queue.outbox.store([bodies[0], junk])
            // Another process keeps it: to this outbox it is news only after it has asked.
            try await Outbox(queue.pool).keepHeaders(of: [bodies[0]])
            try await queue.outbox.store([bodies[1]])
            try await queue.outbox.learnHeaders()
            try await queue.outbox.store([bodies[2], junk, bodies[3], bodies[4], bodies[5]])
            #expect(try await packings(queue) == [0, 0, 0, 1, 0, 1, 1, 1])
            let all = [bodies[0], junk, bodies[1], bodies[2], junk] + bodies[3...]
            // A worker that has just started has heard of nothing.
            let claimed = try await Outbox(queue.pool).claim(9, for: .fresh()).rows
            #expect(claimed.map(\.body) == all)
            #expect(claimed.allSatisfy { $0.unreadable == nil })
            let (posted, stored) = (
                bodies[2...].map(\.count).reduce(0, +),
                try await queue.value(
                    "select sum(octet_length(body)) from storehook.outbox where packing = 1", as: Int64.self)
            )
            #expect(stored * 3 <= posted)
        }
    }

    @Test("stands in the row itself, not beside it")
    func inRow() async throws {
        try await withQueue { queue in
            let bodies = purchases(50, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.outbox.store(bodies)
            let beside: PostgresQuery = """
                select sum(pg_relation_size(reltoastrelid))::bigint
                  from pg_class where relname like 'outbox\\_2%' and relkind = 'r'
                """
            #expect(try await queue.value(beside, as: Int64.self) == 0)
            try await queue.outbox.store([[UInt8](repeating: 7, count: 18_000)])
            #expect(try await queue.value(beside, as: Int64.self) > 0)
        }
    }

    @Test("needs each header once, however many keep it at the same time")
    func concurrently() async throws {
        try await withQueue(connections: 8) { queue in
            let bodies = try (0..<5).flatMap { _ in purchases(1, by: try SimulatedAuthority.generate()) }
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    let (shuffled, outbox) = (bodies[(number % 5)...] + bodies[..<(number % 5)], Outbox(queue.pool))
                    group.addTask { try await outbox.keepHeaders(of: Array(shuffled)) }
                }
                try await group.waitForAll()
            }
            let digests = try await queue.pool.query(
                "select digest from storehook.signature_headers order by digest"
            ).map { try $0.decode(0, as: [UInt8].self) }
            #expect(digests == bodies.map { Signed.header(of: $0).digest }.sorted { $0.lexicographicallyPrecedes($1) })
            try await queue.outbox.learnHeaders()
            try await queue.outbox.store(bodies)
            #expect(try await packings(queue) == [1, 1, 1, 1, 1])
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.map(\.body) == bodies)
        }
    }

    @Test("keeps no more headers than the table is to hold, and none that is too long")
    func full() async throws {
        try await withQueue { queue in
            let body = purchases(1, by: try await Signed.authority.value)[0]
            let long = Array(String(repeating: "A", count: 16_385).utf8) + Array(".e30.AA".utf8)
            try await queue.outbox.keepHeaders(of: [long, Array("nodot".utf8), Array(".e30.AA".utf8), []])
            try await queue.pool.query(
                """
                insert into storehook.signature_headers (header)
                select convert_to('filler ' || n, 'UTF8') from generate_series(1, 1000) n
                """)
            try await queue.outbox.keepHeaders(of: [body])
            try await queue.outbox.learnHeaders()
            try await queue.outbox.store([body])
            #expect(try await packings(queue) == [0])
            #expect(try await queue.value("select count(*) from storehook.signature_headers", as: Int64.self) == 1000)
        }
    }

    /// Five packed rows and one as posted, and then the headers are gone.
    private func withoutHeaders(_ body: (OutboxBench, [[UInt8]], SignatureHeader) async throws -> Void) async throws {
        try await withQueue { queue in
            let bodies = purchases(5, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.outbox.store(bodies + [Array("as.posted.x".utf8)])
            try await queue.pool.query("delete from storehook.signature_headers")
            try await body(queue, bodies, Signed.header(of: bodies[0]))
        }
    }

    @Test("is told apart where a header is missing: an error of its own, never other bytes, and whole again with it")
    func missing() async throws {
        try await withoutHeaders { queue, bodies, header in
            let lease = Lease.fresh()
            let rows = try await Outbox(queue.pool).claim(9, for: lease).rows
            #expect(rows.map(\.body) == [nil, nil, nil, nil, nil, Array("as.posted.x".utf8)])
            for row in rows.prefix(5) {
                #expect(row.unreadable == .missingHeader(header.digest))
                #expect(row.unreadable?.description.contains("storehook.signature_headers does not hold") == true)
            }
            try await queue.bury(rows, lease, reason: "body_unreadable")
            let reader = Outbox(queue.pool)
            for letter in try await reader.deadLettersWithBodies(DeadLetterFilter(), limit: 5) {
                #expect(letter.evidence?.body == .failure(.missingHeader(header.digest)))
            }
            #expect(try await reader.deadLetter(1)?.body == .failure(.missingHeader(header.digest)))
            try await queue.pool.query("insert into storehook.signature_headers (header) values (\(header.text))")
            #expect(try await reader.deadLetter(1)?.body == .success(bodies[0]))
            #expect(
                try await reader.deadLettersWithBodies(DeadLetterFilter(), limit: 5).map(\.evidence?.body)
                    == bodies.map { .success($0) })
        }
    }

    @Test("is told apart where it is damaged, or packed as only a later release knows")
    func unknown() async throws {
        try await withoutHeaders { queue, _, header in
            try await queue.pool.query(
                "update storehook.outbox set body = substr(body, 1, 20) where packing = 1 and id % 2 = 0")
            try await queue.pool.withTransaction { session in
                try session.executeScript(
                    """
                    do $$
                    declare part record;
                    begin
                        for part in select conrelid::regclass as name, conname from pg_constraint
                                     where conname like 'outbox%packing_check' and coninhcount = 0 loop
                            execute format('alter table %s drop constraint %I', part.name, part.conname);
                        end loop;
                    end
                    $$;
                    update storehook.outbox set packing = 2 where packing = 0;
                    """)
            }
            let found = try await Outbox(queue.pool).claim(9, for: .fresh()).rows.map(\.unreadable)
            #expect(Set(found) == [.damaged, .missingHeader(header.digest), .unknownPacking(2)])
        }
    }

    @Test("gives a batch back whose headers could not be read: it is due at once, and nothing was tried")
    func unreadHeaders() async throws {
        try await withQueue { queue in
            let bodies = purchases(3, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.outbox.store(bodies)
            try await queue.pool.query("alter table storehook.signature_headers rename to away")
            // A worker that has just started knows no header, and so has to read them.
            let reader = Outbox(queue.pool)
            await #expect(throws: PostgresError.self) { try await reader.claim(9, for: .fresh()) }
            try await queue.pool.query("alter table storehook.away rename to signature_headers")
            let again = try await reader.claim(9, for: .fresh()).rows
            #expect(again.map(\.body) == bodies)
            #expect(again.allSatisfy { $0.attempts == 1 && !$0.lapsed })
        }
    }

    @Test("stores as posted what would name a header that the database has lost, and everything stored can be read")
    func lost() async throws {
        try await withQueue { queue in
            let bodies = purchases(6, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.outbox.store([bodies[0]])
            try await queue.pool.query("delete from storehook.signature_headers")
            try await queue.outbox.store([bodies[1], bodies[2]])
            // Forgotten: the next ones are not tried in vain.
            try await queue.outbox.store([bodies[3]])
            #expect(try await packings(queue) == [1, 0, 0, 0])
            // A worker that verifies them keeps the header again, also one that had kept it before.
            try await queue.outbox.keepHeaders(of: [bodies[3]])
            try await queue.outbox.store([bodies[4]])
            #expect(try await packings(queue) == [1, 0, 0, 0, 1])
            let claimed = try await Outbox(queue.pool).claim(9, for: .fresh()).rows
            #expect(claimed.map(\.body) == bodies[..<5].map { $0 })
            #expect(try await queue.outbox.conservation().acknowledged == 5)
        }
    }

    @Test("stores as posted where it may no longer look for headers")
    func forbidden() async throws {
        try await withQueue { queue in
            let bodies = purchases(2, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.pool.query("alter table storehook.signature_headers rename to away")
            try await queue.outbox.store(bodies)
            #expect(try await packings(queue) == [0, 0])
        }
    }

    @Test("survives the day's partition: what is kept of a dropped day keeps its packing")
    func kept() async throws {
        try await withQueue { queue in
            let bodies = purchases(3, by: try await Signed.authority.value)
            try await queue.outbox.keepHeaders(of: [bodies[0]])
            try await queue.outbox.store(bodies)
            try await queue.pool.withTransaction { try $0.executeScript(agedOutbox) }
            let days = try await queue.outbox.maintain(Retention(days: 7)).days
            #expect(days.map { [$0.gone, $0.kept] } == [[0, 3]])
            #expect(
                try await queue.value("select count(*) from storehook.outbox_default where packing = 1", as: Int64.self)
                    == 3)
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.map(\.body) == bodies)
        }
    }
}
