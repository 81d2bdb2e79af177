import EventStore
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("Deliveries by workers that are killed")
struct DeliveryKillTests {
    @Test("arrive in each account's order, none missing, at a receiver that fails a third of its calls")
    func killed() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let settings = try makeEndpointSettings(in: directory).merging([
                    "STOREHOOK_LISTEN": "off", "STOREHOOK_LEASE_SECONDS": "1",
                ]) { $1 }
                // A third fails or is cut, some are slow: so that there are always calls under way when a worker is killed.
                let receiver = try await WebhookReceiver.start { post in
                    switch post.number % 9 {
                    case 0: .status(500)
                    case 3: .close
                    case 6: .slow(.milliseconds(40), 503)
                    default: .slow(.milliseconds(20), 204)
                    }
                }
                let added = try await site.run(
                    "endpoints", "add", "http://127.0.0.1:\(receiver.port)/", with: settings)
                #expect(added.ending == .exited(0), "\(added.errors)")
                let (accounts, each) = takesAllSamples ? (40, 30) : (12, 10)
                // As migrating does: who numbers events here looks at them all, and must not while they are moved.
                _ = try await EventStore(site.pool).ensurePartitions()
                var workers = try (0..<3).map { _ in try site.start(["work"], settings) }
                let token = { (number: Int) in EndpointSite.token(number).uuidString.lowercased() }
                for round in 0..<each {
                    for account in 1...accounts { try await site.pool.query(EndpointSite.writing(of: account)) }
                    while try await EventStore(site.pool).place() > 0 {}
                    guard round % 5 == 4 else { continue }
                    // The worker that is killed has calls in hand.
                    let before = receiver.posts.count
                    try await eventually("calls go on") { receiver.posts.count > before + 20 }
                    let victim = workers.removeFirst()
                    await victim.discard()
                    workers.append(try site.start(["work"], settings))
                }
                // The test does not wait for what is put off: the schedule is not what this is about.
                try await eventually("all of it is delivered", within: .seconds(180)) {
                    try await site.pool.query(
                        """
                        update storehook.delivery_queue set due_at = now(), attempts = 0
                         where lease_token is null and due_at > now()
                        """)
                    return try await site.value("select count(*) from storehook.deliveries", as: Int64.self)
                        == Int64(accounts * each)
                }
                for worker in workers { await worker.discard() }
                let taken = receiver.posts.filter { $0.status == 204 }
                for account in 1...accounts {
                    var seen: Set<String> = []
                    // What came twice, because its worker was killed before it could say so, has the same name.
                    let first = taken.filter {
                        ($0.data("account") as? String)?.lowercased() == token(account) && seen.insert($0.id).inserted
                    }
                    #expect(first.compactMap { $0.data("sequence") as? Int } == Array(1...each), "account \(account)")
                }
                #expect(
                    try await site.value(
                        "select count(*) from storehook.deliveries where outcome = 'dead'", as: Int64.self) == 0)
            }
        }
    }
}
