import Synchronization
import TestSupport
import Testing

@testable import HTTPKit

@Suite("A receiver that has not seen its schema")
struct SchemaGateTests {
    private struct Away: Error {}

    /// What a look at the schema brings, as a test sets it.
    private final class Schema: Sendable {
        let state = Mutex<Result<String?, Away>>(.failure(Away()))
        func look() throws -> String? { try state.withLock(\.self).get() }
        func become(_ result: Result<String?, Away>) { state.withLock { $0 = result } }
    }

    @Test("is not ready and lets nothing through: not while the database is away, not into a schema that does not fit")
    func gate() async throws {
        let schema = Schema()
        let gate = SchemaGate(logger: quiet) { try schema.look() }
        await #expect(throws: Away.self) { try await gate.pass() }
        #expect(gate.whyClosed == "the database's schema has not been seen yet")
        schema.become(.success("it is another one"))
        await #expect(throws: SchemaGate.Closed.self) { try await gate.pass() }
        #expect(gate.whyClosed == "it is another one")
        schema.become(.success(nil))
        try await gate.pass()
        #expect(gate.whyClosed == nil)
        // Once seen, it is not asked for again.
        schema.become(.failure(Away()))
        try await gate.pass()
    }

    @Test("opens by itself")
    func opens() async throws {
        let schema = Schema()
        let gate = SchemaGate(interval: .milliseconds(1), logger: quiet) { try schema.look() }
        let running = Task { try await gate.run() }
        schema.become(.success(nil))
        try await eventually("it is open") { gate.whyClosed == nil }
        running.cancel()
        try await running.value
    }
}
