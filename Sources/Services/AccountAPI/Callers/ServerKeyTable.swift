package import AccountStore
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The server keys that are good, read every few seconds and kept here: guessing keys costs the database nothing, and a revoked
/// key is refused within seven seconds.
///
/// While the database is away, the keys that were good stay good for a minute.
package final class ServerKeyTable: Service {
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

    private let clock: @Sendable () -> ContinuousClock.Instant
    private let keys: Refresher<[[UInt8]: RecordedServerKey]>
    private let used: UsedKeys

    /// The keys that were used since that was last noted in the database.
    private final class UsedKeys: Sendable {
        private let ids = Mutex<Set<Int64>>([])

        func insert(_ id: Int64) { ids.withLock { _ = $0.insert(id) } }

        func note(_ body: (Set<Int64>) async throws -> Void) async throws {
            let noted = ids.withLock { ids in
                defer { ids = [] }
                return ids
            }
            do {
                try await body(noted)
            } catch {
                ids.withLock { $0.formUnion(noted) }
                throw error
            }
        }
    }

    /// A table that nothing was read into yet.
    /// - Parameter interval: how often to ask, give or take a quarter.
    package init(
        _ keys: ServerKeys, interval: Duration = .seconds(5), logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let used = UsedKeys()
        self.used = used
        self.clock = clock
        self.keys = Refresher(
            every: interval, warning: "Could not read which server keys are good", logger: logger, clock: clock
        ) {
            try await used.note { try await keys.noteUse(of: $0.sorted()) }
            return Dictionary(try await keys.valid().map { ($0.digest, $0) }) { first, _ in first }
        }
    }

    /// What is known of a key.
    func finding(of key: ServerKey) -> Finding {
        guard let keys = keys.latest, clock() - keys.begunAt < Self.maximumAge else { return .unavailable }
        guard let known = keys.value[key.digest] else { return .unknown }
        used.insert(known.id)
        return .good(known.id)
    }

    /// Notes which were used, and asks which are good.
    package func read() async throws { try await keys.refresh() }

    /// Asks at once and then once each interval, until graceful shutdown.
    package func run() async throws { try await keys.run() }
}
