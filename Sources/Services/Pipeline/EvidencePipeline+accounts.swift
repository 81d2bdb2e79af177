package import AccountStore
package import Accounts
import AppleRecords
package import Base
import EventStore
package import Events
package import Postgres
package import PurchaseStore
package import Subscriptions

/// What changes accounts without evidence. Each act commits with its effect, its events and what observers make of it.
extension EvidencePipeline {
    /// Does something for an account in Production, on record.
    /// - Parameter person: the person who does it.
    /// - Returns: the act, and what the account was before it and is after.
    /// - Throws: `ActRefusal`, and then nothing is recorded; `PostgresError`.
    package func act(
        _ kind: StaffAct.Kind, for account: AccountIdentity, by person: String, why: String
    ) async throws -> (act: StaffAct, before: AccountPhase, after: AccountPhase) {
        try await change("accounts.act") { try accounts.act(kind, for: account, by: person, why: why, $0) }
    }

    /// What an act for an account in Production would do now. Nothing is done or recorded.
    /// - Returns: as ``act(_:for:by:why:)``; the act's number is none.
    /// - Throws: likewise.
    package func rehearse(
        _ kind: StaffAct.Kind, for account: AccountIdentity
    ) async throws -> (act: StaffAct, before: AccountPhase, after: AccountPhase) {
        do {
            let done: (act: StaffAct, before: AccountPhase, after: AccountPhase) = try await change(
                "accounts.rehearse"
            ) { session in
                let done = try accounts.act(kind, for: account, by: "-", why: "-", session).value
                // Rolls back what was done on the way.
                throw Rehearsal(act: done.act, before: done.before, after: done.after)
            }
            return done
        } catch let rehearsal as Rehearsal {
            return (rehearsal.act, rehearsal.before, rehearsal.after)
        }
    }

    private struct Rehearsal: Error {
        let act: StaffAct
        let before: AccountPhase
        let after: AccountPhase
    }

    /// Moves a purchase to an account, whatever Apple signed and signs into it.
    /// - Returns: false where nothing is known of the purchase.
    package func move(
        _ purchase: PurchaseKey, to account: AccountIdentity, by person: String, why: String
    ) async throws -> Bool {
        try await change("accounts.move") { try accounts.move(purchase, to: account, by: person, why: why, $0) }
    }

    /// An account before and after a purchase moves.
    package struct MovedSide: Sendable {
        /// The account.
        package var token: UniqueIdentifier
        /// What it is.
        package var before: AccountPhase
        /// What it would be.
        package var after: AccountPhase
    }

    /// What a move would make of both accounts now. Nothing is done or recorded.
    /// - Returns: the account that has the purchase, where there is one, and then the new owner; nil where nothing is known of the purchase.
    package func rehearseMove(_ purchase: PurchaseKey, to account: AccountIdentity) async throws -> [MovedSide]? {
        do {
            let isKnown: Bool = try await change("accounts.rehearse_move") { session in
                let owner = try accounts.owner(of: purchase, session)
                guard owner.isKnown else {
                    return try accounts.move(purchase, to: account, by: "-", why: "-", session)
                }
                var sides: [MovedSide] = []
                let tokens = [owner.token, account.token].compactMap(\.self)
                for token in tokens where !sides.contains(where: { $0.token == token }) {
                    let phase = try accounts.view(token, in: purchase.environment, session).current
                    sides.append(MovedSide(token: token, before: phase, after: phase))
                }
                _ = try accounts.move(purchase, to: account, by: "-", why: "-", session)
                for place in sides.indices {
                    sides[place].after = try accounts.view(sides[place].token, in: purchase.environment, session)
                        .current
                }
                // Rolls back what was done on the way.
                throw MoveRehearsal(sides: sides)
            }
            return isKnown ? [] : nil
        } catch let rehearsal as MoveRehearsal {
            return rehearsal.sides
        }
    }

    private struct MoveRehearsal: Error {
        let sides: [MovedSide]
    }

