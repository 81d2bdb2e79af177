import EvidenceStore
import Foundation
import NIOHTTP1
import Postgres
import Receiver
import Synchronization
import TestSupport
import Testing

@Suite("While the database misbehaves, the receiver")
struct FaultTests {
    /// Runs a receiver that reaches its database through a proxy.
    private func withProxied(
        adjusting adjust: (inout ReceiverConfiguration) -> Void = { _ in },
        _ body: (RunningReceiver, DatabaseProxy) async throws -> Void
    ) async throws {
        let made = Mutex<DatabaseProxy?>(nil)
        try await withReceiver(
            url: { database in
                let proxy = try await DatabaseProxy(to: database)
                made.withLock { $0 = proxy }
                return proxy.url
            }, timeout: .seconds(2), adjusting: adjust
        ) { receiver in
            guard let proxy = made.withLock({ $0 }) else { throw NeverHappened("the proxy is made") }
            try await body(receiver, proxy)
        }
        made.withLock { $0?.refuse() }
    }

    private func expectUnavailable(_ receiver: RunningReceiver) async throws {
        let answer = try await receiver.post(envelope("while.it.was.away"))
        #expect(answer.status == 503)
        let retryAfter = try #require(answer.headers["Retry-After"].first)
        #expect(Int(retryAfter).map { $0 > 0 } == true)
        #expect(answer.body == #"{"error":"the database is unavailable"}"#)
        #expect(try await receiver.send("GET", "/healthz").status == 200)
    }

    private func expectRecovery(_ receiver: RunningReceiver) async throws {
        try await eventually("200 again") { try await receiver.post(envelope("it.is.back")).status == 200 }
        #expect(try await receiver.stored().last == "it.is.back")
    }

    @Test("answers 503 with Retry-After while it refuses connections, and 200 again by itself", arguments: 1...2)
    func refusing(rounds: Int) async throws {
        try await withProxied { receiver, proxy in
            #expect(try await receiver.post(envelope("before")).status == 200)
            for _ in 0..<rounds {
                proxy.refuse()
                try await expectUnavailable(receiver)
                try proxy.serve()
                try await expectRecovery(receiver)
            }
        }
    }

    @Test("answers 503 while it has fallen silent, and 200 again by itself")
    func silent() async throws {
        try await withProxied { receiver, proxy in
            #expect(try await receiver.post(envelope("before")).status == 200)
            proxy.fallSilent()
            try await expectUnavailable(receiver)
            try proxy.serve()
            try await expectRecovery(receiver)
        }
    }

    @Test("loses nothing that it answered 200 when every connection is cut again and again")
    func terminated() async throws {
        try await withReceiver { receiver in
            let accepted = AcceptedPosts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in 0..<8 {
                    group.addTask {
                        var number = 0
                        while !accepted.isOver {
                            let jws = "s.\(sender).\(number)"
                            if try await receiver.post(envelope(jws)).status == 200 { accepted.insert(jws) }
                            number += 1
                        }
                    }
                }
                group.addTask {
                    defer { accepted.close() }
                    for _ in 0..<15 {
                        // By progress, not by time: each cut meets posts under way.
                        let before = accepted.all.count
                        try await eventually("some more are stored") { accepted.all.count >= before + 10 }
                        try await receiver.observer.query(
                            """
                            select count(pg_terminate_backend(pid)) from pg_stat_activity
                             where datname = current_database() and pid <> pg_backend_pid()
                               and query like '%nextval(''storehook.outbox_id'')%'
                            """)
                    }
                }
                try await group.waitForAll()
            }
            let stored = Set(try await receiver.stored())
            let answered = accepted.all
            #expect(answered.subtracting(stored).isEmpty)
            try await expectRecovery(receiver)
            let counted = try await receiver.outbox.conservation()
            #expect(counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("answers 503 when as much waits as may, and takes more when the database goes on")
    func full() async throws {
        try await withProxied(adjusting: { $0.limits.waitingBytes = 10_000 }) { receiver, proxy in
            proxy.fallSilent()
            // One of them waits for the silent database, and there is no room for a second.
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await receiver.post(envelope(String(repeating: "a", count: 6_000))) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 503 && $0.headers["Retry-After"].count == 1 })
            #expect(answers.contains { $0.body == #"{"error":"the receiver is full"}"# })
            #expect(answers.contains { $0.body == #"{"error":"the database is unavailable"}"# })
            try proxy.serve()
            try await expectRecovery(receiver)
        }
    }

    @Test("stores many posts at once in far fewer commits, every one of them")
    func manyAtOnce() async throws {
        try await withReceiver { receiver in
            // An insert that waits shows what collects behind it.
            let held = try await HeldTransaction(
                in: receiver.database, "lock table storehook.outbox_queue in share row exclusive mode")
            let posts = 60
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<posts {
                    group.addTask { try await receiver.post(envelope("m.\(number)")).status }
                }
                try await eventually("a commit waits") {
                    try await !receiver.observer.query(
                        """
                        select 1 from pg_locks where not granted and relation = 'storehook.outbox_queue'::regclass
                           and database = (select oid from pg_database where datname = current_database())
                        """
                    ).isEmpty
                }
                try await held.release()
                for try await status in group { #expect(status == 200) }
            }
            let stored = try await receiver.stored()
            #expect(Set(stored) == Set((0..<posts).map { "m.\($0)" }))
            #expect(stored.count == posts)
            // All rows of one commit were received at its one instant.
            let commits = try await receiver.observer.query("select distinct received_at from storehook.outbox").count
            #expect(commits < posts)
        }
    }
}
