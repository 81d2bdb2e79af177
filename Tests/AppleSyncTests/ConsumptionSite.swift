import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Logging
import Pipeline
import Postgres
import Simulation
import TestSupport

@testable import AppleSync

/// A refund request of a customer's.
struct Refund: Sendable {
    var account: String
    var transaction: String
    /// The purchase and the request, as Apple signed them.
    var texts: [String]
}

extension Site {
    var requests: ConsumptionRequests { ConsumptionRequests(pool) }
    var consents: Consents { Consents(pool) }

    /// A policy that answers all there is.
    static let answersAll = """
        rules:
          - types: [auto_renewable]
            answer:
              delivery_status: DELIVERED
              sample_content_provided: true
              refund_preference: GRANT_PRORATED
          - name: used
            answer:
              delivery_status: DELIVERED
              sample_content_provided: false
              consumption_percentage: 100%
              refund_preference: DECLINE
        """

    /// A customer who buys and then wants the money back.
    /// - Parameter requests: how many hours ago Apple asked for data, each time.
    func refund(
        _ lane: Int, requests: [Double] = [1], product: SimulatedProduct? = nil, hasAccount: Bool = true,
        ownership: SimulatedSubscriber.Ownership = .purchased, reason: String = "UNINTENDED_PURCHASE"
    ) -> Refund {
        let account = "customer-\(lane)"
        let now = ImpatientClock().now().millisecondsSince1970
        var customer = SimulatedSubscriber(
            app: Self.app, appAccountToken: hasAccount ? "\(AccountToken.of(account))" : nil, lane: lane,
            seed: UInt64(lane))
        let item: SimulatedSubscriber.SoldItem
        if let product {
            item = customer.charge(product, at: now - 3 * 86_400_000)
        } else {
            let line = customer.buy(.premiumMonthly, ownership: ownership, at: now - 3 * 86_400_000)
            item = customer.latest(of: line)
        }
        for hours in requests.sorted(by: >) {
            customer.requestRefund(of: item, reason: reason, at: now - Int64(hours * 3_600_000))
        }
        return Refund(
            account: account, transaction: customer[item].transactionId,
            texts: customer.takeNotifications().map { $0.signed(by: authority) })
    }

    /// Stores and applies what Apple signed about refunds.
    func hear(_ refunds: [Refund]) async throws {
        try await post(refunds.flatMap(\.texts))
        try await workOff()
    }

    func consent(_ account: String, _ granted: Bool = true) async throws {
        _ = try await consents.record(
            AccountIdentity(named: account), granted: granted, text: "as it was shown", by: "test")
    }

    func consumption(
        _ policy: String? = Self.answersAll, named name: String = "test", hasKey: Bool = true,
        over pool: PostgresPool? = nil, catalog: @escaping @Sendable () async throws -> ConsumptionPolicy? = { nil },
        logger: Logger = quiet
    ) throws -> DutyRunner<ConsumptionDuty> {
        DutyRunner(
            ConsumptionDuty(
                ConsumptionRequests(pool ?? self.pool), try policy.map { try ConsumptionPolicy(yaml: $0) },
                catalog: catalog, isThorough: true, logger: logger, metrics: AppleSyncMetrics()),
            hasKey ? try clients() : AppleClients([], in: []), owner: name, interval: .zero)
    }

    /// Lets a worker do all that is due, what is put off too where `now` is set.
    func answerAll(_ duty: DutyRunner<ConsumptionDuty>, now: Bool = true) async throws {
        if now { try await makeDue() }
        while true {
            guard case .worked = try await duty.step() else { return }
        }
    }

    /// Whatever is put off is due now.
    func makeDue() async throws {
        try await pool.query(
            """
            with waiting as (
                select id from storehook.consumption_queue where lease_token is null for update skip locked
            )
            update storehook.consumption_queue q set due_at = now() from waiting where q.id = waiting.id
            """)
    }

    /// As after some hours: the deadlines of what is open are over.
    func passDeadlines() async throws {
        try await pool.query(
            "update storehook.consumption_answers set deadline = now() - interval '1 second' where outcome is null")
    }

    /// State and reason of the requests about a transaction, by when Apple asked.
    func states(of refund: Refund) async throws -> [String] {
        try await pool.query(
            """
            select state || coalesce(' ' || why, '') from storehook.consumption_requests
             where transaction_id = \(refund.transaction) order by signed_at
            """
        ).map { try $0.decode(0) }
    }
}
