import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore
package import Subscriptions

extension AccountStore {
    /// Locks and returns the owners of the locked purchases, with their current state. Used by the event clock, when
    /// only time has passed.
    /// - Parameter others: further accounts to return; they may be locked already.
    package func owners(
        of purchases: [PurchaseKey], and others: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> Settled {
        let moment = try AccountMoment(session)
        var settled = Settled(moment)
        guard let current = moment.current else { return settled }
        settled.warningDays = try catalog(current, session).warningDays
        let linked = try session.query(
            PostgresQuery(
                "accounts.linked",
                """
                select distinct l.token
                  from unnest(
                       \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                       \(purchases.map(\.environment)))
                       as purchase (original_transaction_id, bundle_id, environment)
                  join storehook.account_lines l using (original_transaction_id, bundle_id, environment)
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
        let accounts = Set(linked).union(others).sorted()
        guard !accounts.isEmpty else { return settled }
        try hold(accounts, session)
        let (timeline, now) = (try self.timeline(current, session), Timestamp(moment.clock))
        for account in try load(accounts, for: timeline.catalogs, session) where account.isKnown {
            settled.states.append(
                State(
                    token: account.token, environment: account.environment, state: account.state(by: timeline)))
            for purchase in account.owned(at: now) { settled.owners[purchase] = account.token }
        }
        return settled
    }
}
