import APIKit
import AccountStore
import Base
package import EvidenceStore
import HTTPKit
package import Logging
import Postgres
import ServiceLifecycle
import Staff
import Synchronization

/// Sends the overview to all readers by server-sent events. The feed asks the database once in two seconds, for one row by its key, however
/// many readers there are. Without readers it does not ask.
package final class OverviewFeed: Service {
    /// The bounds of a feed.
    package struct Bounds: Sendable {
        /// The most streams of all members.
        package var most = 256
        /// The most streams of one member: a browser tab is one.
        package var mostOfOne = 16
        /// Between two looks at the database. Workers write a row each five seconds; with the tables of tokens and sessions, which are read each five
        /// seconds, a console asks less than one query a second.
        package var interval = Duration.seconds(2)
        /// How long a reader may leave a message unread. Then the connection is closed.
        package var patience = Duration.seconds(10)
        /// After how long without news a message says that the stream lives: less than proxies wait.
        package var silence = Duration.seconds(15)
        /// How long a stream lasts where a proxy has logged in its reader: then the browser asks again, and the proxy says who it is by then.
        package var proxied = Duration.seconds(300)

        /// The usual bounds.
        package init() {}
    }

    private struct Reader {
        /// The name that acts record.
        let actor: String
        /// The member's number; nil where a proxy has logged in the reader.
        let member: Int64?
        let messages: AsyncStream<[UInt8]>.Continuation
        let isStillGood: @Sendable () -> Bool
        let cutOff: @Sendable () -> Void
        var scope: StaffScope
        /// When it ends by itself; nil where it does not.
        var endsAt: ContinuousClock.Instant?
        /// Since when a message is being written; nil where none is.
        var writingSince: ContinuousClock.Instant?
        var sentAt: ContinuousClock.Instant?
        /// What it has; nil for nothing yet.
        var has: ShownOverview.News?
    }

    private struct State {
        var readers: [UInt64: Reader] = [:]
        var lastID: UInt64 = 0
        var hasStopped = false
        var readings = 0
    }

    private let overview: OverviewStore
    private let bounds: Bounds
    private let logger: Logger
    private let state = Mutex(State())

    /// A feed without readers.
    package init(_ overview: OverviewStore, bounds: Bounds = Bounds(), logger: Logger) {
        self.overview = overview
        self.bounds = bounds
        self.logger = logger
    }

    /// How often it has asked the database.
    package var readings: Int { state.withLock(\.readings) }
    /// How many read it.
    package var count: Int { state.withLock(\.readers.count) }

    // MARK: Readers

    /// A stream, until its last reference goes: also where the answer is never written.
    final class Stream: Sendable {
        private let feed: OverviewFeed
        private let id: UInt64
        private let messages: AsyncStream<[UInt8]>

        fileprivate init(_ feed: OverviewFeed, _ id: UInt64, _ messages: AsyncStream<[UInt8]>) {
            self.feed = feed
            self.id = id
            self.messages = messages
        }

        deinit { feed.leave(id) }

        /// Writes messages until the stream ends, each when the one before is on its way. What came meanwhile is one message: the latest.
        func send(_ write: ([UInt8]) async throws -> Void) async throws {
            for await message in messages {
                feed.mark(id, isWriting: true)
                try await write(message)
                feed.mark(id, isWriting: false)
            }
        }
    }

    /// A stream for a member.
    /// - Parameters:
    ///   - isStillGood: whether the member's credentials are good still; asked at each look.
    ///   - cutOff: closes the connection of a reader that does not read.
    /// - Throws: ``APIProblem``, 503, where there are enough, or the program is about to end.
    func stream(
        for member: StaffMember, whileGood isStillGood: @escaping @Sendable () -> Bool,
        cutOff: @escaping @Sendable () -> Void
    ) throws(APIProblem) -> Stream {
        let (messages, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(1))
        var reader = Reader(
            actor: member.actor, member: member.proxiedName == nil ? member.id : nil, messages: continuation,
            isStillGood: isStillGood, cutOff: cutOff, scope: member.scope)
        if reader.member == nil { reader.endsAt = .now + bounds.proxied }
        let opened = reader
        let id = state.withLock { state -> UInt64? in
            guard !state.hasStopped, state.readers.count < bounds.most,
                state.readers.values.count(where: { $0.actor == opened.actor }) < bounds.mostOfOne
            else { return nil }
            state.lastID += 1
            state.readers[state.lastID] = opened
            return state.lastID
        }
        guard let id else {
            throw APIProblem.unavailable("too many streams are open: close one, or ask again later", retryAfter: 30)
        }
        return Stream(self, id, messages)
    }

    private func mark(_ id: UInt64, isWriting: Bool) {
        state.withLock { state in
            guard state.readers[id] != nil else { return }
            state.readers[id]?.writingSince = isWriting ? ContinuousClock.now : nil
        }
    }

    private func leave(_ id: UInt64) {
        let reader = state.withLock { $0.readers.removeValue(forKey: id) }
        reader?.messages.finish()
    }

    // MARK: Sending

    /// Sends until graceful shutdown; then all streams end.
    package func run() async throws {
        await repeatUntilShutdown(pause: { self.bounds.interval }) { await self.step() }
        let readers = state.withLock { state in
            state.hasStopped = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.messages.finish() }
    }

    /// One look: ends the streams that are to end, asks the database once, and sends what is new.
    func step() async {
        let (slow, ended) = takeEnding(at: .now)
        for reader in slow { reader.cutOff() }
        for reader in slow + ended { reader.messages.finish() }
        if !slow.isEmpty { logger.debug("Closed overviews that nobody reads", metadata: ["count": "\(slow.count)"]) }
        let members = state.withLock { state -> [Int64]? in
            guard !state.readers.isEmpty else { return nil }
            state.readings += 1
            return Set(state.readers.values.compactMap(\.member)).sorted()
        }
        guard let members else { return }
        do {
            send(try await overview.latest(watchedBy: members))
        } catch {
            if Task.isCancelled { return }
            // The pool reports an unreachable database. Who looks on sees that "as of" stands still.
            logger.debug("Could not read the overview", metadata: ["error": "\(error)"])
            sendSigns()
        }
    }

    /// Takes out those who do not read, and those whose credentials are good no longer.
    private func takeEnding(at now: ContinuousClock.Instant) -> (slow: [Reader], ended: [Reader]) {
        // Asked without the lock: other code says whether credentials are good.
        let readers = state.withLock(\.readers)
        let bad = readers.filter { !$0.value.isStillGood() || $0.value.endsAt.map { $0 <= now } ?? false }.keys
        return state.withLock { state in
            let slow = state.readers.filter { _, reader in
                reader.writingSince.map { now - $0 > bounds.patience } ?? false
            }.keys
            let taken = (slow: slow.compactMap { state.readers.removeValue(forKey: $0) }, ended: [Reader]())
            return (taken.slow, bad.compactMap { state.readers.removeValue(forKey: $0) })
        }
    }

    private func send(_ latest: OverviewStore.Latest) {
        // One text for all who may see the same.
        var shown: [StaffScope: ShownOverview] = [:]
        var texts: [StaffScope: [UInt8]] = [:]
        let gone = state.withLock { state -> [Reader] in
            var gone: [Reader] = []
            let now = ContinuousClock.now
            for id in Array(state.readers.keys) {
                guard var reader = state.readers[id] else { continue }
                var scope = reader.scope
                if let member = reader.member {
                    guard let apps = latest.members[member] else {
                        gone.append(reader)
                        state.readers[id] = nil
                        continue
                    }
                    scope = apps.map { StaffScope.some(Set($0)) } ?? .all
                }
                let overview = shown[scope] ?? ShownOverview(latest, to: scope)
                shown[scope] = overview
                if reader.scope == scope, reader.has == overview.news {
                    if sign(&reader, at: now) { state.readers[id] = reader }
                    continue
                }
                let text = texts[scope] ?? Self.message(overview)
                texts[scope] = text
                reader.scope = scope
                reader.has = overview.news
                reader.sentAt = now
                state.readers[id] = reader
                reader.messages.yield(text)
            }
            return gone
        }
        for reader in gone { reader.messages.finish() }
    }

    private func sendSigns() {
        state.withLock { state in
            let now = ContinuousClock.now
            for id in Array(state.readers.keys) {
                guard var reader = state.readers[id], sign(&reader, at: now) else { continue }
                state.readers[id] = reader
            }
        }
    }

    /// Sends a comment where there was no message for long, so that a connection that is gone is noticed and proxies keep the others.
    private func sign(_ reader: inout Reader, at now: ContinuousClock.Instant) -> Bool {
        if let sentAt = reader.sentAt, now - sentAt < bounds.silence { return false }
        reader.sentAt = now
        reader.messages.yield(Self.signOfLife)
        return true
    }

    private static let signOfLife = Array(":\n\n".utf8)

    /// As an event stream has it (HTML, 9.2.6): the JSON has no line end.
    private static func message(_ shown: ShownOverview) -> [UInt8] {
        var bytes = Array("event: overview\ndata: ".utf8)
        bytes += AdminShapes.overview.value(of: shown).bytes
        bytes += "\n\n".utf8
        return bytes
    }
}
