package import Base
import Foundation
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The keys that app tokens are checked with, kept as they are now: a file is read again when it has changed, a URL is asked
/// every few minutes, and once in between where a token names a key that is not known.
///
/// A source that cannot be read, or holds something else than keys, leaves the keys as they were: a provider that is away locks no
/// caller out. ``standing`` says so, and since when. A source that lists no keys withdraws all.
package final class TokenKeys: Service {
    /// The keys of a moment, and which moment.
    struct Current: Sendable {
        let set: TokenKeySet
        /// Grows with each change: what was found good by other keys is not good by these.
        let generation: Int
    }

    /// What there is to check tokens with.
    package enum Standing: Sendable, Hashable {
        /// Nothing yet, for this reason.
        case none(String)
        /// So many keys, as their source has them.
        case good(Int)
        /// So many keys of before: since an instant their source has not been readable, for a reason.
        case stale(Int, since: Timestamp, String)
        /// No key: their source has listed none since an instant.
        case withdrawn(since: Timestamp)
    }

    private struct State {
        var current: Current?
        var bytes: [UInt8]?
        var stamp: PlainFile.Stamp?
        var fault: String?
        /// Since when there is that fault, or another one.
        var faultySince: Timestamp?
        /// When the keys of now were read first.
        var changedAt: Timestamp?
        var asked: ContinuousClock.Instant?
        var isRunning = false
        var asking: Task<Void, Never>?
    }

    /// However many tokens name unknown keys, the provider is asked once in this time.
    static let pause = Duration.seconds(60)
    /// How often it is asked anyway: a key that it has withdrawn is good for no longer.
    private static let interval = Duration.seconds(300)
    /// How often a file is looked at.
    private static let fileInterval = Duration.seconds(1)
    /// While there are no keys at all.
    private static let firstInterval = Duration.seconds(5)

    private let source: TokenKeySource
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let now: @Sendable () -> Timestamp
    private let onRead: @Sendable (_ isRead: Bool, Standing) -> Void
    private let state = Mutex(State())

    /// Keys that have not been read yet.
    /// - Parameters:
    ///   - clock: measures the pause between two questions to the provider.
    ///   - now: the wall clock.
    ///   - onRead: called after each reading, with whether the source could be read.
    package init(
        _ source: TokenKeySource, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        now: @escaping @Sendable () -> Timestamp = {
            Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
        },
        onRead: @escaping @Sendable (_ isRead: Bool, Standing) -> Void = { _, _ in }
    ) {
        self.source = source
        self.logger = logger
        self.clock = clock
        self.now = now
        self.onRead = onRead
    }

    /// The keys; nil while none could be read.
    var current: Current? { state.withLock(\.current) }

    /// What there is to check tokens with, and what is wrong with it.
    package var standing: Standing {
        state.withLock { state in
            guard let current = state.current else { return .none(state.fault ?? "not read yet") }
            if current.set.count == 0, let since = state.changedAt { return .withdrawn(since: since) }
            if let fault = state.fault, let since = state.faultySince {
                return .stale(current.set.count, since: since, fault)
            }
            return .good(current.set.count)
        }
    }

    /// Why no token is good, for people; nil if there are keys.
    package var whyNone: String? {
        switch standing {
        case .none(let why): "the keys of STOREHOOK_JWT_KEYS: \(why)"
        case .withdrawn(let since):
            "STOREHOOK_JWT_KEYS has listed no key that is taken since \(since): every token is refused"
        case .good, .stale: nil
        }
    }

    /// What is wrong although tokens are checked, for people.
    package var warning: String? {
        guard case .stale(_, let since, let why) = standing else { return nil }
        return "the keys of STOREHOOK_JWT_KEYS are those of before \(since): what it names \(why)"
    }

    /// Reads them now.
    /// - Returns: how many there are.
    /// - Throws: why there are none, in one line.
    @discardableResult
    package func read() async throws(TokenKeySet.Fault) -> Int {
        await refresh(evenSoon: true)
        let (count, fault) = state.withLock { ($0.current?.set.count, $0.fault) }
        guard let count, fault == nil else { throw TokenKeySet.Fault(description: fault ?? "not read yet") }
        guard count > 0 else { throw .empty }
        return count
    }

    /// The keys after another look, where one may be taken: for a token that those of now do not explain.
    func refreshed() async -> Current? {
        await refresh(evenSoon: false)
        return current
    }

    /// Reads them, and again whenever that may bring others, until graceful shutdown.
    package func run() async throws {
        state.withLock { $0.isRunning = true }
        await repeatUntilShutdown(pause: { self.nextInterval }) {
            await self.refresh(evenSoon: self.current == nil)
        }
    }

    private var nextInterval: Duration {
        if source.path != nil { return Self.fileInterval }
        return current == nil ? Self.firstInterval : Self.interval * Double.random(in: 0.8...1)
    }

    /// Begins to read, or joins the reading under way; returns at once where it is too soon.
    private func refresh(evenSoon: Bool) async {
        let task = state.withLock { state -> Task<Void, Never>? in
            if let asking = state.asking { return asking }
            if case .url = source {
                let now = clock()
                if !evenSoon, let asked = state.asked, now - asked < Self.pause { return nil }
                state.asked = now
            }
            // In a task of its own: the first caller may be gone before it ends, and others wait for it too.
            let task = Task { await self.look() }
            state.asking = task
            return task
        }
        await task?.value
    }

    private func look() async {
        do throws(TokenKeySet.Fault) {
            switch source {
            case .file(let path), .secret(let path):
                let stamp = PlainFile.Stamp(of: path)
                let same: (isGood: Bool, wasFaulty: Bool) = state.withLock { state in
                    guard state.current != nil, state.stamp != nil, state.stamp == stamp else { return (false, false) }
                    defer { (state.fault, state.faultySince, state.asking) = (nil, nil, nil) }
                    return (true, state.fault != nil)
                }
                if same.isGood {
                    // What stood in its place is gone.
                    if same.wasFaulty { onRead(true, standing) }
                    return
                }
                let file = try TokenKeyFile(path: path)
                try await take(file.bytes, stamp: file.stamp) { () throws(TokenKeySet.Fault) in
                    if case .secret = source {
                        return try await TokenKeySet(secret: file.bytes, isPrivate: file.isPrivate)
                    }
                    return try await TokenKeySet(file: file.bytes)
                }
            case .url(let url):
                let bytes = try await TokenKeyFetch.bytes(of: url)
                try await take(bytes, stamp: nil) { () throws(TokenKeySet.Fault) in
                    try await TokenKeySet(jwks: bytes)
                }
            }
            onRead(true, standing)
        } catch {
            let isNews = state.withLock { state in
                defer { state.fault = error.description }
                state.asking = nil
                state.faultySince = state.faultySince ?? now()
                // A file that is no good is looked at again when it changes, or is tried anyway.
                return state.fault != error.description
            }
            onRead(false, standing)
            guard isNews else { return }
            // At the start the program reads the file itself, and reports why it cannot be used.
            if source.path != nil, current == nil { return }
            logger.warning(
                "Could not read the keys of tokens; those of before go on",
                metadata: ["source": "\(source.text)", "error": "\(error)"])
        }
    }

    private func take(
        _ bytes: [UInt8], stamp: PlainFile.Stamp?, _ read: () async throws(TokenKeySet.Fault) -> TokenKeySet
    ) async throws(TokenKeySet.Fault) {
        let known = state.withLock { state -> TokenKeySet? in state.bytes == bytes ? state.current?.set : nil }
        let set: TokenKeySet
        if let known { set = known } else { set = try await read() }
        let isNews = state.withLock { state in
            (state.stamp, state.fault, state.faultySince, state.asking) = (stamp, nil, nil, nil)
            guard known == nil else { return false }
            // A program that finds none at its start says so itself.
            let isSaid = state.isRunning || state.current != nil || set.count > 0
            (state.bytes, state.changedAt) = (bytes, now())
            state.current = Current(set: set, generation: (state.current?.generation ?? 0) + 1)
            return isSaid
        }
        guard isNews else { return }
        logger.log(
            level: set.count == 0 ? .error : .info, "Read the keys of tokens",
            metadata: ["source": "\(source.text)", "keys": "\(set.count)"])
    }
}

extension TokenKeySource {
    /// For logs.
    fileprivate var text: String {
        switch self {
        case .file(let path), .secret(let path): path
        case .url(let url): String(url.prefix { $0 != "?" })
        }
    }
}
