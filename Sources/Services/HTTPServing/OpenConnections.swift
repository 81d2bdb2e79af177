import Metrics
import NIOCore
import Synchronization

/// The connections that are open, so that stopping reaches every one of them.
///
/// The server tells its connections to finish by an event in their pipelines, and then waits for all of them. Two kinds of
/// connection would keep it waiting, both accepted while it stops: one that has no pipeline yet when the event is sent,
/// and goes on being served; and one whose request nobody takes up any more, which ends only when its sender gives up.
/// So each connection is told once more, when its pipeline stands, and is closed if it is still there after a while. What
/// was not answered by then was not acknowledged, and its sender tries again.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
    }
    private let state = Mutex(State())
    private let stopDeadline: TimeAmount
    private let count: Meter?

    /// - Parameters:
    ///   - stopDeadline: how long a connection may take to finish once it has been told to.
    ///   - count: goes up and down with them.
    init(stopDeadline: TimeAmount, count: Meter?) {
        self.stopDeadline = stopDeadline
        self.count = count
    }

    /// Tells every connection, now and from now on, to close as soon as no request is under way.
    func stop() {
        let channels = state.withLock { state in
            state.isStopping = true
            return Array(state.channels.values)
        }
        channels.forEach(finish)
    }

    fileprivate func add(_ channel: any Channel) {
        let isStopping = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isStopping
        }
        count?.increment()
        if isStopping { finish(channel) }
    }

    fileprivate func remove(_ channel: any Channel) {
        state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
        count?.decrement()
    }

    /// Later on the connection's own event loop, where its pipeline is complete by then. Told twice is told once.
    private func finish(_ channel: any Channel) {
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        let closing = channel.eventLoop.scheduleTask(in: stopDeadline) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in closing.cancel() }
    }
}

/// Keeps ``OpenConnections`` up to date.
final class ConnectionRegistration: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let connections: OpenConnections

    init(_ connections: OpenConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) { connections.add(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { connections.remove(context.channel) }
}
