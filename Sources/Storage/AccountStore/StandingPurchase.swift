import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// The owner of a purchase at the moment at which an account proves that it holds it.
struct StandingPurchase {
    let key: PurchaseKey
    private let now: Timestamp
    private let signed: SignedAccounts
    /// The accounts that Apple has signed into it, as far as they were loaded.
    let everySigned: Set<UniqueIdentifier>
    private let transfers: Int64
    private let ownership: PurchaseOwnership

    init(_ row: PostgresRow) throws {
        key = try PurchaseKey(row)
        now = Timestamp(try row.decode("now", as: PostgresTimestamp.self))
        let account = UniqueIdentifier(accountToken: try row.decode("signed"))
        let origin = try row.decode("origin", as: String?.self).map { try PhaseOrigin(stored: $0) }
        signed = SignedAccounts(
            account, by: origin ?? PhaseOrigin(),
            stretchEnds: try StretchEnd.all(stored: row.decode("stretches", as: String?.self)))
        everySigned = try Set(
            row.decode("every_signed", as: [UUID?].self).compactMap { UniqueIdentifier(accountToken: $0) }
        ).union(signed.stretchEnds.compactMap(\.account))
        transfers = try row.decode("transfers")
        ownership = try PurchaseOwnership(bindings: row)
    }

    /// Its owner; nil where it is free.
    var owner: UniqueIdentifier? { ownership.owner(signed: signed, at: now) }

    /// The outcome where an account proves it.
    /// - Returns: with it, what is to be recorded.
    func outcome(for token: UniqueIdentifier, under rule: RestoreRule) -> (BindOutcome, PurchaseBinding.Kind?) {
        let held = ownership.holding(signed: signed, at: now)
        // An account that owned an earlier stretch, or only the upcoming one, needs a proof for the present one.
        if let held, held.account == token { return (.already, held.ground.isFirm ? nil : .proof) }
        if ownership.isSigned(signed, for: { $0 != token }, at: now) { return (.otherAccountsToken, nil) }
        guard let held, held.ground.isFirm else { return (.bound, .proof) }
        guard rule == .transfer, held.ground != .moved, transfers < AccountStore.transfers else {
            return (.boundElsewhere, nil)
        }
        return (.transferred, .transfer)
    }
}
