import AccountStore
import Accounts
import AppStorePayloads
package import Base
import Events
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

/// The last events of purchases and accounts, held against what they are. What is about to be reported, by the clock, by a walk, or
/// because it is owed (``EventStore/settleOwed(_:_:atMost:)``), is no difference.
extension EventStore {
    /// Accounts held against their last events, counted.
    package struct AccountCheck: Sendable, Hashable {
        /// How many accounts, of one environment each, were looked at.
        package var looked: Int64
        /// Of those, whose last event says something else than their status.
        package var differing: Int64
        /// Purchases and accounts that were owed to a fill that has been over for five minutes.
        package var overdue: Int64
    }

    /// Looks at so many accounts, from anywhere on: at all of them, where there are no more.
    package func checkAccounts(atMost limit: Int32 = 20_000) async throws -> AccountCheck {
        let row = try await pool.query(
            PostgresQuery(
                "events.check_accounts",
                "select looked, differing, overdue from storehook.telling_differences(\(limit))")
        ).one()
        return AccountCheck(
            looked: try row.decode(0), differing: try row.decode(1), overdue: try row.decode(2))
    }

    /// The subscriptions among these purchases whose last event says something else, or whose next change the clock does not know. Before
    /// the first catalog there are none: until then programs of releases that report nothing may work here.
    package func differences(
        of purchases: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [(purchase: PurchaseKey, difference: RowDifference)] {
        guard !purchases.isEmpty, try isSettled(session) else { return [] }
        let lines = try lines(of: purchases, session)
        let now = try Self.clock(session)
        var found: [(purchase: PurchaseKey, difference: RowDifference)] = []
        for (place, row) in try session.query(.reported(lines.map(\.key))).enumerated() {
            let line = lines[place]
            let told = try ReportedPurchase(row, line.key)
            guard let phase = line.phases.last(where: { $0.startsAt <= now }), !Self.isToCome(told.dueAt, at: now)
            else { continue }
            func add(_ column: String, _ stored: String?, _ derived: String?) {
                let key = "\(line.key.originalTransactionID) \(line.key.bundleID) \(line.key.environment)"
                found.append(
                    (
                        line.key,
                        RowDifference(
                            table: "purchase_tellings", key: key, column: column, stored: stored, derived: derived)
                    ))
            }
            guard let reported = told.line, reported.stands(in: line.phases, at: now) else {
                add("told", told.line?.value.summary, phase.value.summary)
                continue
            }
            if let next = reported.nextChange(line.phases), told.dueAt.map({ $0 > next }) ?? true {
                add("due_at", told.dueAt?.description, next.description)
            }
        }
        return found
    }

    /// Likewise of accounts, in every environment.
    package func differences(
        of accounts: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> [(account: UniqueIdentifier, difference: RowDifference)] {
        guard !accounts.isEmpty, try isSettled(session) else { return [] }
        let states = try AccountStore.stored(accounts, session)
        let now = try Self.clock(session)
        let ids = states.map { ReportedAccess.ID(token: $0.token, environment: $0.environment) }
        var found: [(account: UniqueIdentifier, difference: RowDifference)] = []
        for (place, row) in try session.query(.reported(ids)).enumerated() {
            let (id, state) = (ids[place], states[place].state)
            let told = try ReportedAccess(row, id)
            guard !Self.isToCome(told.dueAt, at: now) else { continue }
            func add(_ column: String, _ stored: String?, _ derived: String?) {
                found.append(
                    (
                        id.token,
                        RowDifference(
                            table: "access_tellings", key: "\(id.token) \(id.environment)", column: column,
                            stored: stored, derived: derived)
                    ))
            }
            let present = state.value(at: now)
            guard let reported = told.reported else {
                if present.status != .free { add("told", nil, present.summary) }
                continue
            }
            guard reported.stands(in: state, at: now) else {
                add("told", reported.value.summary, present.summary)
                continue
            }
            if let next = reported.nextDue(state), told.dueAt.map({ $0 > next }) ?? true {
                add("due_at", told.dueAt?.description, next.description)
            }
        }
        return found
    }

    /// Whether something is about to be reported: it is due, or owed.
    private static func isToCome(_ dueAt: Timestamp?, at now: Timestamp) -> Bool {
        dueAt.map { $0 <= now || $0 >= owed } ?? false
    }

    private static func clock(_ session: borrowing PostgresSession) throws -> Timestamp {
        Timestamp(
            try session.query(PostgresQuery("events.clock", "select clock_timestamp()"))
                .one().decode(0, as: PostgresTimestamp.self))
    }

    /// Whether there are accounts, and no walk through them is under way: until a walk is done it is not known what is missing.
    private func isSettled(_ session: borrowing PostgresSession) throws -> Bool {
        try session.query(
            PostgresQuery(
                "events.is_settled",
                """
                select c.current_version is not null
                       and not exists (
                           select from storehook.telling_walks w
                            where w.is_under_way
                               or w.what = 'accounts' and w.catalog is distinct from c.current_version)
                  from storehook.catalog_state c
                """)
        ).one().decode(0)
    }
}

extension StatusAtInstant {
    /// In some words.
    fileprivate var summary: String {
        "\(status.rawValue) \(productID ?? "-") until \(accessUntil)\(willRenew == false ? ", not renewing" : "")"
    }
}

extension AccountPhase {
    fileprivate var summary: String { "\(status.rawValue) \(tier)" }
}
