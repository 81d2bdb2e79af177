import Foundation
import Postgres
import TestSupport
import Testing

@testable import EvidenceStore

@Suite("Settling")
struct SettleTests {
    @Test("with a token that is not the row's changes nothing, whichever way")
    func fenced() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(2)
            _ = try await queue.outbox.claim(2, for: .fresh()).rows
            let before = try await queue.rows()
            let stranger = UUID()
            #expect(try await queue.take(ids, token: stranger).isEmpty)
            try await queue.outbox.queue.reschedule(ids, by: [.zero, .zero], reason: "x", token: stranger)
            try await queue.outbox.queue.release(ids, token: stranger)
            #expect(try await queue.rows() == before)
        }
    }

    @Test("is refused to a worker whose row another one has taken over, and open to that one")
    func takenOver() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(1)
            let (first, second) = (Lease.fresh(), Lease.fresh())
            _ = try await queue.outbox.claim(1, for: first).rows
            try await queue.passTime()
            #expect(try await queue.outbox.claim(1, for: second).rows.map(\.attempts) == [2])
            let before = try await queue.rows()
            #expect(try await queue.take(ids, token: first.token).isEmpty)
            try await queue.outbox.queue.reschedule(ids, by: [.zero], reason: "x", token: first.token)
            try await queue.outbox.queue.release(ids, token: first.token)
            #expect(try await queue.rows() == before)
            #expect(try await queue.take(ids, token: second.token) == Set(ids))
        }
    }

    @Test("in a transaction that fails leaves the row where it was")
    func rolledBack() async throws {
        struct Failed: Error {}
        try await withQueue { queue in
            let ids = try await queue.fill(1)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(1, for: lease).rows
            let before = try await queue.rows()
            await #expect(throws: Failed.self) {
                try await queue.pool.withTransaction { session in
                    _ = try Outbox.table.acknowledge(ids, token: lease.token, session)
                    try Outbox.recordDuplicates([(claimed[0].id, UUID(), nil)], session)
                    throw Failed()
                }
            }
            #expect(try await queue.rows() == before)
            #expect(try await queue.value("select count(*) from storehook.duplicates", as: Int64.self) == 0)
        }
    }

    @Test("by putting off keeps the attempt, frees the lease, and notes why and until when")
    func reschedule() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(2)
            let lease = Lease.fresh()
            _ = try await queue.outbox.claim(2, for: lease).rows
            try await queue.outbox.queue.reschedule(
                ids, by: [.zero, .seconds(3600)], reason: "revocation_unknown", token: lease.token)
            let again = try await queue.outbox.claim(2, for: .fresh()).rows
            #expect(again.map(\.id) == [ids[0]])
            #expect(again.allSatisfy { $0.attempts == 2 && !$0.lapsed && $0.lastReason == "revocation_unknown" })
            let wait = try await queue.value(
                "select extract(epoch from due_at - now())::double precision from storehook.outbox_queue where id = \(ids[1])",
                as: Double.self)
            #expect(wait > 3000 && wait <= 3600)
        }
    }

    @Test("by giving back is as if the row had never been claimed")
    func release() async throws {
        try await withQueue { queue in
            let ids = try await queue.fill(2)
            let lease = Lease.fresh()
            _ = try await queue.outbox.claim(2, for: lease).rows
            try await queue.outbox.queue.release(ids, token: lease.token)
            let again = try await queue.outbox.claim(2, for: .fresh()).rows
            #expect(again.map(\.id) == ids)
            #expect(again.allSatisfy { $0.attempts == 1 && !$0.lapsed })
        }
    }

    @Test("as duplicate or dead letter keeps every row in exactly one place")
    func conserved() async throws {
        try await withQueue { queue in
            try await queue.fill(4)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(3, for: lease).rows
            try await queue.bury(Array(claimed[..<1]), lease)
            try await queue.pool.withTransaction { session in
                _ = try Outbox.table.acknowledge([claimed[1].id], token: lease.token, session)
                try Outbox.recordDuplicates([(claimed[1].id, UUID(), nil)], session)
            }
            let counted = try await queue.outbox.conservation()
            #expect(
                counted
                    == Conservation(
                        received: 4, pending: 2, applied: 0, duplicate: 1, parked: 0, dead: 1, discarded: 0, missing: 0,
                        doubled: 0, acknowledged: 4))
            #expect(try await queue.outbox.depth().map(\.count) == [1, 0, 1, 1])
        }
    }

    @Test("a letter's texts are cut to what the schema takes, whatever the payload said")
    func longTexts() async throws {
        try await withQueue { queue in
            try await queue.fill(1)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(1, for: lease).rows
            // Scalars that make one character are counted one by one, as PostgreSQL counts them.
            let long = "a\u{0}" + String(repeating: "e\u{301}", count: 2000)
            try await queue.pool.withTransaction { session in
                _ = try Outbox.table.acknowledge(claimed.map(\.id), token: lease.token, session)
                try Outbox.bury(
                    [
                        DeadLetterDraft(
                            claimed[0], reason: .applyFailed, message: long, type: long, subtype: long,
                            attempts: 1_000_000)
                    ], session)
            }
            let letter = try #require(try await queue.outbox.deadLetters(DeadLetterFilter(), limit: 2).first)
            #expect(letter.message.unicodeScalars.count == 999)
            #expect(letter.type?.unicodeScalars.count == 99)
            #expect(letter.subtype == letter.type)
            #expect(letter.attempts == 32767)
        }
    }
}
