package import Accounts
import AppStorePayloads
import Base
import Foundation
package import Postgres
import PurchaseStore
package import Subscriptions

/// The outcome of erasing an account.
package enum Erasure: Sendable, Hashable {
    /// No such account is known.
    case unknown
    /// A purchase was added after the list was read. Nothing was done: read the list again.
    case outpaced
    /// It was erased.
    case erased(ErasedAccount)
}

extension AccountStore {
    /// Forgets a person.
    /// - Removed: the name that the app's own tokens have for the account, name and mail address for the desk, what it used, what apps
    ///   reported of its attempts to buy, and what staff wrote about it and about their acts for it. Those acts no longer count, and stay
    ///   on record; so do the orders of its attempts, without account and reason.
    /// - Released: its purchases. The next account that proves one gets it, also where Apple signed it for this account.
    /// - Kept as a hash: the account, so that it has no second trial; with it what came of the trial, which the database itself notes.
    /// - Kept as evidence: what Apple signed.
    ///
    /// What it agreed to is erased by the caller, who holds its token before anything else (`Consents`).
    /// - Parameters:
    ///   - person: who does it.
    ///   - purchases: the account's, read before the transaction: they are locked before the account.
    ///   - isKnown: whether the caller knows anything of the account.
    package func erase(
        _ account: AccountIdentity, holding purchases: [PurchaseKey], by person: String, isKnown: Bool = false,
        _ session: borrowing PostgresSession
    ) throws -> AccountChange<Erasure> {
        let token = account.token
        // Every writer has a transaction ID before it reads the catalog: see apply(_:by:why:patience:onPage:).
        try session.query(PostgresQuery("accounts.number", "select pg_current_xact_id()::text"))
        try Ledger.hold(purchases, session)
        guard try isKnown || self.isKnown(token, session) else { return AccountChange(.unknown) }
        let moment = try AccountMoment(session)
        // Other accounts that Apple signed into them are derived, too: those signatures no longer count either.
        let concerned = moment.isIdle || purchases.isEmpty ? [] : try link(purchases, session)
        let accounts = Set(concerned).union([token]).sorted()
        try hold(accounts, session)
        guard try Set(lines(of: token, session)).isSubset(of: purchases) else {
            return AccountChange(.outpaced)
        }
        let freed = try standing(purchases, session).filter { $0.owner == token }
        try record(
            freed.flatMap { purchase in
                purchase.everySigned.union([token]).sorted().map {
                    Binding(key: purchase.key, kind: .erasure, token: $0, person: person)
                }
            }, session)
        var erased = try forget(token, purchases, by: person, isLinked: !moment.isIdle, session)
        erased.purchasesFreed = freed.count
        guard !moment.isIdle else { return AccountChange(.erased(erased)) }
        // With a new clock: at the earlier instant the purchases are still its own.
        var settled = try settle(accounts, under: AccountMoment(session), session)
        for purchase in freed { settled.formerOwners[purchase.key] = token }
        return AccountChange(.erased(erased), settled, of: purchases)
    }

