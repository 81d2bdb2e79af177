package import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import History
import Outbox
import Subscriptions

/// Asks Apple for all that it holds about a purchase and stores the signed records: they take the way of all evidence.
package struct PurchaseRefresh: Sendable {
    /// What Apple gave.
    package struct Report: Sendable, Hashable {
        /// Who answered.
        package var environment: Environment
        /// Signed records in the answers.
        package var answered = 0
        /// Of those, stored; the others are recorded already.
        package var stored = 0
        /// Not Apple's: nobody has seen them.
        package var refused = 0
        /// The purchases that Apple answered about, by their original transaction ids.
        package var purchases: Set<String> = []
    }

    private let history: History
    private let client: AppStoreClient
    private let priority: RateSchedule.Priority

    /// Questions about the client's app.
    package init(_ history: History, _ client: AppStoreClient, priority: RateSchedule.Priority) {
        self.history = history
        self.client = client
        self.priority = priority
    }

    /// Asks for statuses, all transactions and all refunds, and stores each page before the next is asked for.
    /// - Parameters:
    ///   - id: any transaction id of the customer's.
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    /// - Throws: `AppStoreFailure`, ``AnswerTrouble/unsettled``, `PostgresError` or `CancellationError`. What was stored by then stays, and does no harm.
    package func run(_ id: String, in environment: Environment?) async throws -> Report {
        // The history first: it is known of everything that was ever bought, the statuses of subscriptions alone.
        var pages = client.pages(TransactionHistoryRequest(id), in: environment, priority: priority)
        var report = Report(environment: environment ?? .production)
        while let page = try await pages.next() {
            report.environment = page.environment
            try await take(page.value, &report)
        }
        _ = try await statuses(of: id, in: report.environment, &report)
        var refunds = client.pages(RefundHistoryRequest(id), in: report.environment, priority: priority)
        while let page = try await refunds.next() { try await take(page.value, &report) }
        return report
    }

    /// Asks for the statuses of a customer's subscriptions, and stores what is signed in the answer.
    /// - Throws: as ``run(_:in:)``.
    func statuses(of id: String, in environment: Environment) async throws -> SubscriptionStatuses {
        var report = Report(environment: environment)
        return try await statuses(of: id, in: environment, &report)
    }

    private func statuses(
        of id: String, in environment: Environment, _ report: inout Report
    ) async throws -> SubscriptionStatuses {
        let statuses = try await client.ask(
            SubscriptionStatusesRequest(id), in: environment, priority: priority
        ).value
        var evidence: [Evidence] = []
        for line in statuses.groups.flatMap(\.lastTransactions) {
            if let record = line.transaction { report.purchases.insert(record.payload.originalTransactionId) }
            if let record = line.transaction { evidence.append(Self.evidence(.transaction, record.jws)) }
            if let record = line.renewal { evidence.append(Self.evidence(.renewal, record.jws)) }
        }
        try await store(evidence, refused: statuses.refused, &report)
        return statuses
    }

    private func take(_ page: TransactionsPage, _ report: inout Report) async throws {
        report.purchases.formUnion(page.transactions.map(\.payload.originalTransactionId))
        try await store(
            page.transactions.map { Self.evidence(.transaction, $0.jws) }, refused: page.refused, &report)
    }

    private func store(_ evidence: [Evidence], refused: [RefusedRecord], _ report: inout Report) async throws {
        // That passes: nothing is known of these records yet, and who has asked is not to come back for a day.
        if refused.contains(where: { $0.failure.code == .revocationUnknown }) { throw AnswerTrouble.unsettled }
        report.answered += evidence.count
        report.refused += refused.count
        report.stored += try await history.store(
            answered: evidence,
            of: HistoryScope(bundleID: client.bundleId, environment: report.environment.rawValue))
    }

    private static func evidence(_ kind: EvidenceKind, _ jws: String) -> Evidence {
        Evidence(kind, from: .api, Array(jws.utf8))
    }
}
