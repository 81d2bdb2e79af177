import AsyncHTTPClient
import Base
import Synchronization

/// HTTP clients that are each bound to one name, or to one address of it, for one owner.
final class PinnedConnections: Sendable {
    /// What a client is bound to.
    struct Pin: Hashable {
        let owner: Int64
        /// The name in the URL; nil where the URL names the address itself.
        let name: String?
        /// The one address to connect to; nil where the name's are the HTTP library's affair.
        let address: NetworkAddress?
        /// Whether it is https.
        let isSecure: Bool
        /// Whether connections are kept for further requests.
        var isKept = true

        /// The same, for connections of one request each.
        var unkept: Pin {
            var pin = self
            pin.isKept = false
            return pin
        }
    }

    private struct Pinned {
        var client: HTTPClient
        var lastUsed: ContinuousClock.Instant
        var calls = 0
        /// Whether there was a connection the last time.
        var isReachable = false
        var keeping = ConnectionKeeping()
    }

    private struct State {
        var pins: [Pin: Pinned] = [:]
        var isShutDown = false
        var sweptAt = ContinuousClock.now
    }

    /// How long connections stay that no request uses any more.
    private static let idle = Duration.seconds(120)

    private let make: @Sendable (Pin, _ onAnswer: @escaping @Sendable (_ isFurther: Bool) -> Void) -> HTTPClient
    private let state = Mutex(State())

    /// - Parameter make: makes a client for a pin. The client calls `onAnswer` when an answer is complete, see
    ///   ``ConnectionKeeping/answer(isFurther:)``.
    init(
        _ make: @escaping @Sendable (Pin, _ onAnswer: @escaping @Sendable (_ isFurther: Bool) -> Void) -> HTTPClient
    ) {
        self.make = make
    }

    func shutdown() async {
        let clients = state.withLock { state in
            defer { (state.pins, state.isShutDown) = ([:], true) }
            return state.pins.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// Uses the client of a pin, and notes whether it had a connection.
    func use<Value>(
        _ pin: Pin, _ body: (HTTPClient) async throws(OutboundFault) -> Value
    ) async throws(OutboundFault) -> Value {
        guard let client = take(pin) else { throw .notConnected }
        defer { release(pin) }
        do {
            let value = try await body(client)
            note(pin, isReachable: true)
            return value
        } catch {
            if error.isWithoutConnection { note(pin, isReachable: false) }
            throw error
        }
    }

    /// How a request over a pin goes on, see ``ConnectionKeeping/begin(at:)``. Where it has to wait, this does.
    func turn(over pin: Pin) async -> ConnectionKeeping.Turn {
        while true {
            let turn = state.withLock { $0.pins[pin]?.keeping.begin(at: .now) ?? .own }
            guard turn == .wait else { return turn }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return .own }
        }
    }

    /// A request that could use a kept connection is over, see ``ConnectionKeeping/end(_:isLost:at:)``.
    func end(_ turn: ConnectionKeeping.Turn, over pin: Pin, isLost: Bool) {
        state.withLock { $0.pins[pin]?.keeping.end(turn, isLost: isLost, at: .now) }
    }

    /// The pins of a name's addresses; all of these were checked. Those that had a connection the last time come first: otherwise an address
    /// that swallows whatever it is sent would cost each request its time.
    func pins(_ owner: Int64, _ name: String?, _ addresses: [NetworkAddress], isSecure: Bool) -> [Pin] {
        let pins = addresses.map { Pin(owner: owner, name: name, address: $0, isSecure: isSecure) }
        guard pins.count > 1 else { return pins }
        let reachable = state.withLock { state in pins.filter { state.pins[$0]?.isReachable == true } }
        return reachable + pins.filter { !reachable.contains($0) }
    }

    /// Nil after the shutdown.
    private func take(_ pin: Pin) -> HTTPClient? {
        let (client, old): (HTTPClient?, [HTTPClient]) = state.withLock { state in
            if state.isShutDown { return (nil, []) }
            let old = Self.sweep(&state)
            var pinned =
                state.pins[pin]
                ?? Pinned(client: make(pin) { [weak self] in self?.answer(over: pin, isFurther: $0) }, lastUsed: .now)
            pinned.lastUsed = .now
            pinned.calls += 1
            state.pins[pin] = pinned
            return (pinned.client, old)
        }
        if !old.isEmpty { Task { for client in old { try? await client.shutdown() } } }
        return client
    }

    private func answer(over pin: Pin, isFurther: Bool) {
        state.withLock { $0.pins[pin]?.keeping.answer(isFurther: isFurther) }
    }

    private func note(_ pin: Pin, isReachable: Bool) {
        state.withLock { $0.pins[pin]?.isReachable = isReachable }
    }

    private func release(_ pin: Pin) {
        state.withLock { state in
            state.pins[pin]?.calls -= 1
            state.pins[pin]?.lastUsed = .now
        }
    }

    /// Takes out, now and then, the clients that no request has used for long.
    private static func sweep(_ state: inout State) -> [HTTPClient] {
        let now = ContinuousClock.now
        guard now - state.sweptAt > idle else { return [] }
        state.sweptAt = now
        let old = state.pins.filter { $0.value.calls == 0 && now - $0.value.lastUsed > idle }
        for pin in old.keys { state.pins[pin] = nil }
        return old.values.map(\.client)
    }
}
