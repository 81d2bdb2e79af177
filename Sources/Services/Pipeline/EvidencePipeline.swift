package import AccountStore
package import Accounts
package import EventStore
package import Events
import EvidenceStore
package import Postgres
package import PurchaseStore
package import Subscriptions

/// The way of verified evidence inside a transaction: facts and state, accounts, events, and further readers of changes.
///
/// The worker takes evidence this way, and so does everything that an app hands in or that Apple answers while an app waits. Locks are
/// taken in one order: purchases by their keys, then accounts by their tokens.
package struct EvidencePipeline: Sendable {
    /// The accounts that purchases belong to after the evidence.
    package enum Ownership: Sendable {
        /// As before.
        case unchanged
        /// An account has proven purchases, and gets those that the rule gives it.
        case proven([PurchaseKey], account: AccountIdentity, rule: RestoreRule)
    }

    /// What has changed, before accounts follow.
    package struct Change: Sendable {
        /// The outcome of each entry of evidence, in their order.
        package let outcomes: [LedgerOutcome]
        /// How evidence changed each purchase.
        package let deltas: [PurchaseDelta]
        /// The purchases whose state or owner changed; they are locked until the transaction ends.
        package let purchases: [PurchaseKey]

        /// A change by evidence.
        init(outcomes: [LedgerOutcome], deltas: [PurchaseDelta]) {
            self.outcomes = outcomes
            self.deltas = deltas
            purchases = deltas.map(\.key)
        }

        /// A change without evidence.
        init(of purchases: [PurchaseKey]) {
            (outcomes, deltas) = ([], [])
            self.purchases = purchases
        }
    }

    /// What has happened in the transaction.
    package struct Applied: Sendable {
        /// The purchases that changed, and why.
        package var change: Change
        /// The accounts as they are now. ``AccountStore/AccountStore/announce(_:)`` names those that changed, after the commit.
        package var settled: AccountStore.Settled
        /// The outcome for each purchase that an account has proven.
        package var bindings: [PurchaseKey: BindOutcome] = [:]
        /// The events that were written; nil where none are.
        package var events: EventCounts?
    }

    /// Derives purchases.
    package let ledger: Ledger
    /// Derives accounts.
    package let accounts: AccountStore
    let events: EventStore?
    private let observers: [any ChangeObserver]

    /// The readers of changes of every program, called in this order. A new one is added here, and nowhere else.
    private static func programObservers(_ pool: PostgresPool) -> [any ChangeObserver] {
        [OrderBooking(pool), RefundFollowing(), ProductNoting()]
    }

    /// The pipeline of a database, as every program has it.
    /// - Parameters:
    ///   - rules: the rules for events; nil writes none, for measuring what events cost.
    ///   - isObserved: whether changes are read by the program's observers; false for what is going to be rolled back.
    package init(
        _ pool: PostgresPool, ledger: Ledger = Ledger(), events rules: EventRules? = EventRules(),
        isObserved: Bool = true
    ) {
        self.init(
            ledger: ledger, accounts: AccountStore(pool), events: rules.map { EventStore(pool, rules: $0) },
            observers: isObserved ? Self.programObservers(pool) : [])
    }

    /// A pipeline of these parts, for tests.
    /// - Parameters:
    ///   - events: nil where no events are written.
    ///   - observers: the readers of changes, called in this order.
    package init(ledger: Ledger, accounts: AccountStore, events: EventStore?, observers: [any ChangeObserver] = []) {
        self.ledger = ledger
        self.accounts = accounts
        self.events = events
        self.observers = observers
    }

    /// Applies verified evidence: ledger, accounts, events, observers.
    /// - Parameters:
    ///   - others: purchases to lock with those of the evidence. Each has been recorded.
    ///   - cause: why events are written that no evidence explains.
    ///   - instant: the latest instant that events are written of; now by default. An end that lies later may have a renewal in evidence
    ///     that waits.
    ///   - derive: runs what derives purchases, for a caller that watches how long it computes.
    ///   - decide: called between ledger and accounts; what it throws rolls everything back.
    /// - Throws: `PostgresError`; what `decide` and observers throw. The transaction must then be rolled back.
    package func apply(
        _ entries: [LedgerEntry], holding others: Set<PurchaseKey> = [], cause: EventCause = .clock,
        upTo instant: PostgresTimestamp? = nil, _ session: borrowing PostgresSession,
        deciding decide: (Change, borrowing PostgresSession) throws -> Ownership = { _, _ in .unchanged },
        deriving derive: (() throws -> Change) throws -> Change = { try $0() }
    ) throws -> Applied {
        let change = try derive { try record(entries, holding: others, session) }
        var applied: Applied
        switch try decide(change, session) {
        case .unchanged:
            applied = Applied(
                change: change, settled: try accounts.settle(change.purchases, having: change.deltas, session))
            applied.events = try events?.record(change.deltas, applied.settled, cause: cause, upTo: instant, session)
        case .proven(let purchases, let account, let rule):
            let bound = try accounts.bind(purchases, to: account, under: rule, changed: change.deltas, session)
            applied = Applied(change: change, settled: bound.settled, bindings: bound.outcomes)
            applied.events = try events?.record(change.deltas, proving: purchases, bound.settled, session)
        }
        for observer in observers { try observer.observe(applied, session) }
        return applied
    }

    /// Reports accounts and purchases that changed without any evidence: acts of staff, trials, rebuilds.
    /// - Parameter purchases: those whose owner or state changed; they are locked.
    /// - Throws: as ``apply(_:holding:cause:upTo:_:deciding:deriving:)``.
    func report(
        _ settled: AccountStore.Settled, of purchases: [PurchaseKey], cause: EventCause,
        _ session: borrowing PostgresSession
    ) throws {
        var applied = Applied(change: Change(of: purchases), settled: settled)
        applied.events = try events?.record(settled, of: purchases, cause: cause, session)
        for observer in observers { try observer.observe(applied, session) }
    }

    /// Facts and state; what was recorded before is noted as a duplicate.
    private func record(
        _ entries: [LedgerEntry], holding others: Set<PurchaseKey>, _ session: borrowing PostgresSession
    ) throws -> Change {
        let (outcomes, deltas) = try ledger.apply(entries, holding: others, session)
        let change = Change(outcomes: outcomes, deltas: deltas)
        try Outbox.recordDuplicates(zip(entries, change.outcomes).filter { $1 == .duplicate }.map(\.0), session)
        return change
    }
}

/// Follows what evidence changes, in the transaction that changes it: a new reader of changes is one of these.
package protocol ChangeObserver: Sendable {
    /// Called after events were written. It waits for nothing but the database.
    /// - Throws: rolls the transaction back.
    func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws
}
