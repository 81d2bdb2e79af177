import HTTPKit
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@Suite("The operations port")
struct OperationsServerTests {
    private func withServer(
        readiness: @escaping @Sendable () async -> String?,
        _ body: (@escaping @Sendable (_ method: HTTPMethod, _ path: String) async throws -> Answer) async throws -> Void
    ) async throws {
        try await HTTPServingTests.withServer(
            { onListening in
                OperationsServer(
                    host: "127.0.0.1", port: 0, logger: quiet, readiness: readiness, exposition: { ("text/x", "page") },
                    onListening: onListening)
            }, body)
    }

    @Test("is alive whatever happens, ready when it is told so, and says plainly why it is not")
    func health() async throws {
        let why = Mutex<String?>("the worker rests")
        try await withServer(readiness: { why.withLock(\.self) }) { request in
            #expect(try await request(.GET, "/healthz").status == 200)
            let refusal = try await request(.GET, "/readyz")
            #expect(refusal.status == 503 && refusal.body == #"{"error":"the worker rests"}"#)
            why.withLock { $0 = nil }
            #expect(try await request(.GET, "/readyz").status == 200)
            #expect(try await request(.HEAD, "/readyz").status == 200)
            #expect(try await request(.GET, "/metrics").body == "page")
            #expect(try await request(.GET, "/metrics").headers["Content-Type"] == ["text/x"])
            #expect(try await request(.POST, "/metrics").status == 405)
            #expect(try await request(.GET, "/").status == 404)
        }
    }

    @Test("asks once, however many ask it whether it is ready")
    func cached() async throws {
        let asked = Atomic(0)
        let reading = CachedReading(every: .seconds(600), maxWait: .seconds(600), maxAge: .seconds(600)) {
            asked.add(1, ordering: .relaxed)
            return true
        }
        try await withServer(readiness: { await reading.answer().isAnswered ? nil : "no answer" }) { request in
            try await withThrowingTaskGroup(of: UInt.self) { group in
                for _ in 0..<50 { group.addTask { try await request(.GET, "/readyz").status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(asked.load(ordering: .relaxed) == 1)
        }
    }
}
