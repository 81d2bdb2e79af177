import Base
import Metrics
import NIOCore
import Synchronization

/// The connections that are open: how many there may be, what they may hold together, and that stopping reaches each.
///
/// The server tells its connections to finish by an event in their pipelines, and then waits for all of them. Two kinds of
/// connection would keep it waiting, both accepted while it stops: one that has no pipeline yet when the event is sent,
/// and goes on being served; and one whose request nobody takes up any more, which ends only when its sender gives up.
/// So each connection is told once more, when its pipeline stands, and is closed if it is still there after a while. What
/// was not answered by then was not acknowledged, and its sender tries again.
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
    ///   - proxies: whose connections are not one sender's.
    ///   - stopDeadline: how long a connection may take to finish once it has been told to.
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

        /// It does something else from now on.
        func move(to phase: ConnectionTable.Phase) {
            connections.state.withLock { $0.table.move(slot, to: phase, at: .now()) }
        }

        /// Holds so many bytes more for it; false where there is no room for them.
        func hold(_ bytes: Int) -> Bool { connections.hold(bytes, by: slot) }

        /// Gives back what was held.
        func release(_ bytes: Int) { connections.state.withLock { $0.table.release(bytes, by: slot) } }
    }

    /// Takes a new connection in, and lets another one yield to it where there are too many; nil where none does.
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

    /// Counts a connection that was bounded in another way.
    func count(_ limit: HTTPServerObserver.Limit) { observer.limited(limit) }

    /// Bytes of requests that were not answered yet.
    var heldBytes: Int { state.withLock { $0.table.bytes } }
    /// How many there are, those not counted that were told to close.
    var count: Int { state.withLock { $0.table.count } }

    /// Tells every connection, now and from now on, to close as soon as no request is under way.
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
            // It may be answered yet, so that its sender tries again.
            victim.eventLoop.execute { victim.pipeline.fireUserInboundEventTriggered(RequestRefusal.busy) }
        }
        return isHeld
    }

    /// Later on the connection's own event loop, where its pipeline is complete by then. Told twice is told once.
    private func finish(_ channel: any Channel) {
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        let closing = channel.eventLoop.scheduleTask(in: stopDeadline) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in closing.cancel() }
    }
}
