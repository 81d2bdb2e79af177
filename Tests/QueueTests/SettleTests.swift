import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Settling in any queue")
struct SettleTests {
    @Test("is refused to a worker whose row another one has taken over, whichever way, and open to that one")
    func fenced() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(1)
            let (first, second) = (Lease.fresh(), Lease.fresh())
            _ = try await errands.queue.claim(1, for: first)
            try await errands.passTime()
            _ = try await errands.queue.claim(1, for: second)
            let before = try await errands.rows()
            #expect(try await errands.take(ids, token: first.token).isEmpty)
            try await errands.queue.reschedule(ids, by: [.zero], reason: "x", token: first.token)
            try await errands.queue.release(ids, token: first.token)
            #expect(try await errands.rows() == before)
            #expect(try await errands.take(ids, token: second.token) == Set(ids))
            #expect(try await errands.rows().isEmpty)
        }
    }

    @Test("is preceded by as much time as its holder asks for again, and nobody else's asking counts")
    func renewed() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(1)
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(1, for: lease)
            let renewed = try await errands.pool.withTransaction { session in
                try Errands.table.renew(ids, token: lease.token, for: .seconds(3600), session)
            }
            #expect(renewed == Set(ids))
            #expect(
                try await errands.value(
                    "select due_at between now() + interval '50 minutes' and now() + interval '1 hour' from errands"))
            let before = try await errands.rows()
            let strangers = try await errands.pool.withTransaction { session in
                try Errands.table.renew(ids, token: Lease.fresh().token, for: .seconds(60), session)
            }
            #expect(strangers.isEmpty)
            #expect(try await errands.rows() == before)
        }
    }

    @Test("in a transaction that fails leaves the row where it was")
    func rolledBack() async throws {
        struct Failed: Error {}
        try await withErrands { errands in
            let ids = try await errands.fill(1)
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(1, for: lease)
            let before = try await errands.rows()
            await #expect(throws: Failed.self) {
                try await errands.pool.withTransaction { session in
                    _ = try Errands.table.acknowledge(ids, token: lease.token, session)
                    throw Failed()
                }
            }
            #expect(try await errands.rows() == before)
        }
    }

    @Test("by putting off makes each row due after its own delay, and tells the next claim why")
    func reschedule() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(2)
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(2, for: lease)
            try await errands.queue.reschedule(
                ids, by: [.zero, .milliseconds(3_600_500)], reason: "endpoint_away", token: lease.token)
            let delay = try await errands.value(
                "select extract(epoch from max(due_at) - min(due_at))::double precision from errands", as: Double.self)
            #expect(delay == 3600.5)
            let now = try await errands.queue.claim(2, for: .fresh())
            #expect(now.rows.map(\.id) == [ids[0]] && !now.isSuspect)
            #expect(now.rows.first?.attempts == 2 && now.rows.first?.lastReason == "endpoint_away")
        }
    }

    @Test("by giving back leaves a row as if it had never been claimed, and wakes who listens")
    func release() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(2)
            let listener = try PostgresListener(
                configuration: errands.database.configuration, channel: Errands.table.channel, logger: quiet)
            let running = Task { try await listener.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()
            // The first one says that it listens from now on.
            _ = await wakeUps.next()
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(2, for: lease)
            try await errands.queue.release(ids, token: lease.token)
            _ = await wakeUps.next()
            running.cancel()
            _ = try? await running.value
            let again = try await errands.queue.claim(2, for: .fresh())
            #expect(again.rows.map(\.id) == ids && again.rows.allSatisfy { $0.attempts == 1 } && !again.isSuspect)
        }
    }

    @Test("by giving a suspect back leaves it one: claimed alone again, with nothing counted")
    func releaseSuspect() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(2)
            _ = try await errands.queue.claim(2, for: .fresh())
            try await errands.passTime()
            let lease = Lease.fresh()
            let suspect = try await errands.queue.claim(2, for: lease)
            #expect(suspect.isSuspect && suspect.rows.map(\.lapses) == [1])
            try await errands.queue.release(suspect.rows.map(\.id), token: lease.token, isSuspect: true)
            // No lease holds it: neither the one that gave it back nor any other.
            #expect(try await errands.take(ids, token: lease.token).isEmpty)
            #expect(
                try await errands.value(
                    "select count(*) from errands where due_at <= now()", as: Int64.self) == 2)
            for _ in 0..<2 {
                let again = try await errands.queue.claim(2, for: .fresh())
                #expect(again.isSuspect && again.rows.count == 1)
                #expect(again.rows.map(\.attempts) == [2] && again.rows.map(\.lapses) == [1])
            }
        }
    }

    @Test("by putting off for a reason that is not theirs counts no attempt, and answers how many were still held")
    func postpone() async throws {
        try await withErrands { errands in
            let ids = try await errands.fill(2)
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(1, for: lease)
            #expect(
                try await errands.queue.postpone(ids, by: [.zero, .zero], reason: "shop_closed", token: lease.token)
                    == 1)
            let again = try await errands.queue.claim(2, for: .fresh())
            #expect(again.rows.map(\.attempts) == [1, 1] && again.rows.first?.lastReason == "shop_closed")
        }
    }

    @Test("of nothing is nothing")
    func nothing() async throws {
        try await withErrands { errands in
            try await errands.queue.release([], token: UUID())
            try await errands.queue.reschedule([], by: [], reason: "x", token: UUID())
            #expect(try await errands.take([], token: UUID()).isEmpty)
        }
    }
}
