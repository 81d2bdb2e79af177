import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import EvidenceStore

/// These start many processes: side by side they would starve each other.
@Suite("The programs under faults", .serialized)
struct FaultTests {
    private func stored(_ site: Site) async throws -> [String] {
        let rows = try await site.pool.query(
            "select int2send(packing) || body from storehook.outbox order by id", deadline: .seconds(60))
        return try await SignatureHeaders().open(rows.map { try $0.decode(0) }, site.pool).map {
            String(decoding: try #require(try $0?.body.get()), as: UTF8.self)
        }
    }

    private func expectConserved(_ site: Site) async throws {
        let counted = try await site.outbox.conservation()
        #expect(counted.missing == 0 && counted.doubled == 0, "\(counted)")
    }

    @Test("a receiver killed in the middle of posts has stored every one that it answered 200")
    func killedReceiver() async throws {
        try await withSite { site in
            let filling = String(repeating: "x", count: 4000)
            let sender = try await site.with(["receive", "--port", "0"]) { receiver in
                let sender = Sender(endless: { "kill.\($0).\(filling)" }, port: try #require(receiver.port))
                async let posting: Void = sender.run()
                try await eventually("some are answered") { sender.answered.count >= 300 }
                receiver.signal(SIGKILL)
                #expect(await receiver.end() == .signalled(SIGKILL))
                await posting
                return sender
            }
            let answered = sender.answered
            let kept = try await stored(site)
            #expect(Set(answered).isSubset(of: Set(kept)))
            try await expectConserved(site)
            // Stored and queued are one: what is in the outbox is on the queue.
            #expect(try await site.outbox.conservation().pending == Int64(kept.count))
        }
    }

    @Test("a receiver told to stop under load ends with 0, and has stored every one that it answered 200")
    func stoppedReceiver() async throws {
        try await withSite { site in
            let sender = try await site.with(["receive", "--port", "0"]) { receiver in
                let sender = Sender(endless: { "stop.\($0)" }, port: try #require(receiver.port))
                async let posting: Void = sender.run()
                try await eventually("some are answered") { sender.answered.count >= 100 }
                receiver.signal(SIGTERM)
                #expect(await receiver.end() == .exited(0))
                await posting
                return sender
            }
            let kept = Set(try await stored(site))
            #expect(Set(sender.answered).isSubset(of: kept))
        }
    }

    @Test("a worker told to stop ends with 0, idle or busy, and leaves nothing leased")
    func stoppedWorker() async throws {
        try await withSite { site in
            let simulation = Simulation(seed: 4, notifications: 300, endingAt: Site.now)
            try await site.with(["work", "--batch", "10"]) { worker in
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
            }
            try await site.outbox.store(simulation.signedDeliveries(by: site.authority).map { Array($0.utf8) })
            try await site.with(["work", "--batch", "10"]) { worker in
                try await eventually("it has begun") {
                    try await !site.pool.query("select 1 from storehook.notifications limit 1").isEmpty
                }
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
            }
            #expect(try await site.outbox.depth().first { $0.state == .leased }?.count == 0)
            try await expectConserved(site)
            #expect(
                try await site.value(
                    "select coalesce(max(attempts), 0)::bigint from storehook.outbox_queue", as: Int64.self) == 0)
        }
    }

    @Test("a receiver and a worker go on by themselves when every connection is cut, again and again")
    func cutConnections() async throws {
        try await withSite { site in
            let simulation = Simulation(seed: 9, subscribers: 20, notifications: 300, endingAt: Site.now)
            let texts = Array(simulation.signedDeliveries(by: site.authority))
            let answered = try await site.with(["receive", "--port", "0"]) { receiver in
                try await site.with(["work", "--batch", "20"], ["STOREHOOK_LEASE_SECONDS": "2"]) { worker in
                    let sender = Sender(endless: { texts[$0 % texts.count] }, port: try #require(receiver.port))
                    async let posting: Void = sender.run(connections: 4)
                    for round in 1...5 {
                        try await eventually("some more are answered") { sender.answered.count >= round * 20 }
                        _ = try await site.pool.query(
                            """
                            select count(pg_terminate_backend(pid)) from pg_stat_activity
                             where datname = current_database() and pid <> pg_backend_pid()
                               and application_name = 'storehook'
                            """)
                    }
                    sender.stop()
                    await posting
                    // Now that the storm is over, a post must succeed without anything being started anew.
                    let last = Sender([texts[0]], port: sender.port)
                    try await eventually("200 again") {
                        let again = Sender([texts[0]], port: last.port)
                        await again.run(connections: 1)
                        return !again.answered.isEmpty
                    }
                    try await site.untilDone()
                    #expect(receiver.ending == nil && worker.ending == nil)
                    return sender.answered
                }
            }
            let kept = Set(try await stored(site))
            #expect(Set(answered).isSubset(of: kept))
            try await expectConserved(site)
            #expect(try await site.outbox.conservation().dead == 0)
        }
    }

    @Test("four workers, one killed now and then, end in the very state of one that nobody disturbed")
    func killedWorkers() async throws {
        let seed: UInt64 = 2026
        let (all, most) = takesAllSamples ? (1000, 8) : (500, 4)
        let once = all * 8 / 10
        let chaos = Simulation(
            seed: seed, subscribers: 60, notifications: all, duplicatePercent: 20, order: .shuffled, endingAt: Site.now
        )
        let texts = Array(chaos.signedDeliveries(by: try await Site.authority.value))
        // The first delivery of each, which is all that the repeats are made of.
        var seen = Set<String>()
        let unique = texts.filter { seen.insert($0).inserted }
        #expect(unique.count == once)

        let calm = try await withSite { site in
            try await site.outbox.store(unique.map { Array($0.utf8) })
            try await site.with(["work"]) { _ in try await site.untilDone() }
            let counted = try await site.outbox.conservation()
            #expect(counted.applied + counted.parked == Int64(once))
            return try await site.subscriptions()
        }
        #expect(!calm.isEmpty)

        try await withSite { site in
            try await site.outbox.store(texts.map { Array($0.utf8) })
            var generator = SeededGenerator(seed: seed)
            func start() throws -> ChildProgram {
                try site.start(["work", "--batch", "20"], ["STOREHOOK_LEASE_SECONDS": "2"])
            }
            var workers = try (0..<4).map { _ in try start() }
            var kills = 0
            do {
                for round in 1...most {
                    // By progress, not by time: a slow machine sees as many deaths in the middle of work as a fast one.
                    try await eventually("more is done", within: .seconds(150)) {
                        try await site.value("select count(*) from storehook.outbox_queue", as: Int64.self)
                            <= Int64(all - round * 90)
                    }
                    let victim = Int.random(in: 0..<4, using: &generator)
                    workers[victim].signal(SIGKILL)
                    if await workers[victim].end() == .signalled(SIGKILL) { kills += 1 }
                    await workers[victim].discard()
                    workers[victim] = try start()
                }
                try await site.untilDone()
            } catch {
                for worker in workers { await worker.discard() }
                throw error
            }
            for worker in workers {
                worker.signal(SIGTERM)
                await worker.end()
                await worker.discard()
            }
            #expect(kills == most)
            let counted = try await site.outbox.conservation()
            #expect(counted.received == Int64(all) && counted.duplicate == Int64(all - once))
            #expect(counted.applied + counted.parked == Int64(once))
            #expect(counted.dead == 0 && counted.missing == 0 && counted.doubled == 0)
            #expect(
                try await site.value(
                    "select count(distinct notification_uuid) from storehook.notifications", as: Int64.self)
                    == Int64(once))
            #expect(try await site.subscriptions() == calm)
        }
    }

    @Test("nothing of a payload is ever in a log, also where things fail, but what the line of an applied one names")
    func silentLogs() async throws {
        try await withSite { site in
            let token = "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"
            var subscriber = SimulatedSubscriber(appAccountToken: token, lane: 1, seed: 1)
            let line = subscriber.buy(.premiumMonthly, at: Site.now - 10_000_000)
            subscriber.switchAutoRenew(line, on: false, at: Site.now - 5_000_000)
            let notifications = subscriber.takeNotifications()
            let texts = notifications.map { $0.signed(by: site.authority) }
            // The database refuses one of them, and says which row it was.
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create function storehook.refuse() returns trigger language plpgsql as $$ begin
                        if new.type = 'DID_CHANGE_RENEWAL_STATUS' then
                            raise exception 'row %', new using errcode = '22000', detail = new::text;
                        end if;
                        return new;
                    end $$;
                    create trigger refuse before insert on storehook.notifications
                       for each row execute function storehook.refuse();
                    """)
            }
            let environment = ["STOREHOOK_LOG_LEVEL": "trace"]
            let logs = try await site.with(["receive", "--port", "0"], environment) { receiver in
                try await site.with(["work"], environment) { worker in
                    let sender = Sender(texts + ["junk.\(token).junk"], port: try #require(receiver.port))
                    await sender.run(connections: 1)
                    #expect(sender.answered.count == 3)
                    try await site.untilDone()
                    return receiver.errors + receiver.output + worker.errors + worker.output
                }
            }
            let letters = try await site.outbox.deadLetters(DeadLetterFilter(), limit: 9)
            #expect(letters.map(\.reason).sorted() == ["malformed", "sqlstate_22000"])
            let said = logs + letters.map(\.message).joined(separator: "\n")
            let parts = texts.flatMap { $0.split(separator: ".").map { String($0.dropFirst(20).prefix(40)) } }
            let names = [token, subscriber[subscriber.latest(of: line)].transactionId]
            #expect(logs.contains("\"message\""))
            for part in parts { #expect(!said.contains(part), "\(part)") }
            let others = said.split(separator: "\n").filter { !$0.contains(#""message":"Applied a notification""#) }
            for name in names { #expect(others.allSatisfy { !$0.contains(name) }, "\(name)") }
            for line in logs.split(separator: "\n") {
                #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) is [String: String], "\(line)")
            }
        }
    }
}
