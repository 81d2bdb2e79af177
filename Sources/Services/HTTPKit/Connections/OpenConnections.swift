import Base
import Metrics
import NIOCore
import Synchronization

/// The open connections: how many there may be, what they may hold together, and how each is stopped.
///
/// The server asks its connections to finish by an event in their pipelines, and then waits for all of them. Two
/// kinds of connection, both accepted while it stops, would keep it waiting:
/// - one without a pipeline when the event is sent, which goes on being served;
/// - one whose request no task reads any more, which ends only when its sender gives up.
///
/// So each connection is asked once more, when its pipeline is complete, and is closed if it is still open after a
/// while. A request not answered by then was not acknowledged, and its sender retries.
final class OpenConnections: Sendable {
    private struct State {
        var table: ConnectionTable
        /// By their places in the table.
        var channels: [Int: any Channel] = [:]
        var isStopping = false
    }
    private let state: Mutex<State>
    private let proxies: TrustedProxies
    private let stopDeadline: TimeAmount
    private let observer: HTTPServerObserver

    /// - Parameters:
    ///   - limits: how many there may be, and what they may hold.
    ///   - proxies: peers whose connections belong to many senders.
    ///   - stopDeadline: how long a connection may take to finish after the stop.
    init(
        _ limits: ConnectionTable.Limits, proxies: TrustedProxies, stopDeadline: TimeAmount,
        observer: HTTPServerObserver = HTTPServerObserver()
    ) {
        state = Mutex(State(table: ConnectionTable(limits)))
        self.proxies = proxies
        self.stopDeadline = stopDeadline
        self.observer = observer
    }

    /// One of them.
    struct Connection: Sendable {
        fileprivate let connections: OpenConnections
        fileprivate let slot: Int

        /// Records what it is doing now.
        func move(to phase: ConnectionTable.Phase) {
            connections.state.withLock { $0.table.move(slot, to: phase, at: .now()) }
        }

        /// Holds so many bytes more for it; false where there is no room for them.
        func hold(_ bytes: Int) -> Bool { connections.hold(bytes, by: slot) }

        /// Releases bytes that it held.
        func release(_ bytes: Int) { connections.state.withLock { $0.table.release(bytes, by: slot) } }
    }

    /// Admits a new connection, and closes another one if there are too many; nil where none yields.
    func open(_ channel: any Channel) -> Connection? {
        let address = NetworkAddress(channel.remoteAddress)
        let isTrusted = address.map(proxies.contains) ?? false
        let (admission, victim, isStopping) = state.withLock { state in
            let admission = state.table.add(from: address, isTrusted: isTrusted, at: .now())
            guard case .admitted(let slot, let yielding, _) = admission else {
                return (admission, nil as (any Channel)?, false)
            }
            state.channels[slot] = channel
            return (admission, yielding.flatMap { state.channels[$0] }, state.isStopping)
        }
        victim?.cutOff()
        switch admission {
        case .refused(let bound):
            observer.limited(bound == .party ? .party : .connections)
            return nil
        case .admitted(let slot, _, let bound):
            if let bound { observer.limited(bound == .party ? .party : .connections) }
            observer.open?.increment()
            channel.closeFuture.whenComplete { [self] _ in remove(slot) }
            if isStopping { finish(channel) }
            return Connection(connections: self, slot: slot)
        }
    }

    /// Counts a connection that was bounded elsewhere.
    func count(_ limit: HTTPServerObserver.Limit) { observer.limited(limit) }

    /// Bytes of unanswered requests.
    var heldBytes: Int { state.withLock { $0.table.bytes } }
    /// How many there are, without those being closed.
    var count: Int { state.withLock { $0.table.count } }

    /// Makes every connection, now and from now on, close as soon as no request is under way.
    func stop() {
        let channels = state.withLock { state in
            state.isStopping = true
            return Array(state.channels.values)
        }
        channels.forEach(finish)
    }

    private func remove(_ slot: Int) {
        state.withLock { state in
            state.table.remove(slot)
            state.channels[slot] = nil
        }
        observer.open?.decrement()
    }

    private func hold(_ bytes: Int, by slot: Int) -> Bool {
        let (isHeld, victims) = state.withLock { state in
            let (isHeld, yields) = state.table.hold(bytes, by: slot)
            return (isHeld, yields.compactMap { state.channels[$0] })
        }
        for victim in victims {
            observer.limited(.bytes)
            // It can still be answered, so that its sender retries.
            victim.eventLoop.execute { victim.pipeline.fireUserInboundEventTriggered(RequestRefusal.busy) }
        }
        return isHeld
    }

    /// Later on the connection's own event loop, when its pipeline is complete. A repeated event does nothing.
    private func finish(_ channel: any Channel) {
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        let closing = channel.eventLoop.scheduleTask(in: stopDeadline) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in closing.cancel() }
    }
}
