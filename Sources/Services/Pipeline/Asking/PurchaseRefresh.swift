import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
package import Base
import EvidenceStore
import Subscriptions

/// Asks Apple for all that it holds about a purchase and stores the signed records: they take the way of all evidence. Or collects
/// them, for a caller that applies them at once.
package struct PurchaseRefresh: Sendable {
    /// What Apple gave.
    package struct Report: Sendable, Hashable {
        /// The environment that answered.
        package var environment: Environment
        /// Signed records in the answers.
        package var answered = 0
        /// Of those, stored; the others are recorded already.
        package var stored = 0
        /// Not Apple's, and left out.
        package var refused = 0
        /// The purchases that Apple answered about, by their original transaction ids.
        package var purchases: Set<String> = []
    }

    /// Where signed records go.
    private enum Place: Sendable {
        case history(History)
        case collected(CollectedEvidence)
    }

    private let place: Place
    private let client: AppStoreClient
    private let priority: RateSchedule.Priority

    /// Questions about the client's app, whose answers are stored for a worker.
    package init(_ history: History, _ client: AppStoreClient, priority: RateSchedule.Priority) {
        place = .history(history)
        self.client = client
        self.priority = priority
    }

    /// Questions while a caller waits: the answers are collected, and not stored.
    init(into collected: CollectedEvidence, _ client: AppStoreClient) {
        place = .collected(collected)
        self.client = client
        priority = .interactive
    }

    /// Asks for statuses, all transactions and all refunds, and stores each page before the next is asked for.
    /// - Parameters:
    ///   - id: any transaction id of the customer's.
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    /// - Throws: `AppStoreFailure`, ``UnusableAnswer/unsettled``, `PostgresError` or `CancellationError`. What was stored by then stays, and does no harm.
    package func run(_ id: String, in environment: Environment?) async throws -> Report {
        // The history first: Apple has one of everything that was ever bought, and statuses of subscriptions alone. The statuses before
        // its further pages: they say what is true now, and the deadline may come before all that ever was.
        var pages = client.pages(.transactionHistory(id), in: environment, priority: priority)
        var report = Report(environment: environment ?? .production)
        if let page = try await pages.next() {
            report.environment = page.environment
            try await take(page.value, &report)
        }
        let statuses = try await statuses(of: id, in: report.environment, &report)
        try await hearOfGrace(in: statuses, &report)
        if case .collected(let collected) = place { collected.settle(report.purchases) }
        while let page = try await pages.next() { try await take(page.value, &report) }
        var refunds = client.pages(.refundHistory(id), in: report.environment, priority: priority)
        while let page = try await refunds.next() { try await take(page.value, &report) }
        return report
    }

    /// Asks for the statuses of a customer's subscriptions, and stores what is signed in the answer.
    /// - Throws: as ``run(_:in:)``.
    package func statuses(of id: String, in environment: Environment) async throws -> SubscriptionStatuses {
        var report = Report(environment: environment)
        return try await statuses(of: id, in: environment, &report)
    }

    private func statuses(
        of id: String, in environment: Environment, _ report: inout Report
    ) async throws -> SubscriptionStatuses {
        let statuses = try await client.ask(
            .subscriptionStatuses(id), in: environment, priority: priority
        ).value
        var evidence: [Evidence] = []
        var transactions: [TransactionPayload] = []
        for line in statuses.groups.flatMap(\.lastTransactions) {
            if let record = line.transaction {
                report.purchases.insert(record.payload.originalTransactionId)
                evidence.append(Self.evidence(.transaction, record.jws))
                transactions.append(record.payload)
            }
            if let record = line.renewal { evidence.append(Self.evidence(.renewal, record.jws)) }
        }
        try await store(evidence, transactions, refused: statuses.refused, &report)
        return statuses
    }

    /// Fetches the notification of a grace period whose end renewal info does not state: then only the status that Apple signs with a
    /// notification proves it. Where that notification was lost, the customer would have no access until a worker compares the next hour
    /// of Apple's list. So Apple is asked for the customer's notifications since the charge was due. Where a caller waits for an answer,
    /// this is left out.
    private func hearOfGrace(in statuses: SubscriptionStatuses, _ report: inout Report) async throws {
        guard case .history(let history) = place else { return }
        for line in statuses.groups.flatMap(\.lastTransactions) where line.status == .gracePeriod {
            guard let id = line.originalTransactionId, let renewal = line.renewal?.payload,
                renewal.gracePeriodExpiresDate == nil, let end = line.transaction?.payload.expiresDate,
                end < renewal.signedDate
            else { continue }
            // Apple charges within the day before an end. What it signs now, it has listed by now.
            let request = ServerRequest.notificationHistory(
                from: end.adding(days: -1), to: renewal.signedDate.adding(seconds: 1), .transaction(id))
            var pages = client.pages(request, in: report.environment, priority: priority)
            while let page = try await pages.next() {
                report.answered += page.value.notifications.count
                report.refused += page.value.refused.count
                report.stored += try await history.store(
                    listed: page.value.notifications.compactMap { HistoryPage.Letter($0) })
            }
        }
    }

    private func take(_ page: TransactionsPage, _ report: inout Report) async throws {
        report.purchases.formUnion(page.transactions.map(\.payload.originalTransactionId))
        try await store(
            page.transactions.map { Self.evidence(.transaction, $0.jws) }, page.transactions.map(\.payload),
            refused: page.refused, &report)
    }

    private func store(
        _ evidence: [Evidence], _ transactions: [TransactionPayload], refused: [RefusedRecord], _ report: inout Report
    ) async throws {
        // That passes: nothing is known of these records yet, and they are to be asked for again soon, not after a day.
        if refused.contains(where: { $0.failure.code == .revocationUnknown }) { throw UnusableAnswer.unsettled }
        report.answered += evidence.count
        report.refused += refused.count
        let scope = AppEnvironment(bundleID: client.bundleId, environment: report.environment.rawValue)
        switch place {
        case .history(let history): report.stored += try await history.store(answered: evidence, of: scope)
        case .collected(let collected): collected.put(evidence, transactions, of: scope)
        }
    }

    private static func evidence(_ kind: EvidenceKind, _ jws: String) -> Evidence {
        Evidence(kind, from: .api, Array(jws.utf8))
    }
}
