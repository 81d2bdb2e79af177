import AccountAPI
import Foundation
import Logging
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import APIKit

/// Statements may take ten minutes here: a caller that is answered before that is answered because the database does not answer.
@Suite("A database that falls silent")
struct SilenceTests {
    private struct Away: Error {}

    private static func withProxy<T: Sendable>(
        _ body: (Shop, DatabaseProxy) async throws -> T
    ) async throws -> T {
        let made = Mutex<DatabaseProxy?>(nil)
        defer { made.withLock { $0?.refuse() } }
        return try await Shop.open(
            statementLimit: .seconds(600),
            url: { database in
                let proxy = try await DatabaseProxy(to: database)
                made.withLock { $0 = proxy }
                return proxy.url
            }
        ) { shop in
            try await body(shop, try #require(made.withLock { $0 }))
        }
    }

    @Test("is not waited for by anybody, whatever was asked, and answers as before once it is back")
    func everybody() async throws {
        try await Self.withProxy { shop, proxy in
            let token = try await shop.api.signer.token(of: "alice")
            let bought = shop.buy(lane: 70, for: "alice").transaction
            #expect(try await shop.standing(of: "alice") == "free free")
            proxy.fallSilent()
            let requests: [(method: String, path: String, body: String?)] = [
                ("GET", "/v1/subscriptions/status", nil), ("GET", "/v1/features", nil),
                ("POST", "/v1/subscriptions/verify", #"{"signedTransactionInfo":"\#(bought)"}"#),
                ("POST", "/v1/usage/words", #"{"amount":1}"#), ("POST", "/v1/subscriptions/trial/start", "{}"),
                ("PUT", "/v1/consents/consumption", #"{"granted":false}"#),
            ]
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<5 {
                    for (method, path, body) in requests {
                        group.addTask { try await shop.api.send(method, path, token: token, body: body) }
                    }
                }
                for try await answer in group {
                    #expect(answer.status == 503 && answer.code == "unavailable", "\(answer.body)")
                    #expect(answer.header("Retry-After").flatMap { Int($0) }.map { $0 > 0 } == true)
                }
            }
            try proxy.serve()
            try await eventually("it is answered again") {
                try await shop.verify(bought, as: "alice").status == 200
            }
            #expect(try await shop.standing(of: "alice") == "pro active")
        }
    }

    @Test("is another thing than a statement that takes long: who waits for a lock goes on waiting, and is served")
    func slow() async throws {
        let asked = Atomic(0)
        try await Shop.open(
            statementLimit: .seconds(600), onAsk: { asked.add(1, ordering: .relaxed) }
        ) { shop in
            let started = try await shop.post("/v1/subscriptions/trial/start", as: "alice")
            #expect(started.status == 200)
            let held = try await HeldTransaction(
                in: shop.api.database, "select 1 from storehook.accounts for update")
            let answer = Task { try await shop.verify(shop.buy(lane: 71, for: "alice").transaction, as: "alice") }
            // It has waited for long enough to be asked about, more than once.
            try await eventually("the database was asked whether it answers") {
                asked.load(ordering: .relaxed) >= 2
            }
            try await held.release()
            let verified = try await answer.value
            #expect(verified.status == 200, "\(verified.body)")
        }
    }

    @Test("lets go of whoever waits for it, and cancels what they have begun")
    func watch() async throws {
        let watch = DatabaseWatch(logger: quiet) { throw Away() }
        let running = Task { try await watch.run() }
        defer { running.cancel() }
        let isCancelled = Atomic(false)
        await #expect(throws: DatabaseWatch.Silence.self) {
            try await watch.watching {
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(600)) }
                isCancelled.store(true, ordering: .relaxed)
            }
        }
        try await eventually("it was cancelled") { isCancelled.load(ordering: .relaxed) }
        #expect(try await watch.watching { 7 } == 7)
        await #expect(throws: Away.self) { try await watch.watching { throw Away() } }
    }
}
