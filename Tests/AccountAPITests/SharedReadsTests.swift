import AccountAPI
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("Shared reads")
struct SharedReadsTests {
    /// Answers questions when it is told to, and remembers what was asked together.
    private final class Source: Sendable {
        private let asked = Mutex<[(keys: [Int], answer: CheckedContinuation<Void, any Error>)]>([])
        private let batches = Mutex<[[Int]]>([])

        var all: [[Int]] { batches.withLock(\.self) }

        func read(_ keys: [Int]) async throws -> [String] {
            batches.withLock { $0.append(keys) }
            try await withCheckedThrowingContinuation { answer in asked.withLock { $0.append((keys, answer)) } }
            return keys.map { "\($0)" }
        }

        /// Lets the oldest question that is open be answered, or fail.
        func answer(_ error: (any Error)? = nil) async throws {
            try await eventually("something is asked") { asked.withLock { !$0.isEmpty } }
            let first = asked.withLock { $0.removeFirst() }
            if let error { first.answer.resume(throwing: error) } else { first.answer.resume() }
        }
    }

    private struct Broken: Error {}

    @Test("those that come while as many statements as may be are under way are read together by the next one")
    func together() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            most: 5, fewStatements: 2, dozen: 1, mostStatements: 2, limit: .seconds(60), read: source.read)
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<2 {
                group.addTask { (number, try await reads.value(of: number)) }
                try await eventually("it is asked at once") { source.all.count == number + 1 }
            }
            for number in 2..<9 {
                group.addTask { (number, try await reads.value(of: number)) }
            }
            // From outside it does not show that callers wait, but only that nothing is asked.
            try await Task.sleep(for: .milliseconds(50))
            #expect(source.all.count == 2)
            for _ in 0..<4 { try await source.answer() }
            for try await (number, value) in group { #expect(value == "\(number)") }
        }
        #expect(source.all.map(\.count).sorted() == [1, 1, 2, 5])
        #expect(source.all.joined().sorted() == Array(0..<9))
    }

    @Test("a read that was asked for after a statement had begun is not answered by it")
    func later() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 1, limit: .seconds(60), read: source.read)
        async let first = reads.value(of: 7)
        try await eventually("it is asked") { source.all == [[7]] }
        async let second = reads.value(of: 7)
        try await source.answer()
        #expect(try await first == "7")
        try await source.answer()
        #expect(try await second == "7")
        #expect(source.all == [[7], [7]])
    }

    @Test("what is wrong with one is told to that one alone")
    func alone() async throws {
        let reads = SharedReads<Int, String>(fewStatements: 1, mostStatements: 1) { keys in
            // Long enough for the others to come together.
            try await Task.sleep(for: .milliseconds(20))
            if keys.contains(3) { throw Broken() }
            return keys.map { "\($0)" }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    if number == 3 {
                        await #expect(throws: Broken.self) { try await reads.value(of: number) }
                    } else {
                        let value = try? await reads.value(of: number)
                        #expect(value == "\(number)")
                    }
                }
            }
        }
    }

    @Test("a database that is not available is so to all of a statement, and is not asked for each of them again")
    func transient() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 1, limit: .seconds(60), read: source.read)
        let away = PostgresError(.connection, "away")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask { await #expect(throws: PostgresError.self) { try await reads.value(of: number) } }
            }
            let answering = Task { while !Task.isCancelled { try? await source.answer(away) } }
            await group.waitForAll()
            answering.cancel()
        }
        #expect(source.all.joined().sorted() == [0, 1, 2, 3])
    }

    @Test("a silent database ends the wait of all, those that were not asked for yet too")
    func silent() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 1, limit: .seconds(60), read: source.read)
        let first = Task { try await reads.value(of: 1) }
        try await eventually("it is asked") { source.all.count == 1 }
        let others = (2..<5).map { number in Task { try await reads.value(of: number) } }
        try await Task.sleep(for: .milliseconds(50))
        try await source.answer(DatabaseWatch.Silence())
        await #expect(throws: DatabaseWatch.Silence.self) { try await first.value }
        for other in others { await #expect(throws: DatabaseWatch.Silence.self) { try await other.value } }
        #expect(source.all == [[1]])
    }

    @Test("whoever asks for the same while it waits is answered by the same read")
    func same() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 1, limit: .seconds(60), read: source.read)
        let first = Task { try await reads.value(of: 1) }
        try await eventually("it is asked") { source.all.count == 1 }
        let others = (0..<50).map { _ in Task { try await reads.value(of: 2) } }
        try await Task.sleep(for: .milliseconds(50))
        try await source.answer()
        try await source.answer()
        #expect(try await first.value == "1")
        for other in others { #expect(try await other.value == "2") }
        #expect(source.all == [[1], [2]])
    }

    @Test(
        "where a statement could not read so many in its time, the next ones read fewer, and more again once they can")
    func fewer() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            most: 8, fewStatements: 1, mostStatements: 1, limit: .seconds(60), read: source.read)
        /// Asks for as many at once, behind one that is under way.
        func ask(_ count: Int, failing error: PostgresError?) async throws {
            let before = source.all.count
            let first = Task { try await reads.value(of: -1) }
            try await eventually("it is asked") { source.all.count == before + 1 }
            let others = (0..<count).map { number in Task { try await reads.value(of: number) } }
            try await Task.sleep(for: .milliseconds(50))
            try await source.answer()
            _ = try await first.value
            let answering = Task { while !Task.isCancelled { try? await source.answer(error) } }
            for other in others { _ = await other.result }
            answering.cancel()
        }
        try await ask(8, failing: PostgresError(.timeout, "too slow"))
        try await ask(8, failing: nil)
        try await ask(8, failing: nil)
        #expect(source.all.map(\.count) == [1, 8, 1, 4, 4, 1, 8])
    }

    @Test("nobody waits behind others for longer than he may, and no more wait than may")
    func bounds() async throws {
        let source = Source()
        let instant = Mutex(ContinuousClock.now)
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 1, mostWaiters: 3, limit: .seconds(1),
            clock: { instant.withLock(\.self) }, read: source.read)
        let first = Task { try await reads.value(of: 1) }
        try await eventually("it is asked") { source.all.count == 1 }
        let waiting = (2..<5).map { number in Task { try await reads.value(of: number) } }
        try await Task.sleep(for: .milliseconds(50))
        await #expect(throws: PostgresError.self) { try await reads.value(of: 5) }
        instant.withLock { $0 += .seconds(2) }
        try await source.answer()
        #expect(try await first.value == "1")
        for task in waiting { await #expect(throws: PostgresError.self) { try await task.value } }
        #expect(source.all == [[1]])
    }

    @Test("where statements are slow, more of them are under way, also if nobody else comes")
    func slow() async throws {
        let source = Source()
        let instant = Mutex(ContinuousClock.now)
        let reads = SharedReads<Int, String>(
            fewStatements: 1, mostStatements: 3, slow: .milliseconds(5), limit: .seconds(60),
            clock: { instant.withLock(\.self) }, read: source.read)
        let first = Task { try await reads.value(of: 0) }
        try await eventually("it is asked") { source.all.count == 1 }
        let second = Task { try await reads.value(of: 1) }
        let third = Task { try await reads.value(of: 2) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(source.all.count == 1)
        // No other caller comes.
        instant.withLock { $0 += .milliseconds(6) }
        try await eventually("a second statement reads those who wait") { source.all.count == 2 }
        for _ in 0..<2 { try await source.answer() }
        #expect(try await [first.value, second.value, third.value] == ["0", "1", "2"])
        #expect(source.all.map { $0.sorted() } == [[0], [1, 2]])
    }

    @Test("while a statement is under way, a second one begins once enough wait to share it")
    func dozen() async throws {
        let source = Source()
        let reads = SharedReads<Int, String>(
            fewStatements: 2, dozen: 4, mostStatements: 2, slow: .seconds(60), limit: .seconds(60), read: source.read)
        let first = Task { try await reads.value(of: 0) }
        try await eventually("it is asked") { source.all.count == 1 }
        let others = (1..<4).map { number in Task { try await reads.value(of: number) } }
        try await Task.sleep(for: .milliseconds(50))
        #expect(source.all.count == 1)
        let last = Task { try await reads.value(of: 4) }
        try await eventually("those who wait are read beside it") { source.all.count == 2 }
        #expect(source.all.last?.sorted() == [1, 2, 3, 4])
        for _ in 0..<2 { try await source.answer() }
        for task in [first, last] + others { _ = try await task.value }
    }
}
