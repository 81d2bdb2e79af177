import AppStorePayloads
import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
package import Subscriptions

/// Asks Apple for all that it holds about the purchases of one account, and stores the signed records, like all
/// evidence.
///
/// An account's purchases are those that name its appAccountToken, and those that it has proven or was given. Each
/// customer's history is asked for once, for all purchases of that customer.
package struct AccountRefresh: Sendable {
    /// What came of it.
    package struct Report: Sendable {
        /// What Apple gave about one customer's purchases.
        package struct Answer: Sendable {
            /// The app's bundle id.
            package var bundleID: String
            /// What Apple gave.
            package var refresh: PurchaseRefresh.Report
        }

        /// The token that was looked for.
        package var token: UniqueIdentifier
        /// How many purchases it stands in; see ``isCut``.
        package var purchases = 0
        /// Whether there are more of them than are looked at.
        package var isCut = false
        /// What Apple gave, a customer each.
        package var answers: [Answer] = []
        /// The purchases that Apple does not know, by their original transaction ids.
        package var unknown: [String] = []
        /// The purchases that cannot be asked about: no key is set for the app, or Apple has no servers for the environment.
        package var unasked: [String] = []
        /// How many purchases a worker is to ask about.
        package var queued = 0
        /// What went wrong with asking now, in one line.
        package var trouble: String?
    }

    /// Purchases of one account that are looked at; a customer of ten years of one subscription has one.
    package static let mostPurchases = 200
    /// Customers' histories that are asked for at once; what is left over is asked by a worker.
    package static let mostQuestions = 10

    private let history: History
    private let clients: AppleClients

    /// - Parameter clients: those of the apps that there is a key for.
    package init(_ history: History, _ clients: AppleClients) {
        self.history = history
        self.clients = clients
    }

    /// Asks.
    /// - Parameters:
    ///   - token: the account's, see `AccountToken`.
    ///   - environment: where to ask; by default all of them.
    ///   - bundleID: which app's purchases; by default all of them.
    /// - Throws: `PostgresError`, `CancellationError`. A missing answer of Apple's is in the report.
    package func run(
        _ token: UniqueIdentifier, in environment: Environment? = nil, of bundleID: String? = nil
    ) async throws -> Report {
        try await run(token, in: environment, of: bundleID, until: nil, among: { $0 }) {
            PurchaseRefresh(history, $0, priority: .interactive)
        }
    }

    /// Asks while a caller waits, and stores nothing: the caller applies the answers at once. What Apple has not answered by the deadline
    /// a worker asks for.
    /// - Parameter owned: those of the purchases that are the account's now. What has gone to another account is not asked about.
    /// - Returns: what came of it, and the signed records that say something new.
    /// - Throws: as ``run(_:in:of:)``.
    package func gather(
        _ token: UniqueIdentifier, until deadline: ContinuousClock.Instant,
        among owned: ([PurchaseKey]) async throws -> [PurchaseKey]
    ) async throws -> (report: Report, news: [Evidence]) {
        let collected = CollectedEvidence()
        let report = try await run(token, in: nil, of: nil, until: deadline, among: owned) {
            PurchaseRefresh(into: collected, $0)
        }
        return (report, try await collected.news(by: history))
    }

    private func run(
        _ token: UniqueIdentifier, in environment: Environment?, of bundleID: String?,
        until deadline: ContinuousClock.Instant?, among owned: ([PurchaseKey]) async throws -> [PurchaseKey],
        by refresh: (AppStoreClient) -> PurchaseRefresh
    ) async throws -> Report {
        var report = Report(token: token)
        let found = try await history.purchases(of: token, limit: Self.mostPurchases + 1)
        report.isCut = found.count > Self.mostPurchases
        var purchases: [AppEnvironment: [String]] = [:]
        for key in try await owned(Array(found.prefix(Self.mostPurchases))) {
            guard environment.map({ $0.rawValue == key.environment }) ?? true, bundleID ?? key.bundleID == key.bundleID
            else { continue }
            report.purchases += 1
            purchases[AppEnvironment(bundleID: key.bundleID, environment: key.environment), default: []]
                .append(key.originalTransactionID)
        }
        let scopes = purchases.keys.sorted { ($0.environment, $0.bundleID) < ($1.environment, $1.bundleID) }
        for scope in scopes {
            guard let ids = purchases[scope] else { continue }
            guard let client = clients.client(of: scope) else {
                report.unasked += ids
                continue
            }
            let outcome = try await refresh(client).run(
                about: ids, in: Environment(rawValue: scope.environment),
                atMost: Self.mostQuestions - report.answers.count - report.unknown.count, until: deadline)
            report.answers += outcome.refreshes.map { .init(bundleID: scope.bundleID, refresh: $0) }
            report.unknown += outcome.unknown
            if let trouble = outcome.trouble { report.trouble = UnusableAnswer.line(trouble) }
            guard !outcome.open.isEmpty else { continue }
            try await history.queueRefreshes(of: outcome.open, in: scope)
            report.queued += outcome.open.count
        }
        return report
    }
}
