import Foundation
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Receiver

@Suite("Group commit")
struct GroupCommitTests {
    struct Broken: Error {}

    /// A store that a test holds up, and that remembers its groups.
    private final class Store: Sendable {
        private struct State {
            var groups: [[[UInt8]]] = []
            var isHeld: Bool
            var waiting: [CheckedContinuation<Void, Never>] = []
        }
        private let state: Mutex<State>

        init(held: Bool) { state = Mutex(State(isHeld: held)) }

        var groups: [[[UInt8]]] { state.withLock(\.groups) }

        func store(_ bodies: [[UInt8]]) async throws {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    state.groups.append(bodies)
                    if state.isHeld { state.waiting.append(continuation) }
                    return !state.isHeld
                }
                if goesOn { continuation.resume() }
            }
            if bodies.contains(where: { $0.first == 0xFF }) { throw Broken() }
        }

        func letGo() {
            let waiting = state.withLock { state in
                state.isHeld = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Runs a group commit over `store` while `body` lasts.
    private func with(
        _ store: Store, _ limits: GroupCommit.Limits = GroupCommit.Limits(),
        _ body: (GroupCommit, ServiceGroup) async throws -> Void
    ) async throws {
        let commit = GroupCommit(limits: limits, logger: quiet) { bodies, _ in try await store.store(bodies) }
        let services = ServiceGroup(services: [commit], logger: quiet)
        let running = Task { try await services.run() }
        try await body(commit, services)
        store.letGo()
        await services.triggerGracefulShutdown()
        try await running.value
    }

    /// How a commit of `body` ends.
    private func end(_ commit: GroupCommit, _ body: [UInt8]) async -> GroupCommit.Refusal? {
        do {
            try await commit.commit(body)
            return nil
        } catch {
            return error as? GroupCommit.Refusal
        }
    }

    @Test("turns what comes while a commit is under way into one more commit, in its order")
    func groups() async throws {
        let store = Store(held: true)
        try await with(store) { commit, _ in
            async let first: Void = commit.commit([1])
            try await eventually("the first is under way") { store.groups.count == 1 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 2..<200 { group.addTask { try await commit.commit([UInt8(number)]) } }
                // They are all in line before the first one's commit returns; the line is not visible from outside.
                try await eventually("all are in line") { commit.waitingCount == 198 + 1 }
                store.letGo()
                try await group.waitForAll()
            }
            try await first
            #expect(store.groups.count == 2)
            #expect(store.groups[0] == [[1]])
            #expect(Set(store.groups[1]) == Set((2..<200).map { [UInt8($0)] }))
        }
    }

    @Test("keeps each commit within its rows and bytes, and a body larger than that goes alone")
    func bounds() async throws {
        var limits = GroupCommit.Limits()
        limits.commitRows = 3
        limits.commitBytes = 10
        let store = Store(held: true)
        let bodies: [[UInt8]] = (0..<40).map { Array(repeating: 1, count: [1, 4, 9, 20][$0 % 4]) }
        try await with(store, limits) { commit, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for body in bodies { group.addTask { try await commit.commit(body) } }
                try await eventually("all are in line") { commit.waitingCount == bodies.count }
                store.letGo()
                try await group.waitForAll()
            }
        }
        #expect(store.groups.flatMap(\.self).count == bodies.count)
        for group in store.groups {
            #expect(group.count <= 3)
            #expect(group.count == 1 || group.reduce(0) { $0 + $1.count } <= 10)
        }
    }

    @Test("refuses what would wait beyond its bytes, and takes more once there is room")
    func full() async throws {
        var limits = GroupCommit.Limits()
        limits.waitingBytes = 10
        let store = Store(held: true)
        try await with(store, limits) { commit, _ in
            async let six = end(commit, Array(repeating: 1, count: 6))
            try await eventually("the first is under way") { store.groups.count == 1 }
            #expect(await end(commit, Array(repeating: 2, count: 5)) == .full)
            async let four = end(commit, Array(repeating: 3, count: 4))
            try await eventually("both are counted") { commit.waitingCount == 2 }
            #expect(await end(commit, [4]) == .full)
            store.letGo()
            #expect(await six == nil)
            #expect(await four == nil)
            #expect(await end(commit, Array(repeating: 5, count: 10)) == nil)
        }
    }

    @Test("fails exactly the group whose commit failed")
    func failure() async throws {
        let store = Store(held: true)
        try await with(store) { commit, _ in
            async let first = end(commit, [1])
            try await eventually("the first is under way") { store.groups.count == 1 }
            async let broken = end(commit, [0xFF])
            async let neighbour = end(commit, [2])
            try await eventually("both are in line") { commit.waitingCount == 3 }
            store.letGo()
            #expect(await first == nil)
            #expect(await broken == .unavailable)
            #expect(await neighbour == .unavailable)
            #expect(await end(commit, [3]) == nil)
        }
    }

    @Test("when stopped refuses newcomers and commits what it had accepted")
    func stop() async throws {
        let store = Store(held: true)
        try await with(store) { commit, services in
            async let first = end(commit, [1])
            try await eventually("the first is under way") { store.groups.count == 1 }
            async let second = end(commit, [2])
            try await eventually("the second is in line") { commit.waitingCount == 2 }
            await services.triggerGracefulShutdown()
            try await eventually("the stop has come through") { commit.isStopping }
            #expect(await end(commit, [3]) == .stopping)
            store.letGo()
            #expect(await first == nil)
            #expect(await second == nil)
            #expect(store.groups == [[[1]], [[2]]])
        }
    }

    @Test("when cancelled ends, and leaves nobody waiting", .timeLimit(.minutes(1)))
    func cancelled() async throws {
        let store = Store(held: true)
        let commit = GroupCommit(logger: quiet) { bodies, _ in try await store.store(bodies) }
        let running = Task { try await commit.run() }
        async let first = end(commit, [1])
        try await eventually("the first is under way") { store.groups.count == 1 }
        async let second = end(commit, [2])
        try await eventually("the second is in line") { commit.waitingCount == 2 }
        running.cancel()
        try await eventually("the cancellation has come through") { commit.isStopping }
        #expect(await end(commit, [3]) == .stopping)
        store.letGo()
        #expect(await first == nil)
        // Whether a cancelled store still stores is the store's business; an answer comes anyway.
        _ = await second
        try await running.value
        #expect(await end(commit, [4]) == .stopping)
    }
}
