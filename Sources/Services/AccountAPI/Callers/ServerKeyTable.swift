package import AccountStore
package import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// The server keys that are good, read every few seconds and kept here: whoever guesses keys costs the database nothing, and one that
/// was revoked is refused within seven seconds.
///
/// While the database is away those of before go on for a minute.
package final class ServerKeyTable: Service {
    private struct State {
        var keys: [[UInt8]: RecordedServerKey] = [:]
        var readAt: ContinuousClock.Instant?
        /// Used since it was last noted.
        var used: Set<Int64> = []
    }

    /// What looking a key up has come to.
    enum Finding: Sendable, Hashable {
        /// It is good, and has this number.
        case good(Int64)
        /// There is none like it, or it was revoked.
        case unknown
        /// Which are good is not known.
        case unavailable
    }

    /// How old what is known may become.
    private static let maximumAge = Duration.seconds(60)

    private let keys: ServerKeys
    private let interval: Duration
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// A table that nothing was read into yet.
    /// - Parameter interval: how often to ask, give or take a quarter.
    package init(
        _ keys: ServerKeys, interval: Duration = .seconds(5), logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.keys = keys
        self.interval = interval
        self.logger = logger
        self.clock = clock
    }

    /// What is known of a key.
    func finding(of key: ServerKey) -> Finding {
        let digest = key.digest
        let now = clock()
        return state.withLock { state in
            guard let readAt = state.readAt, now - readAt < Self.maximumAge else { return .unavailable }
            guard let known = state.keys[digest] else { return .unknown }
            state.used.insert(known.id)
            return .good(known.id)
        }
    }

    /// Notes which were used, and asks which are good.
    package func read() async throws {
        let used = state.withLock { state in
            defer { state.used = [] }
            return state.used
        }
        do {
            try await keys.noteUse(of: used.sorted())
        } catch {
            state.withLock { $0.used.formUnion(used) }
            throw error
        }
        let asked = clock()
        let valid = try await keys.valid()
        state.withLock { state in
            state.keys = Dictionary(valid.map { ($0.digest, $0) }) { first, _ in first }
            state.readAt = asked
        }
    }

    /// Asks at once and then once each interval, until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var isFailing = false
            while !Task.isCancelled {
                do {
                    try await self.read()
                    isFailing = false
                } catch {
                    // Once, not every few seconds for as long as it lasts.
                    if !isFailing, !Task.isCancelled {
                        self.logger.warning(
                            "Could not read which server keys are good", metadata: ["error": "\(error)"])
                    }
                    isFailing = true
                }
                // Many of these do not ask together.
                try? await Task.sleep(for: self.interval * Double.random(in: 0.75...1.25))
            }
        }
    }
}
