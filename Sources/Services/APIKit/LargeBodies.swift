import Base
package import HTTPKit
import Synchronization

/// Bounds the memory that long bodies take while they are read and answered.
///
/// A receipt of an old app may have 4 MiB, and reading, decoding and asking Apple about it holds it several times. So each
/// body beyond ``shortest`` needs room first: its share of a budget, until it is answered. Where there is none it waits, in
/// the order of arrival; bodies up to that length never do. One caller has at most ``mostOfOneCaller``, so that none takes
/// the room of all.
package final class LargeBodies: Sendable {
    /// Bodies up to this length need no room, in bytes: as long as a signed transaction and renewal info with much to spare.
    package static let shortest = 64 << 10
    /// How many one caller may have, read and waiting.
    package static let mostOfOneCaller = 2
    /// How many may wait.
    static let mostWaiting = 64
    /// How many bytes of memory one byte of a body takes at most while it is read and answered: the array that it is read
    /// into, the text, what that decodes to, the row that keeps it and the question to Apple, each with its encoded form.
    static let memoryPerByte = 8

    private struct Waiter {
        var number: UInt64
        var bytes: Int
        var caller: String?
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var waiting: [Waiter] = []
        var ofCallers: [String: Int] = [:]
        var lastNumber: UInt64 = 0
    }

    private let budget: Int
    private let patience: Duration
    private let state: Mutex<State>

    /// A budget.
    /// - Parameters:
    ///   - budget: how many bytes of memory all of them may take together. A body that needs more by itself is read while
    ///     no other is.
    ///   - patience: how long one waits for room. A sender has the server's deadline of a request for all of it, and needs
    ///     the rest of that to send.
    package init(budget: Int, patience: Duration = .seconds(4)) {
        self.budget = budget
        self.patience = patience
        state = Mutex(State(free: budget))
    }

    /// The room of one body; given back by ``release()``.
    package struct Room: Sendable {
        fileprivate let bodies: LargeBodies
        fileprivate let bytes: Int
        fileprivate let caller: String?

        /// Gives it back. Once: the caller has read and answered.
        package func release() { bodies.release(self) }
    }

    /// Waits for room for a body of at most so many bytes.
    /// - Parameter caller: whose it is; nil for callers that are not counted.
    /// - Throws: ``HTTPKit/BodyRefusal/busy`` where none came in time, too many wait, or the caller has as many as it may.
    package func room(for bytes: Int, of caller: String?) async throws(BodyRefusal) -> Room {
        let room = Room(
            bodies: self, bytes: min(bytes.multipliedReportingOverflow(by: Self.memoryPerByte).partialValue, budget),
            caller: caller)
        let number = state.withLock { state -> UInt64? in
            if let caller {
                guard state.ofCallers[caller, default: 0] < Self.mostOfOneCaller else { return nil }
                state.ofCallers[caller, default: 0] += 1
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { throw .busy }
        guard await wait(room, number) else {
            state.withLock { Self.leave(room.caller, &$0) }
            throw .busy
        }
        return room
    }

    /// How many wait for room.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether it got its room. `withDeadline` could not say so where both come at once, and the room would be lost.
    private func wait(_ room: Room, _ number: UInt64) async -> Bool {
        let patience = patience
        let timer = Task { [weak self] in
            try await Task.sleep(for: patience)
            self?.giveUp(number)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDecided: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.waiting.isEmpty, state.free >= room.bytes {
                        state.free -= room.bytes
                        return true
                    }
                    guard state.waiting.count < Self.mostWaiting else { return false }
                    state.waiting.append(
                        Waiter(number: number, bytes: room.bytes, caller: room.caller, continuation: continuation))
                    return nil
                }
                if let isDecided { continuation.resume(returning: isDecided) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: UInt64) {
        let (waiter, admitted) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return (nil, []) }
            let waiter = state.waiting.remove(at: index)
            // It may have stood before one that fits.
            return (waiter, Self.admit(&state))
        }
        waiter?.continuation.resume(returning: false)
        for one in admitted { one.continuation.resume(returning: true) }
    }

    private func release(_ room: Room) {
        let admitted = state.withLock { state in
            state.free += room.bytes
            Self.leave(room.caller, &state)
            return Self.admit(&state)
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }

    /// Gives room to the first that wait. None is passed by, so that a long one comes to its turn.
    private static func admit(_ state: inout State) -> [Waiter] {
        var admitted: [Waiter] = []
        while let first = state.waiting.first, state.free >= first.bytes {
            state.free -= first.bytes
            admitted.append(state.waiting.removeFirst())
        }
        return admitted
    }

    private static func leave(_ caller: String?, _ state: inout State) {
        guard let caller, let count = state.ofCallers[caller] else { return }
        state.ofCallers[caller] = count > 1 ? count - 1 : nil
    }
}
