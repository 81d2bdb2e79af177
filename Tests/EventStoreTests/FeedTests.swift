import AppStorePayloads
import Base
import EventStore
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import Synchronization
import TestSupport
import Testing

@Suite("The order that readers follow")
struct FeedTests {
    @Test("a reader that follows it past a transaction that is still open gets what that wrote when it commits")
    func lateCommitter() async throws {
        try await EventDatabase.with { site in
            let late = try await HeldTransaction(in: site.database, writingEvents())
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: nil)])
            let first = try await site.feed()
            #expect(first.map(\.position) == [1] && first.map(\.kind) == ["subscription.started"])
            try await late.release()
            let second = try await site.feed()
            #expect(second.map(\.position) == [1, 2] && second.last?.kind == "test")
            // The one that came later in the feed was written first.
            #expect((second.last?.id ?? 0) < (first.last?.id ?? 0))
        }
    }

    @Test("with eight writers and three placers at once a reader misses none, and every order is kept without a gap")
    func concurrent() async throws {
        try await EventDatabase.with { site in
            let (writers, rounds, people) = (8, 12, 5)
            let writing = Writing()
            let read = try await withThrowingTaskGroup(of: [PlacedEvent].self) { group in
                group.addTask {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for writer in 0..<writers {
                            group.addTask {
                                for round in 0..<rounds {
                                    let number = writer * rounds + round
                                    try await site.apply([
                                        Records.period(
                                            purchase(number), from: -1, to: 29, account: token(number % people),
                                            renews: round.isMultiple(of: 2)),
                                        Records.period(
                                            purchase(1000 + number % 3), from: -1 - Int64(number * 30),
                                            to: 29 - Int64(number * 30), account: nil, number: number),
                                    ])
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    writing.isOver.store(true, ordering: .sequentiallyConsistent)
                    return []
                }
                for _ in 0..<3 {
                    group.addTask {
                        while !writing.isOver.load(ordering: .sequentiallyConsistent) {
                            try await site.events.place(atMost: 5)
                        }
                        return []
                    }
                }
                group.addTask {
                    var all: [PlacedEvent] = []
                    while true {
                        let isLast = writing.isOver.load(ordering: .sequentiallyConsistent)
                        if isLast { while try await site.events.place() > 0 {} }
                        let page = try await site.events.events(after: all.last?.position ?? 0, limit: 50)
                        all += page
                        if isLast, page.isEmpty { return all }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let written: Int64 = try await site.value("select count(*) from storehook.events")
            #expect(Int64(read.count) == written && written > Int64(writers * rounds))
            #expect(Set(read.map(\.id)).count == read.count)
            #expect(read.map(\.position) == Array(1...Int64(read.count)))
            let orders = Dictionary(grouping: read) { $0.token?.description ?? $0.originalTransactionID ?? "" }
            #expect(orders.count == people + 3)
            for events in orders.values {
                #expect(events.map(\.sequence) == Array(1...Int64(events.count)))
            }
        }
    }

    @Test("who goes on from a cursor gets what comes after it, or is told that this is not known")
    func cursors() async throws {
        try await EventDatabase.with { site in
            let nothing = try await site.events.page(after: nil, limit: 10)
            #expect(nothing.events.isEmpty && nothing.next == 0 && nothing.newest == 0)
            try await site.pool.query(writingEvents(6, bytes: 1000))
            try await site.pool.query(writingEvents(4, of: UUID(token(1))))
            // What was placed is not what was written.
            #expect(try await site.events.page(after: 0, limit: 10).events.isEmpty)
            try await site.events.place()
            func page(_ cursor: Int64?, _ limit: Int, upTo most: Int = .max) async throws -> [Int64] {
                let page = try await site.events.page(after: cursor, limit: limit, upTo: most)
                #expect(page.newest == 10)
                return page.events.map(\.position) + [page.next]
            }
            #expect(try await page(nil, 3) == [1, 2, 3, 3])
            #expect(try await page(3, 1000) == [4, 5, 6, 7, 8, 9, 10, 10])
            #expect(try await page(10, 1000) == [10])
            #expect(try await page(0, 1000, upTo: 2500) == [1, 2, 3, 3])
            #expect(try await page(0, 1000, upTo: 1) == [1, 1])
            await #expect(throws: FeedRefusal.ahead(newest: 10)) { try await page(11, 1) }
            // Of one account.
            let own = try await site.events.page(after: 1, limit: 3, of: token(1))
            #expect(own.events.map(\.position) == [7, 8, 9] && own.next == 9)
            #expect(try await site.events.page(after: own.next, limit: 3, of: token(1)).events.map(\.position) == [10])
            #expect(try await site.events.page(after: 1, limit: 3, of: token(2)).next == 10)
            #expect(try await site.events.latest(2, of: token(1)).events.map(\.position) == [9, 10])
            #expect(try await site.events.latest(2).events.map(\.position) == [9, 10])
            // What is not kept any more is told, and never jumped over.
            try await site.pool.query("delete from storehook.event_places where position <= 4")
            #expect(try await page(nil, 2) == [5, 6, 6])
            #expect(try await page(4, 2) == [5, 6, 6])
            for cursor in [0, 3] as [Int64] {
                await #expect(throws: FeedRefusal.gone(oldest: 4)) { try await page(cursor, 1) }
                await #expect(throws: FeedRefusal.gone(oldest: 4)) {
                    try await site.events.page(after: cursor, limit: 1, of: token(1))
                }
            }
            #expect(try await site.events.latest(100).events.map(\.position) == [5, 6, 7, 8, 9, 10])
            // One that was written on a day before and committed on the next goes with its day.
            try await site.pool.query("delete from storehook.event_places where position = 7")
            #expect(try await page(4, 10) == [5, 6, 6])
            await #expect(throws: FeedRefusal.gone(oldest: 7)) { try await page(6, 10) }
            try await site.pool.query("delete from storehook.event_places")
            await #expect(throws: FeedRefusal.gone(oldest: 10)) { try await page(9, 1) }
            #expect(try await page(nil, 1) == [10])
        }
    }

    @Test("who reads on from the middle of what one transaction told misses nothing and gets nothing twice")
    func transactions() async throws {
        try await EventDatabase.with { site in
            try await site.pool.query(writingEvents(7, together: 7))
            try await site.events.place(atMost: 3)
            try await site.pool.query(writingEvents(1))
            try await site.pool.query(writingEvents(40, of: UUID(token(1)), together: 13))
            // Whole transactions: the last one goes beyond, and what comes after it waits.
            #expect(try await site.events.place(atMost: 2) == 14)
            #expect(try await site.events.place() == 27)
            let all = try await site.events.events(after: 0, limit: 1000)
            #expect(all.map(\.position) == Array(1...48) && all.map(\.id) == all.map(\.id).sorted())
            for limit in [1, 6, 7, 13, 1000] {
                for cursor in 0...48 {
                    let read = try await site.events.events(after: Int64(cursor), limit: limit)
                    #expect(read == Array(all[cursor...].prefix(limit)), "after \(cursor), at most \(limit)")
                }
            }
            let own = try await site.events.page(after: 20, limit: 1000, of: token(1))
            #expect(own.events == Array(all[20...]))
            #expect(try await site.events.latest(3, of: token(1)).events == Array(all[45...]))
            #expect(try await site.events.latest(30).events == Array(all[18...]))
            // A day's go whole.
            try await site.pool.query("delete from storehook.event_places where position <= 8")
            #expect(try await site.events.bounds().oldest == 8)
            await #expect(throws: FeedRefusal.gone(oldest: 8)) { try await site.events.page(after: 7, limit: 1) }
            #expect(try await site.events.page(after: 8, limit: 1).events == [all[8]])
        }
    }

    @Test("days get their partitions, with what had come before them")
    func partitions() async throws {
        try await EventDatabase.with { site in
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: nil)])
            #expect(try await site.value("select count(*) from storehook.events_default") == 1 as Int64)
            #expect(try await site.events.ensurePartitions(daysAhead: 2) == 4)
            #expect(try await site.events.ensurePartitions(daysAhead: 2) == 0)
            #expect(try await site.value("select count(*) from storehook.events_default") == 0 as Int64)
            #expect(try await site.feed().count == 1)
        }
    }
}

/// Whether writers are at it, for those beside them.
private final class Writing: Sendable {
    let isOver = Atomic(false)
}
