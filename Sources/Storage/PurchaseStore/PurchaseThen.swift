package import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
package import Subscriptions

/// A purchase as it was derived from what had been applied by an instant.
package struct PurchaseThen: Sendable {
    /// The purchase.
    package let key: PurchaseKey
    /// Its state by that evidence, as a function of time.
    package let state: PurchaseState
    /// That evidence.
    let pieces: [RecordedEvidence]
}

/// What was known at an instant: what had been applied by then, whatever it says of the past.
package struct KnowledgeThen: Sendable {
    /// The instant.
    package let instant: Timestamp
    private let policy: StatusPolicy

    /// What was known then. States follow the operator's policy, as the worker's do.
    package init(at instant: Timestamp, policy: StatusPolicy) {
        self.instant = instant
        self.policy = policy
    }

    /// Why it cannot be answered what was known.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The instant is yet to come.
        case inFuture(now: Timestamp)
        /// Evidence from before this instant was dropped.
        case dropped(before: Timestamp)
        /// No catalog had been applied by then.
        case noCatalog(by: Timestamp)
        /// The account was erased since.
        case erased(at: Timestamp)

        /// One line.
        package var description: String {
            switch self {
            case .inFuture(let now): "--known-at lies in the future: it is \(now) now"
            case .dropped(let instant):
                "what was known before \(instant) cannot be answered: the evidence from before it was dropped after STOREHOOK_RETENTION_DAYS"
            case .noCatalog(let instant):
                "no catalog had been applied by \(instant), so that no account had anything then"
            case .erased(let instant): "the account was erased at \(instant), and what was known before is forgotten"
            }
        }
    }

    /// - Throws: ``Refusal`` where it cannot be answered; `PostgresError`.
    package func check(_ session: borrowing PostgresSession) throws {
        let row = try session.query(
            PostgresQuery(
                "ledger.oldest_kept",
                """
                select clock_timestamp() as clock,
                       (select (max(day) + 1)::timestamp at time zone 'UTC' from storehook.outbox_dropped) as oldest
                """)
        ).one()
        let now = Timestamp(try row.decode("clock", as: PostgresTimestamp.self))
        guard instant <= now else { throw Refusal.inFuture(now: now) }
        if let oldest = try row.decode("oldest", as: PostgresTimestamp?.self).map({ Timestamp($0) }), instant < oldest {
            throw Refusal.dropped(before: oldest)
        }
    }

    /// These purchases, derived in memory from the facts that had been applied; those without such facts are left out.
    /// - Throws: `PostgresError`.
    package func purchases(
        _ keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [PurchaseThen] {
        // A transaction that turned up under two purchases counts for the one of the latest record that was known.
        let sharing = try session.query(.sharing(keys)).map { try PurchaseKey($0) }
        let wanted = Set(keys)
        let scope = wanted.union(sharing)
        let evidence = try RecordedEvidence.all(of: Set(scope.map(\.originalTransactionID)).sorted(), session)
            .filter { scope.contains($0.purchase) }
            .map { ($0.purchase, $0.pieces.filter { $0.appliedAt <= instant }) }
        var shared = SharedTransactions()
        if !sharing.isEmpty {
            for (_, pieces) in evidence { for piece in pieces { shared.add(piece.statement) } }
        }
        return evidence.compactMap { key, pieces in
            guard wanted.contains(key), !pieces.isEmpty else { return nil }
            var facts = PurchaseFacts()
            for piece in pieces where !shared.isForeign(piece.statement) { _ = piece.statement.merge(into: &facts) }
            return PurchaseThen(
                key: key, state: PurchaseState(facts, in: key.environment, policy: policy), pieces: pieces)
        }
    }
}

