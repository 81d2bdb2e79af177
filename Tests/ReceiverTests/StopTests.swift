import Foundation
import HTTPKit
import Postgres
import Receiver
import ServiceLifecycle
import TestSupport
import Testing

@Suite("Stopping the receiver")
struct StopTests {
    @Test("answers and stores what is in flight; what it refuses is not taken for stored")
    func inFlight() async throws {
        try await withReceiver(adjusting: { $0.http.stopDeadline = .seconds(3) }) { receiver in
            let held = try await HeldTransaction(
                in: receiver.database, "lock table storehook.outbox_queue in share row exclusive mode")
            let accepted = AcceptedPosts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        // A connection refused or cut without an answer is a refusal.
                        let answer = try? await receiver.post(envelope("f.\(number)"))
                        if answer?.status == 200 { accepted.insert("f.\(number)") }
                    }
                }
                try await eventually("a commit waits") {
                    try await !receiver.observer.query(
                        """
                        select 1 from pg_locks where not granted and relation = 'storehook.outbox_queue'::regclass
                           and database = (select oid from pg_database where datname = current_database())
                        """
                    ).isEmpty
                }
                await receiver.services.triggerGracefulShutdown()
                try await eventually("no new connections") {
                    (try? await onThread { try TCPSocket(port: receiver.port).close() }) == nil
                }
                try await held.release()
                try await group.waitForAll()
            }
            let answered = accepted.all
            #expect(!answered.isEmpty)
            let stored = Set(try await receiver.stored())
            #expect(answered.isSubset(of: stored))
        }
    }

    @Test("under load loses nothing that was answered 200")
    func underLoad() async throws {
        try await withReceiver(adjusting: { $0.http.stopDeadline = .seconds(3) }) { receiver in
            let accepted = AcceptedPosts()
            await withTaskGroup { group in
                for sender in 0..<8 {
                    group.addTask {
                        for number in 0... {
                            let jws = "l.\(sender).\(number)"
                            guard let answer = try? await receiver.post(envelope(jws)), answer.status == 200 else {
                                return
                            }
                            let count = accepted.insert(jws)
                            if count == 100 { await receiver.services.triggerGracefulShutdown() }
                        }
                    }
                }
            }
            let answered = accepted.all
            #expect(answered.count >= 100)
            let stored = Set(try await receiver.stored())
            #expect(answered.isSubset(of: stored))
        }
    }

    @Test("does not wait for connections that stand idle")
    func idleConnections() async throws {
        try await withReceiver { receiver in
            let port = receiver.port
            let socket = try await onThread {
                let socket = try TCPSocket(port: port, readTimeout: 300)
                try socket.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try socket.receive(until: "\r\n\r\n")
                return socket
            }
            await receiver.services.triggerGracefulShutdown()
            // It is the receiver that ends the connection; the test would wait for it for ever.
            #expect(try await onThread { socket.receiveToEnd() }.isEmpty)
            socket.close()
        }
    }
}
