import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
import Base
import Pipeline
import Postgres
import PurchaseStore

/// Asks Apple for a window of its notification history, page by page, and has each page recorded: never more than one is held.
package struct HistoryWalk: Sendable {
    /// How a walk ended.
    package enum Outcome: Sendable, Hashable {
        /// Everything that the window lists is held.
        case proven
        /// It lists what is not Apple's.
        case refused
        /// Another process has taken the window over.
        case lost
    }

    /// What a page brought, for counting.
    package struct Progress: Sendable, Hashable {
        /// Apple's count, without what it did not sign.
        package var listed: Int
        /// Of those, not held before.
        package var recovered: Int
        /// Not Apple's.
        package var refused: Int
    }

    /// How often a window is begun again within one walk.
    package static let mostRestarts = 3

    /// The token belongs to another list. (App Store Server API, error codes)
    private static let invalidPaginationToken = ServerErrorCode(rawValue: 4_000_014)

    private let history: History
    private let client: AppStoreClient
    private let priority: RateSchedule.Priority
    private let mostPages: Int
    private let progress: @Sendable (Progress) -> Void

    /// A walk through the history of the client's app.
    /// - Parameter mostPages: a window with more is given up, and begun again the next time.
    package init(
        _ history: History, _ client: AppStoreClient, priority: RateSchedule.Priority = .background,
        mostPages: Int = AppleEndpoint.notificationHistory.mostPages,
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) {
        self.history = history
        self.client = client
        self.priority = priority
        self.mostPages = mostPages
        self.progress = progress
    }

    /// Walks a window to its end, from where it was left.
    /// - Throws: `AppStoreFailure`, ``UnusableAnswer``, `TooMuchPending`, `PostgresError` or `CancellationError`; the window can
    ///   then be put off, and keeps its position.
    package func run(_ window: HistoryWindow) async throws -> Outcome {
        var token = window.token
        var pages = window.pages
        var restarts = 0
        while true {
            let answered: AppStoreClient.Answered<NotificationHistoryPage>
            let end = Timestamp(window.endsAt)
            var request = ServerRequest.notificationHistory(from: Timestamp(window.startsAt), to: end)
            request.page = token
            do {
                answered = try await client.ask(
                    request, in: Environment(rawValue: window.scope.environment), priority: priority)
            } catch let failure as AppStoreFailure where Self.hasLostItsPlace(failure) && token != nil {
                guard restarts < Self.mostRestarts else { throw failure }
                restarts += 1
                (token, pages) = (nil, 0)
                guard try await history.beginAgain(window) else { return .lost }
                continue
            }
            // What Apple signs from then on would be dated within the window, and was not listed.
            if let at = answered.answeredAt, at < end { throw UnusableAnswer.early }
            let page = try Self.page(answered.value, of: request)
            guard let recorded = try await history.record(page, of: window) else { return .lost }
            progress(
                Progress(listed: page.letters.count, recovered: recorded.recovered.count, refused: page.refused))
            if let isProven = recorded.isProven { return isProven ? .proven : .refused }
            token = page.next
            pages += 1
            guard pages < mostPages else {
                // From its first page, the next time.
                guard try await history.beginAgain(window) else { return .lost }
                throw UnusableAnswer.endless
            }
        }
    }

    /// Whether the token is good no more: Apple's have an end, and one that was kept over a restart may be of another list.
    private static func hasLostItsPlace(_ failure: AppStoreFailure) -> Bool {
        guard case .apple(let code) = failure.reason else { return false }
        return code.behaviour == .beginAgain || code == Self.invalidPaginationToken
    }

    /// An answer as it is recorded.
    static func page(
        _ answer: NotificationHistoryPage, of request: ServerRequest<NotificationHistoryPage>
    ) throws(UnusableAnswer) -> HistoryPage {
        // That passes: nothing is known of these records yet.
        if answer.refused.contains(where: { $0.failure.code == .revocationUnknown }) { throw .unsettled }
        let next: String?
        do throws(AnswerFault) {
            next = try request.following(answer)?.page
        } catch {
            throw .unreadable
        }
        var letters: [HistoryPage.Letter] = []
        for listed in answer.notifications {
            guard let letter = HistoryPage.Letter(listed) else { throw .unreadable }
            letters.append(letter)
        }
        return HistoryPage(
            letters: letters, refused: answer.refused.count, refusedReason: answer.refused.first?.failure.code.rawValue,
            next: next)
    }
}