extension LedgerReader {
    /// The purchases of an original transaction at an instant, by what had been applied by another one: their states and
    /// their stories.
    ///
    /// What only a whole record says, such as an offer or the price of a renewal, is taken from the record that stands, and left out
    /// where that was not known then.
    /// - Throws: ``KnowledgeThen/Refusal``, `PostgresError`.
    package func then(
        of originalTransactionID: String, at instant: Timestamp, knownAt known: Timestamp
    ) async throws -> (
        subscriptions: [SubscriptionView], oneTimePurchases: [RecordedOneTimePurchase], stories: [RecordedStory]
    ) {
        let knowledge = KnowledgeThen(at: known, policy: policy)
        return try await pool.withTransaction(
            TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "ledger.then")
        ) { session in
            try knowledge.check(session)
            let keys = try session.query(
                PostgresQuery(
                    "ledger.then_keys",
                    """
                    select environment, bundle_id, original_transaction_id from storehook.purchase_lines
                     where original_transaction_id = \(originalTransactionID) order by environment, bundle_id
                    """)
            ).map { try PurchaseKey($0) }
            let purchases = try knowledge.purchases(keys, session).sorted {
                ($0.key.environment, $0.key.bundleID) < ($1.key.environment, $1.key.bundleID)
            }
            return (
                try purchases.compactMap { try $0.subscription(at: instant, session) },
                purchases.compactMap { purchase in
                    purchase.state.oneTime.map { RecordedOneTimePurchase(purchase: purchase.key, value: $0) }
                }, purchases.map { self.story(of: $0.key, $0.pieces) }
            )
        }
    }
}

extension PurchaseThen {
    /// The subscription at an instant; nil where it is none, and before it began.
    fileprivate func subscription(
        at instant: Timestamp, _ session: borrowing PostgresSession
    ) throws -> SubscriptionView? {
        guard let subscription = state.subscription,
            let phase = subscription.phases.last(where: { $0.startsAt <= instant })
        else { return nil }
        let value = phase.value
        var view = SubscriptionView(key)
        view.productID = value.productID
        view.subscriptionGroupID = subscription.subscriptionGroupID
        view.appAccountToken = value.appAccountToken
        view.status = value.status
        view.expiresAt = Timestamp(PostgresTimestamp(value.expiresAt))
        view.accessUntil = Timestamp(PostgresTimestamp(value.accessUntil))
        view.willRenew = value.willRenew
        view.renewalProductID = value.renewalProductID
        view.inTrial = value.inTrial
        view.priceIncreasePending = value.priceIncreasePending
        view.periodEndsAt = Timestamp(PostgresTimestamp(value.periodEndsAt))
        view.graceEndsAt = value.graceEndsAt.map { Timestamp(PostgresTimestamp($0)) }
        view.expirationIntent = value.expirationIntent
        view.basis = value.basis
        view.since = Timestamp(PostgresTimestamp(phase.startsAt))
        view.transactionID = value.transactionID
        try read(&view, session)
        return view
    }

    /// What only whole records say.
    private func read(_ view: inout SubscriptionView, _ session: borrowing PostgresSession) throws {
        let row = try session.query(
            PostgresQuery(
                "ledger.then_records",
                """
                select t.ownership, t.offer_type, t.offer_id, t.price, t.currency, t.storefront, t.app_transaction_id,
                       r.renewal_price, r.currency as renewal_currency, r.app_transaction_id as renewal_app_transaction_id
                  from (select) as one
                  left join storehook.transactions t
                         on t.transaction_id = \(view.transactionID) and t.bundle_id = \(key.bundleID)
                        and t.environment = \(key.environment)
                  left join storehook.renewals r
                         on r.original_transaction_id = \(key.originalTransactionID) and r.bundle_id = \(key.bundleID)
                        and r.environment = \(key.environment) and r.digest = any (\(pieces.compactMap { $0.statement.renewal?.digest }))
                """)
        ).one()
        view.ownership = try row.decode("ownership")
        view.offerType = try row.decode("offer_type", as: Int16?.self).map(Int.init)
        view.offerID = try row.decode("offer_id")
        view.price = Money(try row.decode("price"), in: try row.decode("currency"))
        view.storefront = try row.decode("storefront")
        view.appTransactionID =
            try row.decode("app_transaction_id") ?? row.decode("renewal_app_transaction_id")
        view.renewalPrice = Money(try row.decode("renewal_price"), in: try row.decode("renewal_currency"))
    }
}
