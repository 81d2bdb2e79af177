import HTTPKit
import Synchronization
import TestSupport
import Testing

@Suite("What a scrape asks the database")
struct CachedReadingTests {
    /// A question whose answers are given by hand.
    private final class Source: Sendable {
        private struct State {
            var asked = 0
            var pending: [CheckedContinuation<Int, any Error>] = []
        }
        private let state = Mutex(State())
        var asked: Int { state.withLock(\.asked) }

        func ask() async throws -> Int {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.asked += 1
                    state.pending.append(continuation)
                }
            }
        }

        func answer(_ result: Result<Int, any Error>) {
            for continuation in state.withLock({ state in
                defer { state.pending = [] }
                return state.pending
            }) { continuation.resume(with: result) }
        }
    }

    private struct Away: Error {}

    private func reading(
        _ source: Source, every interval: Duration = .seconds(600), maxWait: Duration = .seconds(600)
    ) -> CachedReading<Int> {
        CachedReading(every: interval, maxWait: maxWait, maxAge: .seconds(600)) { try await source.ask() }
    }

    @Test("is asked once for all who wait, and not again while the answer is new")
    func once() async throws {
        let source = Source()
        let reading = reading(source)
        async let answers = withTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 { group.addTask { await reading.answer().value } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await eventually("it is asked") { source.asked > 0 }
        source.answer(.success(7))
        #expect(await answers == Array(repeating: 7, count: 20))
        #expect(await reading.answer().value == 7)
        #expect(source.asked == 1)
    }

    @Test("is not waited for for ever: the last answer stands in, and is told apart from a failure")
    func maxWait() async throws {
        let source = Source()
        let reading = reading(source, every: .zero, maxWait: .milliseconds(1))
        let nothing = await reading.answer()
        #expect(nothing.value == nil && !nothing.isAnswered)
        source.answer(.success(1))
        // Asked again by each look, and hung from now on.
        try await eventually("the answer came") { await reading.answer().value == 1 }
        #expect(await reading.answer().isAnswered)
        try await eventually("it hangs again") { await reading.answer().value == 1 && source.asked == 2 }
        source.answer(.failure(Away()))
        try await eventually("the failure came") { await !reading.answer().isAnswered }
        #expect(await reading.answer().value == 1)
        source.answer(.success(2))
    }

    @Test("gives nothing when it never worked")
    func never() async throws {
        let source = Source()
        let reading = reading(source)
        async let answer = reading.answer()
        try await eventually("it is asked") { source.asked == 1 }
        source.answer(.failure(Away()))
        #expect(await answer.value == nil)
        #expect(await !answer.isAnswered)
        #expect(source.asked == 1)
    }
}
