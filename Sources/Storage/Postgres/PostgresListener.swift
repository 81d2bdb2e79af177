import Base
public import Logging
public import ServiceLifecycle
import Synchronization

/// Listens to one channel, on a connection of its own, and signals each notification.
///
/// Only a hint: NOTIFY reaches only sessions that listen at that moment, and nothing arrives through a transaction
/// pooler. Consumers must also poll now and then. While ``run()`` lasts the connection is made again whenever it
/// breaks. Behind a pooler it does not listen at all: the pooler would lend the listening session to others.
public final class PostgresListener: Service, Sendable {
    /// Why the consumer is woken.
    public enum WakeUp: Sendable, Hashable {
        /// Listening has begun, for the first time or again; earlier notifications may have been missed.
        case listening
        /// Something was notified.
        case notified
    }

    /// The wake-ups, for one consumer. At most one is kept for a busy consumer.
    public let wakeUps: AsyncStream<WakeUp>

    private let continuation: AsyncStream<WakeUp>.Continuation
    private let configuration: PostgresConfiguration
    private let channel: String
    private let logger: Logger
    private let onPayload: (@Sendable (String) -> Void)?
    private let backoff = RetrySchedule.reconnecting

    /// A listener; it begins with ``run()``.
    ///
    /// - Parameter onPayload: called with each notification's payload, and with an empty one whenever listening has
    ///   begun, since earlier ones may have been missed.
    /// - Throws: ``PostgresError`` (`.configuration`) if the channel's name is not a plain lower-case identifier.
    public init(
        configuration: PostgresConfiguration, channel: String, logger: Logger,
        onPayload: (@Sendable (String) -> Void)? = nil
    ) throws(PostgresError) {
        guard isPlainIdentifier(channel) else {
            throw PostgresError(.configuration, "a channel's name is made of a-z, 0-9 and _, at most 63 of them")
        }
        self.configuration = configuration
        self.channel = channel
        self.logger = logger
        self.onPayload = onPayload
        (wakeUps, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Listens until the task is cancelled or shut down gracefully; then the wake-ups end.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var failures = 0
            var losses = TalliedLine(every: .seconds(600))
            while !Task.isCancelled {
                do {
                    try await self.listen { failures = 0 }
                    // The service group takes an early return for a failure.
                    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
                } catch {
                    failures += 1
                    if Task.isCancelled { break }
                    // Where sessions end one after the other, one line says so, and later ones say how often: a line for each
                    // would bury everything else.
                    if failures == 1, let count = losses.count(at: .now) {
                        self.logger.warning("not listening", metadata: ["error": "\(error)", "times": "\(count)"])
                    }
                    try? await Task.sleep(for: self.backoff.pause(afterFailures: failures))
                }
            }
        }
        continuation.finish()
    }

    /// One connection's life; throws the error that ended it, or returns where listening would be in vain.
    private func listen(onListening: () -> Void) async throws {
        let connection = try await PostgresConnection.connect(to: configuration, logger: logger)
        do {
            if try await connection.isPooled() {
                logger.notice(
                    """
                    not listening: a connection pooler stands before the server, and would pass no notification on; \
                    polling goes on
                    """)
                await connection.close()
                return
            }
            // It waits for as long as nothing is notified; the session is this connection's alone.
            try await connection.query(
                PostgresQuery(unescaped: "set idle_session_timeout = 0", name: "listen.settings"))
            try await connection.query(PostgresQuery(unescaped: "listen \"\(channel)\"", name: "listen"))
            onListening()
            onPayload?("")
            continuation.yield(.listening)
            while true {
                let payloads = try await connection.waitForNotification()
                if let onPayload { for payload in payloads { onPayload(payload) } }
                continuation.yield(.notified)
            }
        } catch {
            await connection.close()
            throw error
        }
    }
}
