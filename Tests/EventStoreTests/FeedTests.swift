import AppStorePayloads
import EventStore
import Foundation
import Ledger
import Postgres
import Subscriptions
import Synchronization
import TestSupport
import Testing

@Suite("The order that readers follow")
struct FeedTests {
    @Test("a reader that follows it past a transaction that is still open gets what that wrote when it commits")
    func lateCommitter() async throws {
        try await EventDatabase.with { site in
            let written: PostgresQuery = """
                with event as (
                    insert into storehook.events (kind, environment, original_transaction_id, sequence, at, is_late,
                                                  is_correction, content)
                    values ('test', 'Production', '1', 1, now(), false, false, '"a":1') returning id, told_at
                )
                insert into storehook.events_unplaced (id, told_at) select id, told_at from event
                """
            let late = try await HeldTransaction(in: site.database, written)
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
