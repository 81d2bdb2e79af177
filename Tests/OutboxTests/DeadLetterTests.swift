import Base
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Dead letters")
struct DeadLetterTests {
    /// Buries `count` notifications under each reason in turn and returns the letters.
    private func letters(_ queue: OutboxBench, _ reasons: String...) async throws -> [DeadLetter] {
        try await queue.fill(reasons.count)
        for reason in reasons {
            let lease = Lease.fresh()
            try await queue.bury(try await queue.outbox.claim(1, for: lease).rows, lease, reason: reason)
        }
        return try await queue.outbox.deadLetters(DeadLetterFilter(), limit: 100)
    }

    @Test("are listed by what is asked for, the oldest first")
    func filters() async throws {
        try await withQueue { queue in
            let all = try await letters(queue, "wrong_bundle", "malformed", "wrong_bundle")
            #expect(all.map(\.reason) == ["wrong_bundle", "malformed", "wrong_bundle"])
            #expect(all.map(\.id) == all.map(\.id).sorted())
            func ids(_ filter: DeadLetterFilter, limit: Int = 100) async throws -> [Int64] {
                try await queue.outbox.deadLetters(filter, limit: limit).map(\.id)
            }
            #expect(try await ids(DeadLetterFilter(), limit: 2) == [all[0].id, all[1].id])
            #expect(try await ids(DeadLetterFilter(reason: "wrong_bundle")) == [all[0].id, all[2].id])
            #expect(try await ids(DeadLetterFilter(ids: [all[1].id, 4711])) == [all[1].id])
            #expect(try await ids(DeadLetterFilter(ids: [])) == [])
            #expect(try await ids(DeadLetterFilter(type: "TEST")).count == 3)
            #expect(try await ids(DeadLetterFilter(type: "EXPIRED")).isEmpty)
            #expect(try await ids(DeadLetterFilter(since: all[1].deadAt)) == [all[1].id, all[2].id])
            let counts = try await queue.outbox.deadLetterCounts()
            #expect(counts.map(\.reason) == ["wrong_bundle", "malformed"] && counts.map(\.count) == [2, 1])
            #expect(try await queue.outbox.deadLetterCounts(DeadLetterFilter(reason: "malformed")).map(\.count) == [1])
        }
    }

