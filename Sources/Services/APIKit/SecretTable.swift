import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The secrets of an API's callers that are good, by their digests: read every few seconds and kept here. A revoked one is refused within seven
/// seconds.
///
/// A secret that is not among them may have been made since. So all are read anew before it is refused: once for all requests that wait for
/// it, and at most once a second. Guessing secrets costs the database no more than that, however many are tried.
///
/// While the database is away, the secrets that were good stay good for a minute, and of others nothing is known.
package final class SecretTable<Holder: Sendable>: Service {
    /// What looking a secret up has come to.
    package enum Finding: Sendable {
        /// It is good, and this is recorded of it.
        case good(Holder)
        /// It does not exist, or was revoked.
        case unknown
        /// Which are good is not known.
        case unavailable
    }

    /// How old what is known may become.
    private static var maximumAge: Duration { .seconds(60) }
    /// How long a request waits for a reading.
    private static var patience: Duration { .seconds(3) }
    /// How many requests wait for one. Any more get 503 at once: it is not known whether their secrets are good.
    private static var mostWaiting: Int { 100 }
    /// For how long a secret that was looked for in vain is refused without a look.
    private static var absence: Duration { .seconds(5) }

    private struct Asking {
        var waiting: [AsyncStream<Never>.Continuation] = []
        var isUnderWay = false
        var lastBegan: ContinuousClock.Instant?
        /// The secrets that a reading did not have, with the instant that it began at.
        var absent = BoundedTable<[UInt8], ContinuousClock.Instant>(most: 1000)
    }

    private let clock: @Sendable () -> ContinuousClock.Instant
    private let secrets: Refresher<[[UInt8]: Holder]>
    private let onUse: @Sendable (Holder) -> Void
    private let pause: Duration
    private let asking = Mutex(Asking())

    /// A table that nothing was read into yet.
    /// - Parameters:
    ///   - interval: how often to ask, give or take a quarter.
    ///   - pause: the shortest time between two readings for secrets that are not known.
    ///   - warning: what is logged where a reading fails.
    ///   - onUse: called with the holder of each secret that is found to be good.
    ///   - read: reads the valid secrets, by their digests.
    package init(
        interval: Duration = .seconds(5), pause: Duration = .seconds(1), warning: Logger.Message, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        onUse: @escaping @Sendable (Holder) -> Void = { _ in },
        read: @escaping @Sendable () async throws -> [[UInt8]: Holder]
    ) {
        self.clock = clock
        self.pause = pause
        self.onUse = onUse
        secrets = Refresher(every: interval, warning: warning, logger: logger, clock: clock, read: read)
    }

    /// The bearer of a secret, by its digest. The table is read anew if it does not have the secret.
    package func finding(of digest: [UInt8]) async -> Finding {
        let missed = clock()
        let finding = known(of: digest)
        guard case .unknown = finding, !wasAbsent(digest, at: missed) else { return finding }
        let deadline = ContinuousClock.now + Self.patience
        // A reading under way may have begun before the secret was made.
        while !hasRead(since: missed), ContinuousClock.now < deadline, !Task.isCancelled {
            guard let stream = join() else { return .unavailable }
            _ = try? await withDeadline(deadline) { for await _ in stream {} }
        }
        guard hasRead(since: missed) else { return .unavailable }
        let found = known(of: digest)
        if case .unknown = found { asking.withLock { $0.absent.put(missed, for: digest) } }
        return found
    }

    /// What is known of a secret without asking.
    package func remembered(_ digest: [UInt8]) -> Finding { known(of: digest) }

    private func wasAbsent(_ digest: [UInt8], at instant: ContinuousClock.Instant) -> Bool {
        asking.withLock { $0.absent.value(of: digest).map { instant - $0 < Self.absence } ?? false }
    }

    private func hasRead(since instant: ContinuousClock.Instant) -> Bool {
        secrets.latest.map { $0.begunAt >= instant } ?? false
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
        try? await secrets.refresh()
        let waiting = asking.withLock { asking in
            defer { (asking.waiting, asking.isUnderWay) = ([], false) }
            return asking.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    private func known(of digest: [UInt8]) -> Finding {
        guard let secrets = secrets.latest, clock() - secrets.begunAt < Self.maximumAge else { return .unavailable }
        guard let known = secrets.value[digest] else { return .unknown }
        onUse(known)
        return .good(known)
    }

    /// Reads now which are good.
    package func read() async throws { try await secrets.refresh() }

    /// Asks at once and then once each interval, until graceful shutdown.
    package func run() async throws { try await secrets.run() }
}

extension SecretTable.Finding: Equatable where Holder: Equatable {}
extension SecretTable.Finding: Hashable where Holder: Hashable {}
