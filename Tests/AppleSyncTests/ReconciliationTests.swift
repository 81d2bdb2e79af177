import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import AppleSync

@Suite("Reconciliation")
struct ReconciliationTests {
    @Test("of a twentieth that was lost ends as if nothing had been, and finds nothing a second time")
    func lost() async throws {
        let listed = lives(40, by: try await Site.authority.value)
        let whole = try await withSite { site in
            try await site.post(listed.map(\.jws))
            try await site.workOff()
            return try await site.truth()
        }
        try await withSite { site in
            site.apple.list(listed)
            try await site.post(listed.enumerated().filter { $0.offset % 20 != 7 }.map(\.element.jws))
            try await site.workOff()
            #expect(try await site.truth() != whole)
            let lost = listed.indices.filter { $0 % 20 == 7 }.count
            let proof = try await site.reconcile()
            #expect(proof.recovered == Int64(lost))
            #expect(proof.listed == Int64(listed.count))
            #expect(proof.heldBefore == Int64(listed.count - lost))
            #expect(proof.unprovenWindows == 0)
            try await site.workOff()
            #expect(try await site.truth() == whole)
            #expect(try await site.isWhole())
            #expect(
                try await site.value("select count(*) from storehook.notifications where source = 'history'")
                    == Int64(lost))
            let stored: Int64 = try await site.value("select count(*) from storehook.outbox")
            #expect(try await site.reconcile(since: .earliest).recovered == Int64(lost))
            #expect(try await site.value("select count(*) from storehook.outbox") == stored)
            #expect(try await site.value("select count(*) from storehook.duplicates") == Int64(0))
        }
    }

    @Test("fills a new database from Apple's history alone, and it equals the one that heard everything")
    func fromHistoryAlone() async throws {
        let listed = lives(20, by: try await Site.authority.value)
        let whole = try await withSite { site in
            try await site.post(listed.map(\.jws))
            try await site.workOff()
            return try await site.truth()
        }
        try await withSite { site in
            site.apple.list(listed)
            #expect(try await site.reconcile().recovered == Int64(listed.count))
            try await site.workOff()
            #expect(try await site.truth() == whole)
            #expect(try await site.isWhole())
        }
    }

    @Test("that is killed before, at or after any page ends in the same rows")
    func killed() async throws {
        struct Killed: Error {}
        try await withSite(pageSize: 3) { site in
            let listed = tests(17, by: site.authority)
            site.apple.list(listed.map(\.listed))
            try await site.post(listed.enumerated().filter { $0.offset % 2 == 0 }.map(\.element.listed.jws))
            try await site.history.plan([Site.scope], behind: .zero, partial: true)
            // Each walk makes one call, and is gone before the second one is answered; every second time before the first.
            var rounds = 0
            while try await site.history.open([Site.scope]).due > 0 {
                rounds += 1
                let window = try #require(
                    try await site.history.claim(for: .init(owner: "test", duration: .seconds(60)), among: [Site.scope])
                )
                let first = site.apple.paths.count
                let mercy = rounds % 2
                site.apple.interfere { number in
                    if number - first > mercy { throw Killed() }
                    return nil
                }
                // As after a SIGKILL nothing is given back: the lease has to end.
                _ = try? await HistoryWalk(site.history, site.client()).run(window)
                try await site.pool.query(
                    "update storehook.history_queue set due_at = now() where lease_token is not null")
                try #require(rounds < 3000)
            }
            site.apple.interfere(nil)
            let proof = try #require(try await site.history.proofs().first)
            #expect(proof.unprovenWindows == 0)
            #expect(proof.recovered == 8)
            #expect(proof.listed == 17)
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.notifications") == Int64(17))
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(17))
            #expect(try await site.isWhole())
        }
    }

    @Test("is shared by three workers: each window is asked once")
    func shared() async throws {
        try await withSite { site in
            let listed = lives(10, by: site.authority)
            site.apple.list(listed)
            try await site.history.plan([Site.scope], behind: .seconds(600))
            try await withThrowingTaskGroup { group in
                for name in ["one", "two", "three"] {
                    group.addTask {
                        let pool = PostgresPool(configuration: site.database.configuration, size: 1, logger: quiet)
                        let duty = try site.duty(name, over: pool)
                        while try await duty.next(of: [Site.scope]) != nil {}
                        await pool.close()
                    }
                }
                try await group.waitForAll()
            }
            let begun = site.apple.asked.filter { $0.token == nil }
            #expect(Set(begun.map(\.start)).count == begun.count)
            #expect(try await site.value("select count(*) from storehook.history_windows") == Int64(begun.count))
            let proof = try #require(try await site.history.proofs().first)
            #expect(proof.unprovenWindows == 0)
            #expect(
                proof.recovered
                    == Int64(listed.filter { $0.signedDate <= proof.provenUntil?.millisecondsSince1970 ?? 0 }.count))
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.duplicates") == Int64(0))
        }
    }

    @Test("begins a window again when Apple's token has expired, and counts it once")
    func expiredToken() async throws {
        try await withSite(pageSize: 2) { site in
            let day = (ImpatientClock().now().millisecondsSince1970 / 86_400_000 - 3) * 86_400_000
            let listed = tests(9, by: site.authority, endingAt: day + 43_200_000)
            site.apple.list(listed.map(\.listed))
            let apple = site.apple
            let third = Counter()
            apple.interfere { _ in
                // The third page of the only window that has pages.
                if apple.asked.contains(where: { $0.token != nil }), third.next() == 2 { apple.expireTokens() }
                return nil
            }
            let proof = try await site.reconcile()
            #expect(third.value >= 2)
            #expect(proof.recovered == 9)
            #expect(proof.listed == 9)
            #expect(proof.unprovenWindows == 0)
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(9))
        }
    }

    @Test("refuses what Apple did not sign, counts it, and proves nothing beyond it")
    func forged() async throws {
        try await withSite { site in
            let stranger = try SimulatedAuthority.generate()
            let day = (ImpatientClock().now().millisecondsSince1970 / 86_400_000 - 3) * 86_400_000
            let listed = tests(3, by: site.authority, endingAt: day + 43_200_000)
            let forged = tests(1, by: stranger, endingAt: day + 50_000_000, lane: 2)
            site.apple.list((listed + forged).map(\.listed))
            let proof = try await site.reconcile()
            #expect(proof.refused == 1)
            #expect(proof.refusedWindows == 1)
            #expect(proof.unprovenWindows == 1)
            #expect(proof.recovered == 3)
            #expect(proof.provenUntil?.millisecondsSince1970 == day)
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(3))
            #expect(
                try await site.value("select refused_reason from storehook.history_windows where refused > 0")
                    == "untrusted_root")
            let check = try await site.check()
            #expect(check.refused == 1)
            #expect(check.missingCount == 0)
            // Once Apple lists it no more the gap closes.
            site.apple.list(listed.map(\.listed))
            let later = try await site.reconcile()
            #expect(later.unprovenWindows == 0)
            #expect(later.refused == 0)
            #expect(try #require(later.provenUntil) > #require(proof.provenUntil))
        }
    }

    @Test("asks each window once more a day after its end and its first asking, however often it is asked before")
    func again() async throws {
        try await withSite { site in
            let day = (ImpatientClock().now().millisecondsSince1970 / 86_400_000 - 3) * 86_400_000
            let listed = tests(4, by: site.authority, endingAt: day + 43_200_000)
            site.apple.list(listed.dropLast().map(\.listed))
            try await site.history.plan([Site.scope], behind: .zero, partial: true)
            let duty = try site.duty()
            while try await duty.next(of: [Site.scope]) != nil {}
            let first = site.apple.asked.count
            #expect(try await site.history.proofs().first?.recovered == 3)
            // A reconciliation by hand does not ask again what is proven. What it asks again at wish is asked later all the same.
            try await site.reconcile()
            #expect(site.apple.asked.count <= first + 1)
            try await site.reconcile(since: .earliest)
            #expect(site.apple.asked.count >= 2 * first)
            let late: PostgresQuery = """
                select count(*) = (select count(*) from storehook.history_windows)
                       and bool_and(q.due_at between w.first_asked_at + interval '23 hours'
                                                 and w.first_asked_at + interval '25 hours')
                  from storehook.history_queue q join storehook.history_windows w using (id)
                """
            #expect(try await site.value(late))
            site.apple.list(listed.map(\.listed))
            #expect(try await duty.next(of: [Site.scope]) == nil)
            // A day later.
            try await site.pool.query(
                "update storehook.history_windows set first_asked_at = first_asked_at - interval '25 hours'")
            try await site.pool.query("update storehook.history_queue set due_at = now()")
            while try await duty.next(of: [Site.scope]) != nil {}
            let proof = try #require(try await site.history.proofs().first)
            #expect(proof.recovered == 4)
            #expect(proof.listed == 4)
            // And then never by itself, but for what ended within the last day.
            #expect(
                try await site.value(
                    """
                    select count(*) = count(*) filter (where q.id is null = (w.ends_at < now() - interval '1 day'))
                      from storehook.history_windows w left join storehook.history_queue q using (id)
                    """))
        }
    }

    @Test("believes no answer that does not say whether it goes on")
    func silent() async throws {
        try await withSite { site in
            try await site.history.plan([Site.scope], behind: .zero)
            let duty = try site.duty()
            for body in ["{}", "", #"{"notificationHistory":[]}"#, #"{"hasMore":"no","notificationHistory":[]}"#] {
                site.apple.interfere { _ in .init(status: 200, body: Array(body.utf8)) }
                guard case .postponed(let why)? = try await duty.next(of: [Site.scope]) else {
                    throw NeverHappened("it is put off")
                }
                #expect(why.reason == "unreadable_answer")
            }
            #expect(
                try await site.value(
                    "select count(*) from storehook.history_windows where askings > 0 or proven_at is not null")
                    == Int64(0))
        }
    }

    @Test("gives up a list that goes on and on, and asks for its first page the next time")
    func endless() async throws {
        try await withSite { site in
            try await site.history.plan([Site.scope], behind: .zero)
            let asked = Atomic(0)
            site.apple.interfere { _ in
                let number = asked.add(1, ordering: .relaxed).newValue
                let page = #"{"notificationHistory":[],"hasMore":true,"paginationToken":"p\#(number)"}"#
                return .init(status: 200, body: Array(page.utf8))
            }
            let window = try #require(
                try await site.history.claim(for: .init(owner: "test", duration: .seconds(60)), among: [Site.scope]))
            let walk = try HistoryWalk(site.history, site.client(), mostPages: 5)
            for _ in 0..<2 {
                await #expect(throws: UnusableAnswer.endless) { try await walk.run(window) }
            }
            #expect(asked.load(ordering: .relaxed) == 10)
            #expect(
                try await site.value(
                    "select count(*) from storehook.history_windows where walk_pages > 0 or walk_token is not null")
                    == Int64(0))
        }
    }

    @Test("proves nothing that by Apple's clock has not happened yet")
    func clocks() async throws {
        try await withSite { site in
            let listed = tests(2, by: site.authority)
            site.apple.list(listed.map(\.listed))
            // The database's clock is ten minutes ahead, or Apple's behind.
            site.apple.tell(ImpatientClock().now().adding(seconds: -600))
            let early = try await site.reconcile()
            // In the first ten minutes of an hour the one before is not over for Apple either.
            #expect((1...2).contains(early.unprovenWindows))
            #expect(early.lastReason == "clock_skew")
            #expect(early.recovered == 0)
            site.apple.tell(ImpatientClock().now())
            let proof = try await site.reconcile()
            #expect(proof.unprovenWindows == 0)
            #expect(proof.recovered == 2)
        }
    }

    @Test("proves a window from where it was asked, and gives up what lies before it")
    func leaving() async throws {
        try await withSite { site in
            try await site.history.plan([Site.scope], behind: .zero)
            // As if the oldest had been made some hours ago, with others before it that no worker got round to.
            try await site.pool.query(
                """
                with oldest as (select * from storehook.history_windows order by starts_at limit 1), moved as (
                    update storehook.history_windows w set starts_at = w.starts_at - interval '3 hours'
                      from oldest where w.id = oldest.id
                )
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at)
                select environment, bundle_id, starts_at - interval '4 hours', starts_at - interval '3 hours' from oldest
                """)
            let duty = try site.duty()
            while try await duty.next(of: [Site.scope]) != nil {}
            let proof = try #require(try await site.history.proofs().first)
            #expect(proof.unprovenWindows == 0)
            #expect(
                proof.provenFrom?.millisecondsSince1970
                    == site.apple.asked.map(\.start).min(), "it is proven from where it was asked")
        }
    }

    @Test("is put off while Apple is away, and done afterwards")
    func away() async throws {
        try await withSite { site in
            let listed = tests(4, by: site.authority)
            site.apple.list(listed.map(\.listed))
            site.apple.interfere { _ in throw TransportFault.notConnected }
            try await site.history.plan([Site.scope], behind: .zero, partial: true)
            let duty = try site.duty()
            guard case .postponed(let why)? = try await duty.next(of: [Site.scope]) else {
                throw NeverHappened("it is put off")
            }
            #expect(why.reason == "unreachable")
            #expect(why.isGeneral)
            guard case .inTrouble = try await duty.step() else { throw NeverHappened("the loop rests") }
            // Nothing that is no window's fault counts against it: Apple may be away for months.
            #expect(try await site.value("select max(attempts)::bigint from storehook.history_queue") == Int64(0))
            #expect(try await site.history.proofs().first?.provenUntil == nil)
            #expect(try await site.history.proofs().first?.lastReason == "unreachable")
            site.apple.interfere(nil)
            try await site.pool.query("update storehook.history_queue set due_at = now()")
            while try await duty.next(of: [Site.scope]) != nil {}
            let proof = try #require(try await site.history.proofs().first)
            #expect(proof.recovered == 4)
            #expect(proof.unprovenWindows == 0)
            #expect(proof.lastReason == nil)
        }
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