    @Test("are found by their app and by a text, whether they wait or are settled, in pages with the newest first")
    func pages() async throws {
        try await withQueue { queue in
            for app in ["com.example.a", "com.example.b", "com.example.a", nil] {
                try await queue.fill(1)
                let lease = Lease.fresh()
                let rows = try await queue.outbox.claim(1, for: lease).rows
                try await queue.bury(rows, lease, reason: app == nil ? "malformed" : "wrong_bundle", of: app)
            }
            let all = try await queue.outbox.deadLetters(DeadLetterFilter(), limit: 9).map(\.id)
            func ids(
                _ filter: DeadLetterFilter = DeadLetterFilter(), _ resolution: DeadLetterResolution = .open
            ) async throws -> [Int64] {
                var (found, cursor): ([Int64], ListCursor?) = ([], nil)
                repeat {
                    let page = try await queue.outbox.letters(filter, resolution, after: cursor, limit: 1)
                    #expect(page.elements.count <= 1)
                    found += page.elements.map(\.id)
                    cursor = page.next
                } while cursor != nil
                return found
            }
            #expect(try await ids() == Array(all.reversed()))
            #expect(try await ids(DeadLetterFilter(bundleID: "com.example.a")) == [all[2], all[0]])
            #expect(try await ids(DeadLetterFilter(apps: ["com.example.b", "com.example.c"])) == [all[1]])
            for (text, count) in [("EXAMPLE.B", 1), ("bundle", 3), ("a message", 4), ("%", 0), ("mess_ge", 0)] {
                #expect(try await ids(DeadLetterFilter(text: text)).count == count, "\(text)")
                let listed = try await queue.outbox.deadLetters(DeadLetterFilter(text: text), limit: 9)
                #expect(listed.count == count, "\(text)")
            }
            _ = try await queue.outbox.discard([all[0]], by: "me", why: "a probe")
            #expect(
                try await queue.outbox.replay(
                    DeadLetterFilter(ids: [all[1], all[2]], apps: ["com.example.a"]), perSecond: nil, by: "me", why: nil
                )
                    == [all[2]])
            #expect(try await ids() == [all[3], all[1]])
            #expect(try await ids(DeadLetterFilter(), .discarded) == [all[0]])
            #expect(try await ids(DeadLetterFilter(bundleID: "com.example.b"), .replayed).isEmpty)
        }
    }

    @Test("are looked for among a bounded number for a page, which says so and where it goes on, from either end")
    func bound() async throws {
        try await withQueue { queue in
            let all = try await letters(queue, "wrong_bundle", "malformed", "malformed", "malformed", "malformed")
            func pages(_ isOldestFirst: Bool, through most: Int64?) async throws -> [(ids: [Int64], looked: Int?)] {
                var (pages, cursor): ([(ids: [Int64], looked: Int?)], ListCursor?) = ([], nil)
                repeat {
                    let page = try await queue.outbox.letters(
                        DeadLetterFilter(text: "WRONG"), after: cursor, limit: 1, isOldestFirst: isOldestFirst,
                        lookingThrough: most)
                    pages.append((page.elements.map(\.id), page.lookedThrough))
                    cursor = page.next
                } while cursor != nil
                return pages
            }
            let newest = try await pages(false, through: 2)
            #expect(newest.map(\.ids) == [[], [], [all[0].id]] && newest.map(\.looked) == [2, 2, nil])
            let oldest = try await pages(true, through: 2)
            #expect(oldest.map(\.ids) == [[all[0].id], [], []] && oldest.map(\.looked) == [2, 2, nil])
            let whole = try await pages(true, through: nil)
            #expect(whole.map(\.ids) == [[all[0].id]] && whole.map(\.looked) == [nil])
            try await queue.pool.query(
                "update storehook.dead_letters set message = 'Ärger' where id = \(all[1].id)")
            let strange = try await queue.outbox.letters(DeadLetterFilter(text: "Ärger"), limit: 9).elements
            #expect(strange.map(\.id) == [all[1].id])
        }
    }

    @Test("keep the attempts that ended otherwise than well, in their order, until histories are dropped")
    func attempts() async throws {
        try await withQueue { queue in
            try await queue.fill(2)
            let claimed = try await queue.outbox.claim(9, for: .fresh())
            let (first, second) = (claimed.rows[0], claimed.rows[1])
            let putOff = try #require(ReasonCode(rawValue: "apply_failed"))
            try await queue.outbox.note([])
            try await queue.outbox.note([
                EvidenceAttempt(first, by: "here:1", from: claimed.claimedAt, reason: putOff, message: "a\u{0}b"),
                EvidenceAttempt(second, by: "here:1", from: claimed.claimedAt, reason: putOff),
            ])
            try await queue.outbox.note([EvidenceAttempt(vanishedBefore: first)])
            let attempts = try await queue.outbox.attempts(at: first.id)
            #expect(attempts.map(\.reason) == ["apply_failed", "crashed_worker"])
            #expect(attempts.map(\.worker) == ["here:1", nil] && attempts[0].message == "ab")
            #expect(attempts[0].beganAt == claimed.claimedAt && attempts[1].beganAt == nil)
            #expect(attempts.allSatisfy { $0.endedAt != nil && $0.number == 1 })
            #expect(try await queue.outbox.queued(first.id)?.worker == "test")
            #expect(try await queue.outbox.queued(4711) == nil)
            #expect(try await queue.outbox.dropAttempts(keeping: 30) == 0)
            try await queue.pool.query(
                "update storehook.outbox_attempts set ended_at = now() - interval '31 days' where outbox_id = \(first.id)"
            )
            #expect(try await queue.outbox.dropAttempts(keeping: 30) == 2)
            #expect(try await queue.outbox.attempts(at: second.id).count == 1)
        }
    }

    @Test("show their bytes, and none where there is no such letter")
    func one() async throws {
        try await withQueue { queue in
            let letter = try await letters(queue, "malformed")[0]
            let found = try #require(try await queue.outbox.deadLetter(letter.id))
            #expect(found.letter == letter)
            #expect(found.body == .success(Array("0".utf8)))
            #expect(try await queue.outbox.deadLetter(letter.id + 1) == nil)
            let bodies = try await queue.outbox.deadLettersWithBodies(DeadLetterFilter(), limit: 9)
                .map(\.evidence?.body)
            #expect(bodies == [.success(Array("0".utf8))])
        }
    }

    @Test("replayed go back on the queue, counted anew, with the reason, and who did it is on record")
    func replay() async throws {
        try await withQueue { queue in
            let all = try await letters(queue, "wrong_bundle", "malformed")
            let replayed = try await queue.outbox.replay(
                DeadLetterFilter(reason: "wrong_bundle"), perSecond: nil, by: "me@here", why: "configured")
            #expect(replayed == [all[0].id])
            let claimed = try await queue.outbox.claim(9, for: .fresh()).rows
            #expect(claimed.map(\.id) == [all[0].outboxID])
            #expect(claimed[0].attempts == 1 && claimed[0].lastReason == "wrong_bundle" && !claimed[0].lapsed)
            #expect(claimed[0].receivedAt == all[0].receivedAt)
            let letter = try #require(try await queue.outbox.deadLetter(all[0].id)).letter
            #expect(letter.resolution == .replayed)
            #expect(letter.resolvedBy == "me@here")
            #expect(letter.resolvedWhy == "configured")
            #expect(letter.resolvedAt != nil)
            let counted = try await queue.outbox.conservation()
            #expect(counted.pending == 1 && counted.dead == 1 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("replayed twice are on the queue once, also when both do it at the same time")
    func replayTwice() async throws {
        try await withQueue(connections: 8) { queue in
            let all = try await letters(queue, "malformed", "revoked", "wrong_bundle", "crashed_worker", "apply_failed")
            let replayed = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await queue.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(replayed.sorted() == all.map(\.id))
            let before = try await queue.rows()
            #expect(before.count == 5)
            #expect(
                try await queue.outbox.replay(DeadLetterFilter(ids: all.map(\.id)), perSecond: 1, by: "you", why: nil)
                    == [])
            #expect(try await queue.rows() == before)
            #expect(try await queue.outbox.deadLetter(all[0].id)?.letter.resolvedBy == "me")
        }
    }

    @Test("replayed at a rate fall due evenly spaced, the first at once")
    func rate() async throws {
        try await withQueue { queue in
            _ = try await letters(queue, "malformed", "revoked", "wrong_bundle", "crashed_worker", "apply_failed")
            _ = try await queue.outbox.replay(DeadLetterFilter(), perSecond: 0.5, by: "me", why: nil)
            let waits = try await queue.pool.query(
                """
                select extract(epoch from due_at - min(due_at) over ())::double precision
                  from storehook.outbox_queue order by id
                """
            ).map { try $0.decode(0, as: Double.self) }
            #expect(waits == [0, 2, 4, 6, 8])
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.count == 1)
        }
    }

    @Test("can die again: the letters before stay as history, and one is open")
    func dieAgain() async throws {
        try await withQueue { queue in
            let first = try await letters(queue, "wrong_bundle")[0]
            _ = try await queue.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil)
            let lease = Lease.fresh()
            try await queue.bury(try await queue.outbox.claim(1, for: lease).rows, lease, reason: "malformed")
            let open = try await queue.outbox.deadLetters(DeadLetterFilter(), limit: 9)
            #expect(open.map(\.reason) == ["malformed"])
            #expect(open.first?.outboxID == first.outboxID)
            #expect(try await queue.outbox.conservation().dead == 1)
            #expect(try await queue.outbox.conservation().doubled == 0)
        }
    }

    @Test("discarded are given up once, with the reason, and are not replayed afterwards")
    func discard() async throws {
        try await withQueue { queue in
            let all = try await letters(queue, "malformed", "revoked")
            #expect(try await queue.outbox.discard([all[0].id, 4711], by: "me", why: "a probe") == [all[0].id])
            #expect(try await queue.outbox.discard([all[0].id], by: "you", why: "again") == [])
            let letter = try #require(try await queue.outbox.deadLetter(all[0].id)).letter
            #expect(letter.resolution == .discarded && letter.resolvedBy == "me" && letter.resolvedWhy == "a probe")
            #expect(
                try await queue.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil) == [all[1].id])
            let counted = try await queue.outbox.conservation()
            #expect(counted.discarded == 1 && counted.pending == 1 && counted.missing == 0 && counted.doubled == 0)
        }
    }
}
