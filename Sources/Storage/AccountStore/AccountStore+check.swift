import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

extension AccountStore {
    /// Derives a page of accounts anew and compares the result with the stored rows.
    /// - Parameters:
    ///   - last: the last account of the page before; nil for the first page.
    ///   - repair: write what was derived where it differs; workers wait for the accounts meanwhile.
    /// - Returns: the accounts of the page, none after the last one; what differs or differed; and the repaired accounts.
    ///   Nil where no catalog was ever applied.
    package func rederive(
        after last: UniqueIdentifier?, repair: Bool, _ session: borrowing PostgresSession
    ) throws -> (accounts: [UniqueIdentifier], differences: [RowDifference], repaired: Settled?)? {
        let accounts = try accounts(after: last, session)
        if repair { try hold(accounts, session) }
        let moment = try AccountMoment(session)
        guard let current = moment.current else { return nil }
        let timeline = try timeline(current, session)
        var differences: [RowDifference] = []
        let (standing, past) = (try standing(accounts, under: current, session), try past(of: accounts, session))
        for account in try load(accounts, for: timeline.catalogs, extent: .whole, session) where account.isKnown {
            let state = account.state(by: timeline)
            let derived = account.row(of: state.from(account.keptFrom), current)
            let id = Standing(token: account.token, environment: account.environment)
            let key = "\(account.token) \(account.environment)"
            let stored = standing[id]
            if stored?.phases != derived.phases {
                differences.append(
                    RowDifference(
                        table: "account_status", key: key, column: "phases", stored: stored?.summary ?? "nothing",
                        derived: AccountState(derived.phases)?.summary ?? ""))
            } else if stored?.holdings != derived.holdings {
                differences.append(
                    RowDifference(
                        table: "account_status", key: key, column: "holdings",
                        stored: stored?.holdings?.summary ?? "nothing", derived: derived.holdings.summary))
            }
            let stands = past[ViewKey(account.token, in: account.environment)] ?? []
            let was = state.phases.filter { $0.startsAt < derived.knownFrom ?? .distantPast }
            if stands.joined(upTo: derived.knownFrom) != was.past {
                differences.append(
                    RowDifference(
                        table: "account_history", key: key, column: "phases",
                        stored: AccountState(stands.map(\.phase))?.summary ?? "nothing",
                        derived: AccountState(was)?.summary ?? "nothing"))
            }
        }
        let isRepaired = repair && !differences.isEmpty
        return (accounts, differences, isRepaired ? try settle(accounts, under: moment, session) : nil)
    }

    /// Derives `account_lines` of a page of purchases anew, where it is kept. `repair` needs the purchases locked.
    /// - Returns: what differs or differed, and the repaired accounts.
    package func relink(
        _ purchases: [PurchaseKey], repair: Bool, _ session: borrowing PostgresSession
    ) throws -> (differences: [RowDifference], repaired: Settled?) {
        let moment = try AccountMoment(session)
        guard moment.current != nil, !purchases.isEmpty else { return ([], nil) }
        let differences = try session.query(
            PostgresQuery(
                "accounts.link_differences",
                """
                with \(embedding: .holders(of: purchases)), stored as (
                    select l.token, environment, original_transaction_id, bundle_id
                      from storehook.account_lines l
                      join changed using (original_transaction_id, bundle_id, environment)
                )
                select concat_ws(' ', token, original_transaction_id, bundle_id, environment) as key,
                       s.token is not null as is_stored
                  from stored s full join holder h using (token, environment, original_transaction_id, bundle_id)
                 where s.token is null or h.token is null
                 order by 1
                """)
        ).map { row in
            let isStored: Bool = try row.decode("is_stored")
            return RowDifference(
                table: "account_lines", key: try row.decode("key"), column: "*",
                stored: isStored ? "there" : nil, derived: isStored ? nil : "there")
        }
        guard repair, !differences.isEmpty else { return (differences, nil) }
        let accounts = try link(purchases, session).sorted()
        try hold(accounts, session)
        return (differences, try settle(accounts, under: moment, session))
    }

    /// What readers see of accounts: their stored states under the current catalog, in order.
    package static func stored(
        _ accounts: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> [State] {
        try session.query(
            PostgresQuery(
                "accounts.stored_states",
                """
                select token, environment, \(unescaped: StoredAccount.columns.joined(separator: ", "))
                  from storehook.account_status
                 where token = any(\(accounts.map { UUID($0) }))
                   and catalog = (select current_version from storehook.catalog_state)
                 order by token, environment
                """)
        ).compactMap { row in
            let environment: String = try row.decode("environment")
            return try AccountState(row, in: environment, from: 2).map {
                State(
                    token: UniqueIdentifier(try row.decode("token", as: UUID.self)), environment: environment,
                    state: $0)
            }
        }
    }

    private struct Standing: Hashable {
        var token: UniqueIdentifier
        var environment: String
    }

    private func standing(
        _ accounts: [UniqueIdentifier], under catalog: Int64, _ session: borrowing PostgresSession
    ) throws -> [Standing: AccountState] {
        try session.query(
            PostgresQuery(
                "accounts.stored",
                """
                select token, environment, \(unescaped: StoredAccount.columns.joined(separator: ", "))
                  from storehook.account_status
                 where token = any(\(accounts.map { UUID($0) })) and catalog = \(catalog)
                """)
        ).reduce(into: [:]) { standing, row in
            let id = Standing(
                token: UniqueIdentifier(try row.decode("token", as: UUID.self)),
                environment: try row.decode("environment"))
            standing[id] = try AccountState(row, in: id.environment, from: 2)
        }
    }
}

extension [(phase: AccountPhase, end: Timestamp)] {
    /// What these rows say, without what only divides them; nil where they overlap, leave a gap, or end elsewhere.
    fileprivate func joined(upTo end: Timestamp?) -> [AccountPhase]? {
        guard last.map(\.end) == (isEmpty ? nil : end) else { return nil }
        var joined: [AccountPhase] = []
        for (place, row) in enumerated() {
            if place > 0, self[place - 1].end != row.phase.startsAt { return nil }
            if joined.last?.continues(row.phase) != true { joined.append(row.phase) }
        }
        return joined
    }
}

extension [AccountPhase] {
    /// As much of these phases as `account_history` keeps.
    fileprivate var past: [AccountPhase] {
        reduce(into: []) { past, phase in
            let kept = AccountPhase(
                startsAt: phase.startsAt, status: phase.status, tier: phase.tier, source: phase.source,
                productID: phase.productID, purchase: phase.purchase, act: phase.act, expiresAt: phase.expiresAt,
                willRenew: phase.willRenew, inTrial: phase.inTrial)
            if past.last?.continues(kept) != true { past.append(kept) }
        }
    }
}

extension [AccountHolding] {
    /// The holdings in one line.
    fileprivate var summary: String {
        map { holding in
            let end = holding.endsAt.map { "\($0.millisecondsSince1970)" } ?? ""
            return "\(holding.productID) \(holding.startsAt.millisecondsSince1970) \(end)"
        }.joined(separator: ", ")
    }
}

extension AccountState {
    /// The phases in one line.
    fileprivate var summary: String {
        phases.map { phase in
            let start = phase.startsAt == .distantPast ? "" : "\(phase.startsAt.millisecondsSince1970) "
            return "\(start)\(phase.status.rawValue) \(phase.tier) \(phase.source.rawValue)"
        }.joined(separator: ", ")
    }
}
