import AccountAPI
import AccountStore
import AppStorePayloads
import EventStore
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("The feed of events")
struct EventFeedTests {
    /// A feed that looks for news so often, a reader of it, and the database that events are written to.
    private struct Site: Sendable {
        let api: RunningAPI
        let events: EventStore
        let key: String

        func get(_ query: String) async throws -> Answer { try await api.get("/v1/events" + query, token: key) }

        /// Writes events and places them.
        func tell(_ count: Int = 1, bytes: Int = 10) async throws {
            try await api.observer.query(writingEvents(count, bytes: bytes))
            try await events.place()
        }

        func untilWaiting(_ count: Int) async throws {
            try await eventually("\(count) wait") { api.feed?.waiters == count }
        }
    }

    private func withFeed<T: Sendable>(
        every interval: Duration = .seconds(3600), mostWaiters: Int = 100,
        url: (@Sendable (TestDatabase) async throws -> String)? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Site) async throws -> T
    ) async throws -> T {
        try await withAPI(
            url: url,
            feed: { pool, watch in
                EventFeed(
                    EventStore(pool), connections: 4, watch: watch, mostWaiters: mostWaiters, interval: interval,
                    logger: quiet)
            },
            { api in
                let key = try await api.serverKey().key.text
                return try await body(Site(api: api, events: EventStore(api.observer), key: key))
            })
    }

    @Test("lists what comes after a cursor, in the form of a delivery, and says where to go on")
    func pages() async throws {
        try await withFeed { site in
            #expect(try await site.get("?wait=0").body == #"{"events":[],"next":0,"newest":0}"#)
            try await site.tell(150)
            let first = try #require(try await site.get("").object)
            let events = try #require(first.objects("events"))
            #expect(events.count == 100 && first.integer("next") == 100 && first.integer("newest") == 150)
            let placed = try await site.events.events(after: 0, limit: 2)
            let body = try #require(placed.last?.json(previousSequence: 1))
            let answer = try await site.get("?after=1&limit=1").body
            #expect(
                answer
                    == #"{"events":[{"id":"evt_\#(placed[1].id)","cursor":2,"#
                    + body.dropFirst() + #"],"next":2,"newest":150}"#)
            #expect(try await site.get("?after=100&limit=1000").object?.objects("events")?.count == 50)
        }
    }

    @Test("is for servers, refuses what it does not take, and tells a reader whose cursor leads nowhere")
    func refusals() async throws {
        try await withFeed { site in
            try await site.tell(5)
            let app = try await site.api.get("/v1/events", token: site.api.signer.token())
            #expect(app.status == 403 && app.code == "server_key_required")
            #expect(try await site.api.get("/v1/events").status == 401)
            for query in ["limit=0", "limit=1001", "after=-1", "after=x", "wait=31"] {
                #expect(try await site.get("?" + query).code == "invalid_request", "\(query)")
            }
            let ahead = try await site.get("?after=6")
            #expect(ahead.status == 400 && ahead.code == "cursor_unknown" && ahead.object?.integer("newest") == 5)
            try await site.api.observer.query("delete from storehook.event_places where position <= 3")
            let gone = try await site.get("?after=2")
            #expect(gone.status == 410 && gone.code == "events_gone" && gone.object?.integer("oldest") == 3)
            #expect(try await site.get("?after=3&limit=1").object?.integer("next") == 4)
            #expect(try await site.get("?limit=1").object?.integer("next") == 4)
        }
    }

    @Test("an answer holds so many bytes and no more, and the next one what was left out")
    func bytes() async throws {
        try await withFeed { site in
            try await site.tell(40, bytes: 60_000)
            var (cursor, count, answers) = (Int64(0), 0, 0)
            while count < 40 {
                let answer = try await site.get("?after=\(cursor)&limit=1000&wait=0")
                #expect(answer.body.utf8.count < 1_300_000)
                let page = try #require(answer.object)
                count += page.objects("events")?.count ?? 0
                cursor = page.integer("next") ?? 0
                answers += 1
            }
            #expect(count == 40 && cursor == 40 && answers == 3)
        }
    }

    @Test("who waits is told at once when it is said that there is news")
    func hints() async throws {
        try await withFeed { site in
            try await site.tell()
            async let answer = site.get("?after=1")
            try await site.untilWaiting(1)
            // Of something else.
            site.api.feed?.hint()
            try await site.tell()
            site.api.feed?.hint()
            #expect(try await answer.object?.integer("next") == 2)
            #expect(site.api.feed?.waiters == 0)
        }
    }

    @Test("who waits is told soon where nobody says so")
    func polls() async throws {
        try await withFeed(every: .milliseconds(20)) { site in
            async let answer = site.get("")
            try await site.untilWaiting(1)
            try await site.tell()
            #expect(try await answer.object?.integer("next") == 1)
        }
    }

    @Test("any number wait without a connection to the database, and beyond a bound are told to come back")
    func waiters() async throws {
        try await withFeed(mostWaiters: 6) { site in
            try await site.tell()
            try await withThrowingTaskGroup(of: Int64?.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await site.get("?after=1").object?.integer("next") }
                }
                try await site.untilWaiting(6)
                let refused = try await site.get("?after=1")
                #expect(refused.status == 503 && refused.header("Retry-After") == "5")
                // There are four connections.
                #expect(try await site.get("?after=0").status == 200)
                try await site.tell()
                site.api.feed?.hint()
                for try await next in group { #expect(next == 2) }
            }
        }
    }

    @Test("while the database is away who waits is told so")
    func away() async throws {
        let made = Mutex<DatabaseProxy?>(nil)
        defer { made.withLock { $0?.refuse() } }
        try await withFeed(
            every: .milliseconds(20),
            url: { database in
                let proxy = try await DatabaseProxy(to: database)
                made.withLock { $0 = proxy }
                return proxy.url
            }
        ) { site in
            async let answer = site.get("?after=0")
            try await site.untilWaiting(1)
            try #require(made.withLock { $0 }).fallSilent()
            let told = try await answer
            #expect(told.status == 503 && told.code == "unavailable", "\(told.body)")
        }
    }

    @Test("a graceful stop ends the waiting at once, with an answer")
    func stop() async throws {
        let answer = try await withFeed { site in
            let answer = Task { try await site.get("?after=0") }
            try await site.untilWaiting(1)
            return answer
        }
        #expect(try await answer.value.body == #"{"events":[],"next":0,"newest":0}"#)
    }

    @Test(
        "with eight writers at once, some of whom commit late, who follows the cursor misses nothing",
        arguments: sampled([1, 2] as [UInt64]))
    func writers(seed: UInt64) async throws {
        try await withFeed(every: .milliseconds(20)) { site in
            let (rounds, writers) = (4, 8)
            let reader = Task {
                var read: [String] = []
                var cursor: Int64 = 0
                while true {
                    let page = try #require(try await site.get("?after=\(cursor)&limit=3").object)
                    let events = try #require(page.objects("events"))
                    read += events.compactMap { $0.string("id") }
                    let next = try #require(page.integer("next"))
                    #expect(next == cursor + Int64(events.count))
                    cursor = next
                    // The last one is written alone, after all others; where nothing comes, something is lost.
                    if page.integer("newest") == cursor, read.count > rounds * writers * 2 || events.isEmpty {
                        return read
                    }
                }
            }
            var random = SeededGenerator(seed: seed)
            for _ in 0..<rounds {
                // All of them have written, in this order, and none has committed.
                var held: [HeldTransaction] = []
                for _ in 0..<writers {
                    held.append(try await HeldTransaction(in: site.api.database, writingEvents(2)))
                }
                for transaction in held.shuffled(using: &random) {
                    try await transaction.release()
                    // What is placed by now is read before the events of transactions that wrote earlier and commit later.
                    try await site.events.place()
                }
            }
            try await site.tell()
            let read = try await reader.value
            let written = try await site.api.observer.query("select 'evt_' || id from storehook.events")
                .map { try $0.decode(0, as: String.self) }
            #expect(Set(read) == Set(written) && read.count == written.count)
            // It was put to the test: they did not commit in the order in which they had written.
            #expect(read != read.sorted { ($0.count, $0) < ($1.count, $1) })
        }
    }
}
