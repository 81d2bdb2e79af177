import Testing

@testable import Postgres

@Suite("A pool's state")
struct PoolStateTests {
    private typealias State = PoolState<String, String>
    private let now = ContinuousClock.now
    private let away = PostgresError(.connection, "away")

    /// What an event asks for, as words.
    private func words(_ actions: [State.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .open: "open"
            case .lease(let waiter, let connection): "\(waiter) gets \(connection)"
            case .refuse(let waiter, let error): "\(waiter) refused: \(error.message)"
            case .finishClosing: "closed"
            }
        }
    }

    private func expect(
        _ actions: [State.Action], _ expected: [String], location: SourceLocation = #_sourceLocation
    ) {
        #expect(words(actions) == expected, sourceLocation: location)
    }

    @Test("opens a connection for each waiter up to its size, and serves them in their order")
    func order() {
        var state = State(size: 2)
        expect(state.wait(1, "a", now: now), ["open"])
        expect(state.wait(2, "b", now: now), ["open"])
        expect(state.wait(3, "c", now: now), [])
        expect(state.opened("x", now: now), ["a gets x"])
        expect(state.opened("y", now: now), ["b gets y"])
        expect(state.release("x", now: now), ["c gets x"])
        expect(state.release("y", now: now), [])
        let leased1 = state.leaseIdle()
        #expect(leased1 == "y")
        let leased2 = state.leaseIdle()
        #expect(leased2 == nil)
    }

    @Test("replaces a broken connection for whoever waits")
    func broken() {
        var state = State(size: 1)
        _ = state.wait(1, "a", now: now)
        _ = state.opened("x", now: now)
        _ = state.wait(2, "b", now: now)
        expect(state.release(nil, now: now), ["open"])
        expect(state.opened("y", now: now), ["b gets y"])
    }

    @Test("refuses all waiters when the server is away, everybody at once during the backoff, and tries again after it")
    func backoff() {
        var state = State(size: 2)
        _ = state.wait(1, "a", now: now)
        _ = state.wait(2, "b", now: now)
        let retryAt = now + .seconds(1)
        expect(state.openFailed(away, retryAt: retryAt, now: now), [])
        expect(state.openFailed(away, retryAt: retryAt, now: now), ["a refused: away", "b refused: away"])
        #expect(state.consecutiveFailures == 2)
        expect(state.wait(3, "c", now: now), ["c refused: away"])
        expect(state.wait(4, "d", now: retryAt), ["open"])
        expect(state.opened("x", now: retryAt), ["d gets x"])
        #expect(state.consecutiveFailures == 0)
    }

    @Test("lets waiters wait during a backoff while somebody holds a connection that may come back")
    func backoffWithLeases() {
        var state = State(size: 2)
        _ = state.wait(1, "a", now: now)
        _ = state.opened("x", now: now)
        expect(state.wait(2, "b", now: now), ["open"])
        expect(state.openFailed(away, retryAt: now + .seconds(1), now: now), [])
        expect(state.release("x", now: now), ["b gets x"])
        expect(state.wait(3, "c", now: now), [])
        expect(state.release(nil, now: now), ["c refused: away"])
    }

    @Test("forgets who waits no longer")
    func abandoned() {
        var state = State(size: 1)
        _ = state.wait(1, "a", now: now)
        expect(state.abandon(1, away), ["a refused: away"])
        expect(state.abandon(1, away), [])
        expect(state.opened("x", now: now), [])
        let leased3 = state.leaseIdle()
        #expect(leased3 == "x")
    }

    @Test("that closes refuses everybody, and has closed when nothing is leased or being opened")
    func closing() {
        var state = State(size: 3)
        _ = state.wait(1, "a", now: now)
        _ = state.opened("x", now: now)
        _ = state.wait(2, "b", now: now)
        expect(state.close(now: now), ["b refused: the pool is closed"])
        expect(state.wait(3, "c", now: now), ["c refused: the pool is closed"])
        expect(state.release("x", now: now), [])
        expect(state.opened("y", now: now), ["closed"])
        let leased4 = state.leaseIdle()
        #expect(leased4 == nil)
        let mayProbe = state.probe()
        #expect(!mayProbe)
    }
}
