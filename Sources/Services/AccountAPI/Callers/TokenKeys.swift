import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The keys that app tokens are checked with, kept as they are now: a file is read again when it has changed, a URL is asked
/// every few minutes, and once in between where a token names a key that is not known.
///
/// A source that cannot be read leaves the keys as they were: a provider that is away locks no caller out.
package final class TokenKeys: Service {
    /// The keys of a moment, and which moment.
    struct Current: Sendable {
        let set: TokenKeySet
        /// Grows with each change: what was found good by other keys is not good by these.
        let generation: Int
    }

    private struct State {
        var current: Current?
        var bytes: [UInt8]?
        var stamp: TokenKeyFile.Stamp?
        var fault: String?
        var asked: ContinuousClock.Instant?
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
    private let onRead: @Sendable (_ isRead: Bool) -> Void
    private let state = Mutex(State())

    /// Keys that have not been read yet.
    /// - Parameters:
    ///   - clock: measures the pause between two questions to the provider.
    ///   - onRead: called after each reading, with whether it brought keys.
    package init(
        _ source: TokenKeySource, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        onRead: @escaping @Sendable (_ isRead: Bool) -> Void = { _ in }
    ) {
        self.source = source
        self.logger = logger
        self.clock = clock
        self.onRead = onRead
    }

    /// The keys; nil while none could be read.
    var current: Current? { state.withLock(\.current) }

    /// Why no token can be checked, for people; nil if there are keys.
    package var whyNone: String? {
        state.withLock { $0.current == nil ? "the keys of STOREHOOK_JWT_KEYS: \($0.fault ?? "not read yet")" : nil }
    }

    /// Reads them now.
    /// - Returns: how many there are.
    /// - Throws: why there are none, in one line.
    @discardableResult
    package func read() async throws(TokenKeySet.Fault) -> Int {
        await refresh(evenSoon: true)
        let (count, fault) = state.withLock { ($0.current?.set.count, $0.fault) }
        guard let count, fault == nil else { throw TokenKeySet.Fault(description: fault ?? "not read yet") }
        return count
    }

    /// The keys after another look, where one may be taken: for a token that those of now do not explain.
    func refreshed() async -> Current? {
        await refresh(evenSoon: false)
        return current
    }

    /// Reads them, and again whenever that may bring others, until graceful shutdown.
    package func run() async throws {
        await repeatUntilShutdown(pause: { self.nextInterval }) {
            await self.refresh(evenSoon: self.current == nil)
        }
    }

    private var nextInterval: Duration {
        if case .file = source { return Self.fileInterval }
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
            case .file(let path):
                let stamp = TokenKeyFile.stamp(of: path)
                let isSame = state.withLock { $0.current != nil && $0.stamp != nil && $0.stamp == stamp }
                if isSame { return state.withLock { $0.asking = nil } }
                let file = try TokenKeyFile(path: path)
                try await take(file.bytes, stamp: file.stamp) { () throws(TokenKeySet.Fault) in
                    try await TokenKeySet(file: file.bytes, isPrivate: file.isPrivate)
                }
            case .url(let url):
                let bytes = try await TokenKeyFetch.bytes(of: url)
                try await take(bytes, stamp: nil) { () throws(TokenKeySet.Fault) in
                    try await TokenKeySet(jwks: bytes)
                }
            }
            onRead(true)
        } catch {
            onRead(false)
            let isNews = state.withLock { state in
                defer { state.fault = error.description }
                state.asking = nil
                // A file that is no good is looked at again when it changes, or is tried anyway.
                return state.fault != error.description
            }
            guard isNews else { return }
            // At the start the program reads the file itself, and reports why it cannot be used.
            if case .file = source, current == nil { return }
            logger.warning(
                "Could not read the keys of tokens; those of before go on",
                metadata: ["source": "\(source.text)", "error": "\(error)"])
        }
    }

    private func take(
        _ bytes: [UInt8], stamp: TokenKeyFile.Stamp?, _ read: () async throws(TokenKeySet.Fault) -> TokenKeySet
    ) async throws(TokenKeySet.Fault) {
        let known = state.withLock { state -> TokenKeySet? in state.bytes == bytes ? state.current?.set : nil }
        let set: TokenKeySet
        if let known { set = known } else { set = try await read() }
        let isNews = state.withLock { state in
            (state.stamp, state.fault, state.asking) = (stamp, nil, nil)
            guard known == nil else { return false }
            state.bytes = bytes
            state.current = Current(set: set, generation: (state.current?.generation ?? 0) + 1)
            return true
        }
        if isNews {
            logger.info("Read the keys of tokens", metadata: ["source": "\(source.text)", "keys": "\(set.count)"])
        }
    }
}

extension TokenKeySource {
    /// For logs.
    fileprivate var text: String {
        switch self {
        case .file(let path): path
        case .url(let url): String(url.prefix { $0 != "?" })
        }
    }
}