    /// Whether any table has something about an account; one that never bought may have used something.
    ///
    /// Tables without an index on the token come last. They are searched only where the others have nothing.
    private func isKnown(_ token: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> Bool {
        let (token, hash) = (UUID(token), Self.hash(token.description))
        return try session.query(
            PostgresQuery(
                "accounts.known",
                """
                select exists (select from storehook.accounts where token = \(token))
                    or exists (select from storehook.account_names where token = \(token))
                    or exists (select from storehook.usage_counters where token = \(token))
                    or exists (select from storehook.usage_keys where token = \(token))
                    or exists (select from storehook.purchase_attempts where token = \(token))
                    or exists (select from storehook.account_profiles where token = \(token))
                    or exists (select from storehook.booked_attempts where token = \(token))
                    or exists (select from storehook.account_status where token = \(token))
                    or exists (select from storehook.account_history where token = \(token))
                    or exists (select from storehook.account_lines where token = \(token))
                    or exists (select from storehook.access_tellings where token = \(token))
                    or exists (select from storehook.staff_acts where token = \(token))
                    or exists (select from storehook.staff_notes where token = \(token))
                    or exists (select from storehook.trials where token = \(token) or account_hash = \(hash))
                    or exists (select from storehook.events where token = \(token))
                    or exists (select from storehook.purchase_bindings where token = \(token))
                    or exists (select from storehook.staff_refund_requests
                                 join storehook.transactions t using (transaction_id, bundle_id, environment)
                                where t.app_account_token = \(token))
                """)
        ).one().decode(0)
    }

    private func forget(
        _ token: UniqueIdentifier, _ purchases: [PurchaseKey], by person: String, isLinked: Bool,
        _ session: borrowing PostgresSession
    ) throws -> ErasedAccount {
        var erased = ErasedAccount()
        let kept = try session.query(
            PostgresQuery(
                "accounts.erased",
                """
                select coalesce((select a.account is not null from storehook.accounts a where a.token = \(UUID(token))), false)
                       or exists (select from storehook.account_names n where n.token = \(UUID(token)))
                       or exists (select from storehook.account_profiles p where p.token = \(UUID(token))) as is_named,
                       (select count(*) from storehook.staff_acts a where a.token = \(UUID(token))) as acts,
                       (select count(*) from storehook.events e where e.token = \(UUID(token))) as events,
                       (select count(*) from storehook.staff_notes t
                         where t.token = \(UUID(token)) and t.erased_at is null) as notes
                """)
        ).one()
        erased.nameForgotten = try kept.decode("is_named")
        erased.actsKept = Int(try kept.decode("acts", as: Int64.self))
        erased.eventsKept = try kept.decode("events")
        erased.purchasesKept = purchases.count
        erased.usageForgotten = try Usage.erase(token, session)
        // The database itself takes out the id in account_names, the notes, and what the audit has of the person, and puts the erasure on
        // record.
        try session.query(
            PostgresQuery(
                "accounts.erase",
                """
                update storehook.accounts
                   set account = null, erased_at = date_trunc('milliseconds', clock_timestamp()),
                       erased_by = \(String(person.prefix(200)))
                 where token = \(UUID(token))
                """))
        try session.query(
            PostgresQuery(
                "accounts.erase_history", "delete from storehook.account_history where token = \(UUID(token))"))
        // The token's hash finds it again where it was erased before.
        erased.trialsKept = try session.query(
            PostgresQuery(
                "accounts.erase_trial",
                """
                with erased as (
                    update storehook.trials set token = null where token = \(UUID(token))
                )
                select from storehook.trials where account_hash = \(Self.hash(token.description))
                """)
        ).count
        erased.attemptsForgotten = try session.query(
            PostgresQuery(
                "accounts.erase_attempts", "delete from storehook.purchase_attempts where token = \(UUID(token))")
        ).affectedRows
        // After the reports, which are locked while orders take note of them.
        try session.query(
            PostgresQuery(
                "accounts.erase_booked_attempts",
                """
                update storehook.booked_attempts
                   set token = null, reason = null, product_id = case when bundle_id = '' then '' else product_id end
                 where token = \(UUID(token))
                """))
        try session.query(.eraseProfile(of: token))
        erased.textsForgotten =
            try Int(kept.decode("notes", as: Int64.self))
            + session.query(.eraseTexts(of: token, purchases, isLinked: isLinked)).affectedRows
            + session.query(.eraseRefundTexts(of: token, purchases, isLinked: isLinked)).affectedRows
        return erased
    }

    /// The purchases that are or were an account's.
    package func purchases(of account: AccountIdentity) async throws -> [PurchaseKey] {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.erase")) {
            try self.lines(of: account.token, $0)
        }
    }

    private func lines(of token: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> [PurchaseKey] {
        try session.query(
            PostgresQuery(
                "accounts.purchases",
                """
                select environment, bundle_id, original_transaction_id
                  from storehook.account_lines where token = \(UUID(token))
                """)
        ).map {
            PurchaseKey(
                environment: try $0.decode(0), bundleID: try $0.decode(1), originalTransactionID: try $0.decode(2))
        }
    }
}

extension PostgresQuery {
    /// Takes out what staff wrote about an account: about their acts for it, and about moving a purchase that was or is its own, also
    /// to another account.
    /// - Parameter isLinked: whether the purchases are all that a binding names the account in. Before the first catalog they are not noted, and
    ///   all bindings are looked through.
    fileprivate static func eraseTexts(
        of token: UniqueIdentifier, _ purchases: [PurchaseKey], isLinked: Bool
    ) -> PostgresQuery {
        PostgresQuery(
            "accounts.erase_texts",
            """
            update storehook.staff_texts t set recorded_by = null, why = null, erased_at = clock_timestamp()
              from (select 'act' as what, a.id from storehook.staff_acts a where a.token = \(UUID(token))
                     union all
                    select 'binding', b.id
                      from unnest(
                           \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                           \(purchases.map(\.environment)))
                           as purchase (original_transaction_id, bundle_id, environment)
                      join storehook.purchase_bindings b using (original_transaction_id, bundle_id, environment)
                     where b.kind = 'staff'
                     union all
                    select 'binding', b.id from storehook.purchase_bindings b
                     where not \(isLinked)::boolean and b.kind = 'staff' and b.token = \(UUID(token))) written
             where t.what = written.what and t.id = written.id and t.erased_at is null
            """)
    }

    /// Takes out what staff wrote about refunds of purchases that were or are an account's.
    /// - Parameter isLinked: whether the purchases are all that Apple signed it into. Before the first catalog they are not noted, and
    ///   all requests are looked through.
    fileprivate static func eraseRefundTexts(
        of token: UniqueIdentifier, _ purchases: [PurchaseKey], isLinked: Bool
    ) -> PostgresQuery {
        PostgresQuery(
            "accounts.erase_refund_texts",
            """
            update storehook.refund_request_texts x set reason = null, note = null, erased_at = clock_timestamp()
              from (select r.id
                      from unnest(
                           \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                           \(purchases.map(\.environment)))
                           as purchase (original_transaction_id, bundle_id, environment)
                      join storehook.staff_refund_requests r using (original_transaction_id, bundle_id, environment)
                     union
                    select r.id
                      from storehook.staff_refund_requests r
                      join storehook.transactions t using (transaction_id, bundle_id, environment)
                     where not \(isLinked)::boolean and t.app_account_token = \(UUID(token))) written
             where x.id = written.id and x.erased_at is null
            """)
    }
}
