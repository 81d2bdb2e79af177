import APIKit
package import AccountStore
import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The server keys that are good, read every few seconds and kept here: a revoked key is refused within seven seconds.
///
/// A key that is not among them may have been made since. So all are read anew before it is refused: once for all requests that wait for
/// it, and at most once a second. Guessing keys costs the database no more than that, however many are tried.
///
/// While the database is away, the keys that were good stay good for a minute, and of others nothing is known.
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
    /// How long a request waits for a reading.
    private static let patience = Duration.seconds(3)
    /// How many requests wait for one. Any more get 503 at once: it is not known whether their keys are good.
    private static let mostWaiting = 100
    /// For how long a key that was looked for in vain is refused without a look.
    private static let absence = Duration.seconds(5)

    private struct Asking {
        var waiting: [AsyncStream<Never>.Continuation] = []
        var isUnderWay = false
        var lastBegan: ContinuousClock.Instant?
        /// The keys that a reading did not have, with the instant that it began at.
        var absent = BoundedTable<[UInt8], ContinuousClock.Instant>(most: 1000)
    }

    private let clock: @Sendable () -> ContinuousClock.Instant
    private let keys: Refresher<[[UInt8]: RecordedServerKey]>
    private let used: UsedKeys
    private let pause: Duration
    private let asking = Mutex(Asking())

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
    package convenience init(
        _ keys: ServerKeys, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(logger: logger, clock: clock, noting: { try await keys.noteUse(of: $0) }) { try await keys.valid() }
    }

    /// - Parameters:
    ///   - interval: how often to ask, give or take a quarter.
    ///   - pause: the shortest time between two readings for keys that are not known.
    ///   - note: notes that keys were used.
    ///   - read: reads those that are good.
    init(
        interval: Duration = .seconds(5), pause: Duration = .seconds(1), logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        noting note: @escaping @Sendable ([Int64]) async throws -> Void = { _ in },
        read: @escaping @Sendable () async throws -> [RecordedServerKey]
    ) {
        let used = UsedKeys()
        self.used = used
        self.clock = clock
        self.pause = pause
        keys = Refresher(
            every: interval, warning: "Could not read which server keys are good", logger: logger, clock: clock
        ) {
            try await used.note { try await note($0.sorted()) }
            return Dictionary(try await read().map { ($0.digest, $0) }) { first, _ in first }
        }
    }

    /// What is known of a key; read anew where it is not among those that are good.
    func finding(of key: ServerKey) async -> Finding {
        let missed = clock()
        let finding = known(of: key)
        guard finding == .unknown, !wasAbsent(key, at: missed) else { return finding }
        let deadline = ContinuousClock.now + Self.patience
        // A reading under way may have begun before the key was made.
        while !hasRead(since: missed), ContinuousClock.now < deadline, !Task.isCancelled {
            guard let stream = join() else { return .unavailable }
            _ = try? await withDeadline(deadline) { for await _ in stream {} }
        }
        guard hasRead(since: missed) else { return .unavailable }
        let found = known(of: key)
        if found == .unknown { asking.withLock { $0.absent.put(missed, for: key.digest) } }
        return found
    }

    private func wasAbsent(_ key: ServerKey, at instant: ContinuousClock.Instant) -> Bool {
        asking.withLock { $0.absent.value(of: key.digest).map { instant - $0 < Self.absence } ?? false }
    }

    private func hasRead(since instant: ContinuousClock.Instant) -> Bool {
        keys.latest.map { $0.begunAt >= instant } ?? false
    }

    /// Begins a reading, or joins the one under way; nil where too many wait already.
    private func join() -> AsyncStream<Never>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let begins: Bool? = asking.withLock { asking in
            guard asking.waiting.count < Self.mostWaiting else { return nil }
            asking.waiting.append(continuation)
            defer { asking.isUnderWay = true }
            return !asking.isUnderWay
        }
        guard let begins else { return nil }
        // In a task of its own: the first request may be gone before the answer comes, and others wait for it too.
        if begins { Task { await ask() } }
        return stream
    }

    private func ask() async {
        let rest = asking.withLock { [pause] asking in asking.lastBegan.map { $0 + pause - .now } } ?? .zero
        if rest > .zero { try? await Task.sleep(for: rest) }
        asking.withLock { $0.lastBegan = .now }
        // What fails is logged by the readings that go on by themselves.
        try? await keys.refresh()
        let waiting = asking.withLock { asking in
            defer { (asking.waiting, asking.isUnderWay) = ([], false) }
            return asking.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    private func known(of key: ServerKey) -> Finding {
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
