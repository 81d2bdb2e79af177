import AppStorePayloads
import AppStoreServerAPI
package import AppleRecords
package import Base
import EvidenceStore
import Foundation
import Logging
package import Pipeline
package import Postgres

/// Reconciliation on request: now, up to the present, and until it is done.
package struct Reconciliation: Sendable {
    /// How far behind the present the last window ends: `Date` in Apple's answers is to the second, and clocks differ.
    static let behind = Duration.seconds(5)

    /// How many of what is missing are named.
    private static let mostNamed = 1000

    private let history: History
    private let clients: AppleClients
    private let scopes: [AppEnvironment]
    private let runner: DutyRunner<HistoryDuty>

    /// Reconciliation of these apps and environments, all of them among the clients'.
    package init(
        _ history: History, _ clients: AppleClients, of scopes: [AppEnvironment], owner: String,
        metrics: AppleSyncMetrics = AppleSyncMetrics()
    ) {
        self.history = history
        self.clients = clients
        self.scopes = scopes
        var logger = Logger(label: "reconcile")
        logger.logLevel = .error
        runner = DutyRunner(
            HistoryDuty(history, sharing: clients.budget, logger: logger, metrics: metrics), clients, owner: owner)
    }

    /// Fetches what is missing, up to some seconds ago. Whatever ends it, the next run goes on from there.
    /// - Parameters:
    ///   - since: asks all windows that end after it once more; without it, those that would be asked anyhow.
    ///   - progress: what was listed and recovered, and how many windows are left.
    /// - Returns: what is proven now, of these apps and environments.
    package func run(
        since: PostgresTimestamp?, progress: @escaping @Sendable (HistoryWalk.Progress, _ left: Int64) -> Void
    ) async throws -> [HistoryProof] {
        try await history.plan(scopes, behind: Self.behind, partial: true)
        try await history.requeueNow(scopes, since: since)
        while true {
            let open = try await history.open(scopes)
            if open.due == 0 {
                guard open.leased > 0 else { break }
                // Others are at them, or one of ours was killed: then its lease ends.
                try await Task.sleep(for: .milliseconds(500))
                continue
            }
            var runner = self.runner
            runner.duty.progress = { progress($0, open.due + open.leased) }
            switch try await runner.next(of: scopes) {
            case nil: try await Task.sleep(for: .milliseconds(100))
            case .postponed(let why)? where why.isGeneral: return try await proofs()
            default: continue
            }
        }
        return try await proofs()
    }

    private func proofs() async throws -> [HistoryProof] {
        try await history.proofs().filter { scopes.contains($0.scope) }
    }

    /// Reports what is missing, and stores nothing; for each app and environment but those that were never released.
    package func check(
        since: PostgresTimestamp?, progress: @Sendable (HistoryWalk.Progress) -> Void
    ) async throws -> [HistoryCheck] {
        var checks: [HistoryCheck] = []
        var refused: (scope: AppEnvironment, failure: AppStoreFailure)?
        for scope in scopes {
            do {
                checks.append(try await check(scope, since: since, progress: progress))
            } catch let failure as AppStoreFailure
                where failure.reason == .unauthorized && scope.environment == Environment.production.rawValue
            {
                refused = refused ?? (scope, failure)
            }
            // Production refuses the key of an app that was never released; Sandbox shows whether the key is good.
            if let (first, failure) = refused, first.bundleID != scope.bundleID { throw failure }
            if refused?.scope.bundleID == scope.bundleID, checks.last?.scope == scope { refused = nil }
        }
        if let refused { throw refused.failure }
        return checks
    }

    /// Reports what is missing, and stores nothing. Asks a day at a time, up to now.
    func check(
        _ scope: AppEnvironment, since: PostgresTimestamp?, progress: @Sendable (HistoryWalk.Progress) -> Void
    ) async throws -> HistoryCheck {
        guard let client = clients.client(of: scope) else { return HistoryCheck(scope: scope) }
        let (oldest, now) = try await history.reach(scope)
        var check = HistoryCheck(scope: scope)
        var start = max(since ?? oldest, oldest)
        while start < now {
            let end = min(start.adding(.seconds(86_400)), now)
            try await check.add(day(client, scope, start, end, progress), naming: Self.mostNamed)
            start = end
        }
        return check
    }

    private func day(
        _ client: AppStoreClient, _ scope: AppEnvironment, _ start: PostgresTimestamp, _ end: PostgresTimestamp,
        _ progress: @Sendable (HistoryWalk.Progress) -> Void
    ) async throws -> HistoryCheck {
        let request = ServerRequest.notificationHistory(
            from: Timestamp(millisecondsSince1970: start.millisecondsSince1970),
            to: Timestamp(millisecondsSince1970: end.millisecondsSince1970))
        var pages = client.pages(
            request, in: Environment(rawValue: scope.environment), priority: .interactive)
        var check = HistoryCheck(scope: scope)
        var restarts = 0
        while let answered = try await pages.next() {
            // A list that was begun again comes from its first page.
            if pages.restarts > restarts {
                restarts = pages.restarts
                check = HistoryCheck(scope: scope)
            }
            let page = try HistoryWalk.page(answered.value, of: request)
            let missing = try await history.missing(page.letters)
            let recovered = try await history.recovered(among: page.letters.map(\.notificationUUID))
            check.add(
                HistoryCheck(
                    scope: scope, listed: page.letters.count, held: page.letters.count - missing.count,
                    recovered: recovered, missing: missing.map(\.notificationUUID), missingCount: missing.count,
                    refused: page.refused),
                naming: Self.mostNamed)
            progress(.init(listed: page.letters.count, recovered: 0, refused: page.refused))
        }
        return check
    }
}
