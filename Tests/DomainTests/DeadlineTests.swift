import Base
import Testing

@Suite("Work with a deadline")
struct DeadlineTests {
    private struct Broken: Error {}

    @Test("returns what the work returns, or throws what it throws")
    func work() async throws {
        #expect(try await withDeadline(.now + .seconds(600)) { 7 } == 7)
        #expect(try await withDeadline(nil) { 7 } == 7)
        await #expect(throws: Broken.self) { _ = try await withDeadline(.now + .seconds(600)) { throw Broken() } }
    }

    @Test("is cancelled at the deadline, and returns nothing")
    func late() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let value = try await withDeadline(.now - .seconds(1)) {
            try? await Task.sleep(for: .seconds(600))
            end.yield()
            try Task.checkCancellation()
            return 7
        }
        #expect(value == nil)
        // The work has ended by then.
        end.finish()
        #expect(await ended.reduce(into: 0) { count, _ in count += 1 } == 1)
    }

    @Test("of a cancelled task is over at once: that is no deadline that has come")
    func cancelled() async {
        let task = Task { try await withDeadline(.now + .seconds(600)) { try await Task.sleep(for: .seconds(600)) } }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}
