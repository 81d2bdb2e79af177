import HTTPKit
import TestSupport
import Testing

@testable import APIKit

@Suite("Room for long bodies")
struct LargeBodiesTests {
    private let megabyte = 1 << 20

    @Test("is had up to the budget; the next waits, in order, and gets it as soon as there is some")
    func order() async throws {
        let bodies = LargeBodies(budget: 16 * megabyte, patience: .seconds(60))
        let first = try await bodies.room(for: megabyte, of: "a")
        let second = try await bodies.room(for: megabyte, of: "b")
        async let long = bodies.room(for: 2 * megabyte, of: "c")
        try await eventually("the long one waits") { bodies.waitingCount == 1 }
        // It would fit now, but not before the one that came earlier.
        async let short = bodies.room(for: 100_000, of: "d")
        try await eventually("the short one waits behind it") { bodies.waitingCount == 2 }
        first.release()
        #expect(bodies.waitingCount == 2)
        second.release()
        try await long.release()
        try await short.release()
        #expect(bodies.waitingCount == 0)
        // All of it is free again.
        try await bodies.room(for: 2 * megabyte, of: "a").release()
    }

    @Test("is refused after a while, to a caller's third, and where too many wait")
    func refusals() async throws {
        let bodies = LargeBodies(budget: 8 * megabyte, patience: .milliseconds(20))
        let room = try await bodies.room(for: megabyte, of: "a")
        await expectBusy { try await bodies.room(for: 1, of: "b") }
        await expectBusy { try await bodies.room(for: 1, of: "a") }
        // Those that were refused no longer count for their callers.
        room.release()
        let rooms = [try await bodies.room(for: 100_000, of: "a"), try await bodies.room(for: 100_000, of: "a")]
        await expectBusy { try await bodies.room(for: 100_000, of: "a") }
        rooms[0].release()
        try await bodies.room(for: 100_000, of: "a").release()
        rooms[1].release()

        let patient = LargeBodies(budget: 8, patience: .seconds(60))
        let only = try await patient.room(for: 1, of: nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<LargeBodies.mostWaiting {
                group.addTask { try await patient.room(for: 1, of: nil).release() }
            }
            try await eventually("as many wait as may") { patient.waitingCount == LargeBodies.mostWaiting }
            await expectBusy { try await patient.room(for: 1, of: nil) }
            only.release()
            try await group.waitForAll()
        }
    }

    @Test("is had for a body that needs more than the budget, by itself; and one whose sender went is passed by")
    func alone() async throws {
        let bodies = LargeBodies(budget: megabyte, patience: .seconds(60))
        let large = try await bodies.room(for: 100 * megabyte, of: "a")
        let gone = Task { try await bodies.room(for: 100 * megabyte, of: "b").release() }
        try await eventually("it waits") { bodies.waitingCount == 1 }
        async let next = bodies.room(for: 1, of: "c")
        try await eventually("another waits behind it") { bodies.waitingCount == 2 }
        gone.cancel()
        await expectBusy { try await gone.value }
        large.release()
        try await next.release()
        try await bodies.room(for: 100 * megabyte, of: "b").release()
    }

    private func expectBusy(_ body: () async throws -> some Any) async {
        do {
            _ = try await body()
            Issue.record("it had room")
        } catch {
            if case BodyRefusal.busy = error {} else { Issue.record("\(error)") }
        }
    }
}