    /// Starts the app's own trial of an account; see ``AccountStore/AccountStore/startTrial(of:with:appTransactionID:_:)``.
    package func startTrial(
        of account: AccountIdentity, with product: String? = nil, appTransactionID: String? = nil
    ) async throws -> TrialOutcome {
        try await change("accounts.trial") {
            try accounts.startTrial(of: account, with: product, appTransactionID: appTransactionID, $0)
        }
    }

    /// Forgets a person; see ``AccountStore/AccountStore/erase(_:holding:by:isKnown:_:)``. The token of its consents and of its
    /// budget is locked before purchases and accounts: an answer to Apple is either on its way by then, or never sent.
    /// - Returns: what was forgotten and what is kept; nil where no such account is known.
    package func erase(_ account: AccountIdentity, by person: String) async throws -> ErasedAccount? {
        while true {
            let purchases = try await accounts.purchases(of: account)
            let erasure = try await change("accounts.erase") { session in
                let hasConsents = try Consents.hold(account, session)
                let hasBudget = try WriteBudget.erase(account.token, session)
                var change = try accounts.erase(
                    account, holding: purchases, by: person, isKnown: hasConsents || hasBudget, session)
                switch change.value {
                case .erased(var erased):
                    let consents = try Consents.erase(account, session)
                    erased.consentsForgotten = consents.all
                    erased.consentsKept = consents.kept
                    erased.answersUnderWay = consents.underWay
                    change.value = .erased(erased)
                // Removes the row that holding the consents has made.
                case .unknown: _ = try Consents.erase(account, session)
                case .outpaced: break
                }
                return change
            }
            switch erasure {
            case .unknown: return nil
            case .outpaced: continue
            case .erased(let erased): return erased
            }
        }
    }

    /// Derives the accounts of purchases that were changed by hand, or by a rebuild. The purchases are locked.
    package func settle(
        _ purchases: [PurchaseKey], cause: EventCause, _ session: borrowing PostgresSession
    ) throws {
        try report(try accounts.settle(purchases, session), of: purchases, cause: cause, session)
    }

    /// Derives a page of accounts anew, see ``AccountStore/AccountStore/rederive(after:repair:_:)``, and holds their last events against
    /// what they are.
    package func rederiveAccounts(
        after last: UniqueIdentifier?, repair: Bool, _ session: borrowing PostgresSession
    ) throws -> (accounts: [UniqueIdentifier], differences: [RowDifference])? {
        guard let page = try accounts.rederive(after: last, repair: repair, session) else { return nil }
        if let repaired = page.repaired { try report(repaired, of: [], cause: .rebuild, session) }
        let untold = try events?.differences(of: page.accounts, session) ?? []
        if repair, !untold.isEmpty {
            let standing = try accounts.owners(of: [], and: Set(untold.map(\.account)).sorted(), session)
            try report(standing, of: [], cause: .rebuild, session)
        }
        return (page.accounts, page.differences + untold.map(\.difference))
    }

    /// Holds the last events of a page of purchases against what these are, and reports what differs.
    /// - Parameter repair: whether it is reported; needs the purchases locked.
    package func retell(
        _ purchases: [PurchaseKey], repair: Bool, _ session: borrowing PostgresSession
    ) throws -> [RowDifference] {
        let untold = try events?.differences(of: purchases, session) ?? []
        if repair, !untold.isEmpty {
            try settle(Set(untold.map(\.purchase)).sorted(), cause: .rebuild, session)
        }
        return untold.map(\.difference)
    }

    /// Notes the accounts of a page of purchases anew; see ``AccountStore/AccountStore/relink(_:repair:_:)``.
    package func relinkAccounts(
        of purchases: [PurchaseKey], repair: Bool, _ session: borrowing PostgresSession
    ) throws -> [RowDifference] {
        let page = try accounts.relink(purchases, repair: repair, session)
        if let repaired = page.repaired { try report(repaired, of: purchases, cause: .rebuild, session) }
        return page.differences
    }

    private func change<Value: Sendable>(
        _ name: String, _ act: @Sendable (borrowing PostgresSession) throws -> AccountChange<Value>
    ) async throws -> Value {
        try await accounts.transaction(name) { session in
            let change = try act(session)
            if let settled = change.settled {
                try report(settled, of: change.purchases, cause: change.cause, session)
            }
            return change
        }
    }
}
