import Logging
import Synchronization
import TestSupport
import Testing

@testable import HTTPKit

@Suite("A value that is read again every few seconds")
struct RefresherTests {
    private struct Away: Error {}

    /// What a reading brings, as a test sets it; and pauses that each end when the test says so.
    private final class Source: Sendable {
        let result = Mutex<Result<Int, Away>>(.success(1))
        let pauses: AsyncStream<Duration>
        private let begun: AsyncStream<Duration>.Continuation
        private let ends: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation

        init() {
            (pauses, begun) = AsyncStream.makeStream()
            (ends, end) = AsyncStream.makeStream()
        }

        func read() throws -> Int { try result.withLock(\.self).get() }
        func become(_ next: Result<Int, Away>) { result.withLock { $0 = next } }
        func endPause() { end.yield() }

        @Sendable func sleep(_ duration: Duration) async throws {
            begun.yield(duration)
            for await _ in ends { return }
            throw CancellationError()
        }
    }

    @Test("is read at once and then once each interval, and stays while its source is away, which is said once")
    func rounds() async throws {
        let source = Source()
        let log = RecordedLog()
        let start = ContinuousClock.now
        let now = Mutex(start)
        let refresher = Refresher(
            every: .seconds(100), warning: "Could not read", logger: log.logger, clock: { now.withLock(\.self) },
            sleep: source.sleep
        ) { try source.read() }
        #expect(refresher.latest == nil)
        let running = Task { try await refresher.run() }
        var pauses = source.pauses.makeAsyncIterator()
        let results: [(Result<Int, Away>, latest: Int, age: Int, lines: Int)] = [
            (.success(1), 1, 0, 0), (.success(2), 2, 1, 0), (.failure(Away()), 2, 1, 1), (.failure(Away()), 2, 1, 1),
            (.success(3), 3, 4, 1), (.failure(Away()), 3, 4, 2),
        ]
        for (round, expected) in results.enumerated() {
            let pause = try #require(await pauses.next())
            #expect((.seconds(75)...(.seconds(125))).contains(pause))
            let latest = try #require(refresher.latest)
            #expect(latest.value == expected.latest && latest.begunAt == start + .seconds(expected.age), "\(round)")
            #expect(log.lines("Could not read").count == expected.lines, "\(round)")
            now.withLock { $0 += .seconds(1) }
            if round + 1 < results.count { source.become(results[round + 1].0) }
            source.endPause()
        }
        running.cancel()
        try await running.value
    }

    @Test("tells who reads it now that its source is away, and keeps the value of before")
    func refreshed() async throws {
        let source = Source()
        let refresher = Refresher(every: .seconds(1), warning: "Could not read", logger: quiet) { try source.read() }
        try await refresher.refresh()
        source.become(.failure(Away()))
        await #expect(throws: Away.self) { try await refresher.refresh() }
        #expect(refresher.latest?.value == 1)
    }
}
