import AppStoreServerAPI
import Synchronization

/// A way to Apple on which everything waits until the test lets it go.
final class HeldTransport: AppStoreTransport {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var asked = 0
    }

    private let base: any AppStoreTransport
    private let state = Mutex(State())

    init(_ base: any AppStoreTransport) { self.base = base }

    /// How many requests have been sent.
    var asked: Int { state.withLock(\.asked) }

    /// Lets all go, those to come as well.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.asked += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return try await base.send(request)
    }
}
