import AppStorePayloads
import Base
import Postgres
import Subscriptions

/// Transactions that turned up under more than one original transaction, and the owner of each: the latest-signed
/// record decides, whatever came first.
struct SharedTransactions: Sendable {
    private struct Transaction: Hashable {
        let environment: String
        let bundleID: String
        let id: String
    }

    private struct Owner {
        let originalTransactionID: String
        let signedAt: Timestamp
        let digest: [UInt8]
        let isUnsigned: Bool

        /// The rule of ``SignedFact/supersedes(_:)``.
        func replaces(_ known: Owner) -> Bool {
            if isUnsigned != known.isUnsigned { return known.isUnsigned }
            if signedAt != known.signedAt { return signedAt > known.signedAt }
            return known.digest.lexicographicallyPrecedes(digest)
        }
    }

    private var owners: [Transaction: Owner] = [:]
    private var claimed: [PurchaseKey: Set<String>] = [:]

    /// Adds a row of ``PostgresQuery/shared(_:)``: a purchase, one of its transactions that others have as well, and
    /// the stored record of that transaction.
    mutating func add(_ row: PostgresRow) throws {
        let key = try PurchaseKey(row)
        let id: String = try row.decode("transaction_id")
        claimed[key, default: []].insert(id)
        guard let original: String = try row.decode("owner", as: String?.self) else { return }
        note(
            Transaction(environment: key.environment, bundleID: key.bundleID, id: id),
            Owner(
                originalTransactionID: original,
                signedAt: Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self)),
                digest: try row.decode("digest"),
                isUnsigned: try row.decode("is_unsigned", as: Bool?.self) ?? false))
    }

    /// Adds a record that is not written yet.
    mutating func add(_ entry: LedgerEntry) {
        guard let record = entry.transaction, let key = entry.purchase else { return }
        note(
            Transaction(
                environment: key.environment, bundleID: key.bundleID, id: record.payload.transactionId),
            Owner(
                originalTransactionID: record.payload.originalTransactionId, signedAt: record.payload.signedDate,
                digest: record.digest, isUnsigned: entry.kind.isUnsigned))
    }

    /// Adds what one piece of evidence says, as all others that are looked at.
    mutating func add(_ statement: PurchaseStatement) {
        guard let fact = statement.transaction else { return }
        let key = statement.key
        claimed[key, default: []].insert(fact.transactionID)
        note(
            Transaction(environment: key.environment, bundleID: key.bundleID, id: fact.transactionID),
            Owner(
                originalTransactionID: key.originalTransactionID, signedAt: fact.signedAt, digest: fact.digest,
                isUnsigned: fact.isUnsigned))
    }

    private mutating func note(_ transaction: Transaction, _ owner: Owner) {
        if let known = owners[transaction], !owner.replaces(known) { return }
        owners[transaction] = owner
    }

    private func owner(of id: String, for key: PurchaseKey) -> Owner? {
        owners[Transaction(environment: key.environment, bundleID: key.bundleID, id: id)]
    }

    /// The transactions under this purchase that belong to another.
    func foreign(to key: PurchaseKey) -> Set<String> {
        (claimed[key] ?? []).filter { id in
            owner(of: id, for: key).map { $0.originalTransactionID != key.originalTransactionID } ?? false
        }
    }

    /// Whether a statement's transaction belongs to another purchase: then all of the statement does.
    func isForeign(_ statement: PurchaseStatement) -> Bool {
        guard let id = statement.transaction?.transactionID, claimed[statement.key]?.contains(id) == true else {
            return false
        }
        return owner(of: id, for: statement.key).map {
            $0.originalTransactionID != statement.key.originalTransactionID
        } ?? false
    }

    /// The purchase's shared transactions, as anomalies.
    func anomalies(of key: PurchaseKey) -> [Anomaly] {
        (claimed[key] ?? []).sorted().compactMap { id in
            owner(of: id, for: key).map { Anomaly(.transactionShared, signedAt: $0.signedAt, transactionID: id) }
        }
    }
}

extension PostgresQuery {
    /// Records new transactions that occur under another original transaction, under both.
    static func noteShared(_ keys: [PurchaseKey], _ new: [LedgerEntry]) -> PostgresQuery {
        let records = new.filter { $0.transaction != nil }
        return PostgresQuery(
            "ledger.note_shared",
            """
            with new as (
                select * from unnest(
                    \(records.map { $0.transaction?.payload.transactionId }), \(records.map(\.bundleID)),
                    \(records.map(\.environment)), \(records.map { $0.transaction?.payload.originalTransactionId }))
                    as new (transaction_id, bundle_id, environment, original_transaction_id)
            ), told as (
                select transaction_id, bundle_id, environment, original_transaction_id from new
                union
                select t.transaction_id, t.bundle_id, t.environment, t.original_transaction_id
                  from new join storehook.transactions t using (transaction_id, bundle_id, environment)
            )
            insert into storehook.shared_transactions (transaction_id, bundle_id, environment, original_transaction_id)
            select distinct transaction_id, bundle_id, environment, original_transaction_id from told
             where (select count(distinct other.original_transaction_id) from told other
                     where other.transaction_id = told.transaction_id and other.bundle_id = told.bundle_id
                       and other.environment = told.environment) > 1
            on conflict do nothing
            """)
    }

    /// Every purchase that shares a transaction with one of these.
    static func sharing(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.sharing",
            """
            select distinct other.original_transaction_id, other.bundle_id, other.environment
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as key (original_transaction_id, bundle_id, environment)
              join storehook.shared_transactions own using (original_transaction_id, bundle_id, environment)
              join storehook.shared_transactions other
                   on other.transaction_id = own.transaction_id and other.bundle_id = own.bundle_id
                  and other.environment = own.environment
            """)
    }

    /// The shared transactions of these purchases, each with its stored record.
    static func shared(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.shared",
            """
            select own.original_transaction_id, own.bundle_id, own.environment, own.transaction_id,
                   t.original_transaction_id as owner, t.signed_at, t.digest, t.is_unsigned
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as key (original_transaction_id, bundle_id, environment)
              join storehook.shared_transactions own using (original_transaction_id, bundle_id, environment)
              left join storehook.transactions t
                   on t.transaction_id = own.transaction_id and t.bundle_id = own.bundle_id
                  and t.environment = own.environment
            """)
    }
}
