import EvidenceStore
import Logging
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Receiver

@Suite("A body of notifications version 1")
struct OldPostTests {
    /// As Apple posts it, the app's shared secret included.
    private static let body = """
        {"notification_type":"DID_RENEW","password":"hunter2","environment":"PROD","bid":"com.example.storehook",\
        "bvrs":"1","auto_renew_product_id":"pro","auto_renew_status":"true","unified_receipt":{"status":0,\
        "latest_receipt":"MII=","latest_receipt_info":[],"pending_renewal_info":[]}}
        """

    /// The clock and the database of a test's own.
    private final class Surroundings: Sendable {
        let now = Mutex(ContinuousClock.now)
        let isAway = Mutex(true)
        let notes = Mutex(0)
    }

    @Test("is 400 and kept nowhere, and that somebody posts it is noted for the doctor")
    func posted() async throws {
        try await withReceiver(adjusting: { $0.oldPostInterval = .milliseconds(20) }) { receiver in
            #expect(try await receiver.outbox.lastOldPost() == nil)
            for _ in 0..<3 {
                let answer = try await receiver.post(Self.body)
                #expect(answer.status == 400 && answer.body.contains("version 1"), "\(answer.body)")
                #expect(!answer.body.contains("hunter2"))
            }
            try await eventually("it is noted") { try await receiver.outbox.lastOldPost() != nil }
            #expect(try #require(try await receiver.outbox.lastOldPost()).age < .seconds(60))
            #expect(try await receiver.stored().isEmpty)
            // Another body that is none of Apple's is not taken for one.
            try await receiver.observer.query("delete from storehook.old_posts")
            #expect(try await receiver.post(#"{"notificationType":"TEST"}"#).status == 400)
            #expect(try await receiver.outbox.lastOldPost() == nil)
        }
    }

    @Test("is logged once an hour however many come, and told to the database until it has heard of it")
    func logged() async throws {
        let logged = RecordedLog()
        var warnings: [RecordedLog.Line] { logged.lines.filter { $0.level == .warning } }
        let around = Surroundings()
        let posts = OldPosts(every: .seconds(1), logger: logged.logger, clock: { around.now.withLock { $0 } }) {
            if around.isAway.withLock({ $0 }) { throw CancellationError() }
            around.notes.withLock { $0 += 1 }
        }
        await posts.record()
        for _ in 0..<1000 { posts.saw() }
        #expect(warnings.count == 1 && warnings[0].message.contains("version 1"))
        await posts.record()
        around.isAway.withLock { $0 = false }
        for _ in 0..<3 { await posts.record() }
        #expect(around.notes.withLock { $0 } == 1)
        around.now.withLock { $0 += .seconds(3599) }
        posts.saw()
        #expect(warnings.count == 1)
        around.now.withLock { $0 += .seconds(1) }
        posts.saw()
        #expect(warnings.count == 2)
    }
}
