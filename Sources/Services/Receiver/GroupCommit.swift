import DequeModule
public import Logging
public import ServiceLifecycle
import Synchronization

/// Turns many single stores into few commits: while one multi-row insert is on its way, the next one collects.
///
/// No body waits for a timer. With one notification at a time each commit holds one; under load a commit holds as many
/// as came while the one before it was under way.
public final class GroupCommit: Service {
    /// Why something was not stored.
    public enum Refusal: Error, Sendable, Equatable {
        /// As much as may wait is waiting.
        case full
        /// The database did not take it.
        case unavailable
        /// The receiver is stopping.
        case stopping
    }

    /// What bounds the receiver's memory and each commit.
    public struct Limits: Sendable {
        /// Bytes that may wait, all bodies together. 64 MiB are some 3,500 notifications of Apple's.
        public var waitingBytes = 64 << 20
        /// Bytes in one commit; PostgreSQL's work_mem and the reply time set its order.
        public var commitBytes = 4 << 20
        /// Rows in one commit.
        public var commitRows = 500

        /// The usual limits.
        public init() {}
    }

    private struct Waiting {
        let body: [UInt8]
        let sender: String?
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting = Deque<Waiting>()
        /// Of all bodies that were accepted and not answered yet, those on their way to the database included.
        var bytes = 0
        /// How many they are.
        var count = 0
        var isStopping = false
        var writer: CheckedContinuation<Void, Never>?
    }

    private let store: @Sendable ([[UInt8]], _ senders: [String?]) async throws -> Void
    private let limits: Limits
    private let logger: Logger
    private let state = Mutex(State())

    /// A group commit.
    /// - Parameter store: stores bodies durably, all or none, each with its sender.
    public init(
        limits: Limits = Limits(), logger: Logger,
        store: @escaping @Sendable ([[UInt8]], _ senders: [String?]) async throws -> Void
    ) {
        self.limits = limits
        self.logger = logger
        self.store = store
    }

    /// Bodies accepted and not answered yet.
    var waitingCount: Int { state.withLock(\.count) }
    /// Whether stopping has begun.
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Returns once the body is committed.
    /// - Parameter sender: the address that posted it; nil for no particular sender.
    /// - Throws: ``Refusal``; then the sender must try again. Whether it is stored after all is not known for sure.
    public func commit(_ body: [UInt8], from sender: String? = nil) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (refusal, writer) = state.withLock { state -> (Refusal?, CheckedContinuation<Void, Never>?) in
                if state.isStopping { return (.stopping, nil) }
                if state.bytes + body.count > limits.waitingBytes { return (.full, nil) }
                state.waiting.append(Waiting(body: body, sender: sender, continuation: continuation))
                state.bytes += body.count
                state.count += 1
                return (nil, state.writer.take())
            }
            if let refusal { continuation.resume(throwing: refusal) }
            writer?.resume()
        }
    }

    /// Writes until graceful shutdown or cancellation, and then what was accepted before it: each accepted body gets an
    /// answer.
    public func run() async throws {
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                while let group = await next() { await write(group) }
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            stop()
        }
    }

    private func stop() {
        let writer = state.withLock { state in
            state.isStopping = true
            return state.writer.take()
        }
        writer?.resume()
    }

    /// The next group; waits for one; nil once stopped and empty.
    private func next() async -> [Waiting]? {
        while true {
            let (group, isStopping) = state.withLock { state in (take(&state), state.isStopping) }
            if !group.isEmpty { return group }
            if isStopping { return nil }
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if !state.waiting.isEmpty || state.isStopping { return true }
                    state.writer = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        }
    }

    private func take(_ state: inout State) -> [Waiting] {
        var group: [Waiting] = []
        var bytes = 0
        while let first = state.waiting.first, group.count < limits.commitRows,
            group.isEmpty || bytes + first.body.count <= limits.commitBytes
        {
            bytes += first.body.count
            group.append(state.waiting.removeFirst())
        }
        return group
    }

    private func write(_ group: [Waiting]) async {
        do {
            try await store(group.map(\.body), group.map(\.sender))
            for waiting in group { waiting.continuation.resume() }
        } catch {
            logger.error(
                "Could not store notifications; answered 503, Apple tries again",
                metadata: ["error": "\(error)", "count": "\(group.count)"])
            for waiting in group { waiting.continuation.resume(throwing: Refusal.unavailable) }
        }
        let bytes = group.reduce(0) { $0 + $1.body.count }
        state.withLock { state in
            state.bytes -= bytes
            state.count -= group.count
        }
    }
}
