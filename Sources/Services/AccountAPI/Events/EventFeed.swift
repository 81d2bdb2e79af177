package import APIKit
import Base
package import EventStore
import HTTPTypes
package import Logging
import ServiceLifecycle
import Synchronization

/// `GET /v1/events`: events in the one order that all readers follow, for backends that would rather ask than be called.
///
/// A reader that has read everything waits here, and holds no connection to the database meanwhile. The feed looks for all waiting
/// readers at once whether there is more: once a second, and at a hint. Readers that then ask for the same share one statement.
package final class EventFeed: Service {
    private struct Stretch: Hashable, Sendable {
        var cursor: Int64?
        var limit: Int
    }

    private struct Waiting {
        let cursor: Int64
        /// True once there may be news, false if the wait is over.
        let news: OneShot<Bool>
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var lastID: UInt64 = 0
        var hints: UInt64 = 0
    }

    /// The most bytes of events in one answer; a single event may be larger.
    private static let mostBytes = 1 << 20

    private let reads: SharedReads<Stretch, Result<FeedAnswer, FeedRefusal>>
    private let newest: @Sendable () async throws -> Int64
    private let mostWaiters: Int
    private let interval: Duration
    private let logger: Logger
    private let state = Mutex(State())
    private let looks: AsyncStream<Void>
    private let look: AsyncStream<Void>.Continuation

    /// A feed without readers yet.
    /// - Parameters:
    ///   - connections: how many the store's pool has; most of them are left to other work.
    ///   - watch: ends the waiting for a database that is silent.
    ///   - mostWaiters: how many readers wait at most; the next one is refused.
    ///   - interval: how often the feed looks whether there is more, give or take a quarter, without any hint.
    package init(
        _ events: EventStore, connections: Int, watch: DatabaseWatch, mostWaiters: Int = 100,
        interval: Duration = .seconds(1), logger: Logger
    ) {
        reads = SharedReads(most: 1, fewStatements: 1, mostStatements: max(1, connections / 4)) { stretches in
            guard let stretch = stretches.first else { return [] }
            do {
                let page = try await watch.watching {
                    try await events.page(after: stretch.cursor, limit: stretch.limit, upTo: Self.mostBytes)
                }
                return [.success(FeedAnswer(page))]
            } catch let refusal as FeedRefusal {
                return [.failure(refusal)]
            }
        }
        newest = { try await watch.watching { try await events.bounds().newest } }
        self.mostWaiters = mostWaiters
        self.interval = interval
        self.logger = logger
        (looks, look) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many readers wait.
    package var waiters: Int { state.withLock { $0.waiting.count } }

    /// There may be news. Without this hint they are found within a second.
    package func hint() {
        state.withLock { $0.hints += 1 }
        look.yield()
    }

    /// Looks for news for the waiting readers, until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    while !Task.isCancelled {
                        // Many of these do not ask together.
                        try? await Task.sleep(for: self.interval.jittered)
                        self.look.yield()
                    }
                }
                for await _ in self.looks { await self.wakeReadersWithNews() }
                group.cancelAll()
            }
        }
    }

    private func wakeReadersWithNews() async {
        guard waiters > 0 else { return }
        let newest: Int64?
        do {
            newest = try await self.newest()
        } catch {
            // The readers look for themselves, and their answers say what failed.
            logger.debug("Could not look for news", metadata: ["error": "\(error)"])
            newest = nil
        }
        let woken = state.withLock { $0.waiting.values.filter { $0.cursor != newest } }
        for waiting in woken { waiting.news.set(.success(true)) }
    }

    // MARK: The endpoint

    /// The endpoint.
    package var endpoint: AccountEndpoint {
        var endpoint = AccountEndpoint(
            .get, "/v1/events", "getEvents",
            "What has happened, in one order that is the same for all readers and has no gaps; waits up to 30 seconds for news.",
            for: .server, successes: [.init("What comes after the cursor, as far as it is there.", FeedAnswer.schema)]
        ) { try await self.answer($0) }
        endpoint.query = [
            .init("after", .integer(0...Int64.max), "The next of the last answer. Without it: all that are kept."),
            .init("limit", .integer(1...1000), "How many events at most, 100 by default; there may be fewer."),
            .init("wait", .integer(0...30), "For how many seconds to wait where there is none, 30 by default."),
        ]
        endpoint.style = .problem(
            "EventFeedProblem",
            adding: [
                .optional("oldest", .integer(), "Of events_gone: the cursor to go on from."),
                .optional("newest", .integer(), "Of cursor_unknown: the cursor of the last event that there is."),
            ])
        endpoint.refusesFitting = "a cursor is one that an earlier answer had"
        endpoint.problems = [.eventsGone, .cursorUnknown]
        endpoint.isWatched = true
        return endpoint
    }

    private func answer(_ request: AccountRequest) async throws -> APIAnswer {
        func number(_ name: String) -> Int64? { request.query[name].flatMap { Int64($0) } }
        var stretch = Stretch(cursor: number("after"), limit: Int(number("limit") ?? 100))
        let end = ContinuousClock.now + .seconds(number("wait") ?? 30)
        while true {
            let hints = state.withLock(\.hints)
            let page = try await read(stretch)
            guard page.isEmpty, try await isThereNews(after: page.next, since: hints, until: end) else {
                return APIAnswer(bytes: page.bytes, contentType: "application/json")
            }
            stretch.cursor = page.next
        }
    }

    private func read(_ stretch: Stretch) async throws -> FeedAnswer {
        switch try await reads.value(of: stretch) {
        case .success(let page): return page
        case .failure(.gone(let oldest)):
            throw APIProblem(
                .eventsGone,
                ProblemText(
                    "the event after this cursor is not kept any more; those that are come after oldest",
                    "此游标之后的事件已不再保留；现存的事件在 oldest 之后", "此游標之後的事件已不再保留；現存的事件在 oldest 之後"),
                members: [.init("oldest", .integer(oldest))])
        case .failure(.ahead(let newest)):
            throw APIProblem(
                .cursorUnknown,
                ProblemText(
                    "no event was given this number; was it read from another database, or before a restore?",
                    "没有此编号的事件；它是否来自另一个数据库，或恢复之前？", "沒有此編號的事件；它是否來自另一個資料庫，或還原之前？"),
                members: [.init("newest", .integer(newest))])
        }
    }

    /// Waits until there may be more, until an instant or until the program is being stopped: then no.
    private func isThereNews(
        after cursor: Int64, since hints: UInt64, until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        guard ContinuousClock.now < deadline else { return false }
        let news = OneShot<Bool>()
        let id = try enter(Waiting(cursor: cursor, news: news), since: hints)
        let timer = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            news.set(.success(false))
        }
        defer {
            timer.cancel()
            state.withLock { $0.waiting[id] = nil }
        }
        return try await withGracefulShutdownHandler {
            try await withTaskCancellationHandler {
                try await news.wait()
            } onCancel: {
                news.set(.success(false))
            }
        } onGracefulShutdown: {
            news.set(.success(false))
        }
    }

    private func enter(_ waiting: Waiting, since hints: UInt64) throws(APIProblem) -> UInt64 {
        let (id, isHinted) = state.withLock { state -> (UInt64?, Bool) in
            guard state.waiting.count < mostWaiters else { return (nil, false) }
            state.lastID += 1
            state.waiting[state.lastID] = waiting
            return (state.lastID, state.hints != hints)
        }
        guard let id else {
            throw .unavailable(
                ProblemText("too many requests wait for events; ask again", "等待事件的请求已满，请稍后重试", "等待事件的請求已滿，請稍後再試"),
                retryAfter: 5)
        }
        // The hint came after this reader asked the database, and before it waited.
        if isHinted { look.yield() }
        return id
    }
}

extension ProblemCode {
    /// What comes after the cursor is not kept any more.
    package static let eventsGone = ProblemCode(.gone, "events_gone", "Events this old are not kept any more")
    /// The cursor was never given.
    package static let cursorUnknown = ProblemCode(.badRequest, "cursor_unknown", "The cursor is of another feed")
}
