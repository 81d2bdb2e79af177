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
    private let signed: UniqueIdentifier?
    /// The accounts that Apple has signed into it, as far as they were loaded.
    let everySigned: Set<UniqueIdentifier>
    private let transfers: Int64
    private let ownership: PurchaseOwnership

    init(_ row: PostgresRow) throws {
        key = PurchaseKey(
            environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
            originalTransactionID: try row.decode("original_transaction_id"))
        now = Timestamp(try row.decode("now", as: PostgresTimestamp.self))
        signed = try row.decode("signed", as: UUID?.self).map { UniqueIdentifier($0) }
        everySigned = Set(
            try row.decode("every_signed", as: [UUID?].self).compactMap(\.self).map { UniqueIdentifier($0) })
        transfers = try row.decode("transfers")
        ownership = try PurchaseOwnership(bindings: row)
    }

    /// Its owner; nil where it is free.
    var owner: UniqueIdentifier? { ownership.owner(signed: signed, at: now) }

    /// The outcome where an account proves it.
    func outcome(for token: UniqueIdentifier, under rule: RestoreRule) -> BindOutcome {
        if owner == token { return .already }
        if let signed = ownership.counting(signed, at: now), signed != token { return .otherAccountsToken }
        guard owner != nil else { return .bound }
        guard rule == .transfer, !ownership.isMovedByStaff(at: now), transfers < AccountStore.transfers else {
            return .boundElsewhere
        }
        return .transferred
    }
}
