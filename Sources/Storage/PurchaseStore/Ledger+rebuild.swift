import AppStorePayloads
import Base
import Foundation
public import Postgres
public import Subscriptions

extension Ledger {
    /// The next recorded purchases, in the order of their keys.
    public func purchases(
        after last: PurchaseKey?, limit: Int, _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey] {
        try session.query(.purchasesAfter(last, limit)).map { row in
            PurchaseKey(
                environment: try row.decode(2), bundleID: try row.decode(1), originalTransactionID: try row.decode(0))
        }
    }

    /// Derives purchases anew from Apple's stored bytes and compares the result with the stored rows.
    ///
    /// Facts whose bytes retention has dropped are taken from their rows: the statements from `purchase_facts`, and
    /// the latest signed records, whole, from `transactions` and `renewals`.
    ///
    /// A row that an earlier release wrote does not say when its evidence was stored. That is no difference; repairing fills it.
    /// - Parameters:
    ///   - repair: write what was derived where it differs; workers wait for the purchases meanwhile.
    ///   - discard: also repair purchases some of whose bytes no longer verify, which forgets what those brought.
    ///   - open: reads and verifies stored bytes, some hundred at a time; returns them in their order.
    /// - Returns: what differs, or with `repair` what differed; for how many notifications the bytes are gone; and the
    ///   purchases some of whose bytes no longer verify.
    /// - Throws: `PostgresError`, or what `open` throws: a result without bytes that exist would be wrong.
    public func rederive(
        _ keys: [PurchaseKey], repair: Bool, discard: Bool = false, _ session: borrowing PostgresSession,
        open: ([EvidenceReference], borrowing PostgresSession) throws -> [ReopenedEvidence]
    ) throws -> (differences: [RowDifference], withoutBytes: Int, unverified: Set<PurchaseKey>) {
        if repair { try session.query(.lock(keys)) }
        var shared = SharedTransactions()
        for row in try session.query(.shared(keys)) { try shared.add(row) }
        let evidence = try evidence(of: keys, shared, session, open: open)
        var differences: [RowDifference] = []
        for (table, rows) in Self.rows(of: evidence.purchases, shared, policy) {
            for row in try session.query(table.differences(rows, of: keys)) {
                differences.append(
                    RowDifference(
                        table: table.name, key: try row.decode(0), column: try row.decode(1),
                        stored: try row.decode(2), derived: try row.decode(3)))
            }
        }
        if repair, !differences.isEmpty {
            let repaired = evidence.purchases.filter { discard || !evidence.unverified.contains($0.known.key) }
            let repairedKeys = repaired.map(\.known.key)
            for (table, rows) in Self.rows(of: repaired, shared, policy) {
                try session.query(table.delete(repairedKeys))
                try session.query(table.insert(rows))
            }
            try session.query(.countAnomalies(repairedKeys))
        }
        if repair {
            for (table, rows) in Self.rows(of: evidence.purchases, shared, policy) {
                if let completion = table.complete(rows) { try session.query(completion) }
            }
        }
        return (differences, evidence.withoutBytes, evidence.unverified)
    }

    /// Everything about a purchase, read anew.
    private struct Reread {
        var known: KnownPurchase
        var entries: [LedgerEntry] = []
        /// Statements whose evidence has no bytes any more.
        var kept: [PurchaseStatement] = []
        var keptRecords = PurchaseUpdate.KeptRecords()
    }

    /// The rows that each table should have, by these facts.
    private static func rows(
        of purchases: [Reread], _ shared: SharedTransactions, _ policy: StatusPolicy
    ) -> [(LedgerTable, PostgresQuery)] {
        let updates = purchases.compactMap {
            PurchaseUpdate($0.known, $0.entries, kept: $0.keptRecords, shared: shared, policy: policy)
        }
        let statements = purchases.flatMap { $0.kept + $0.entries.compactMap { PurchaseStatement($0) } }
        let subscriptions = updates.compactMap { LedgerColumns.Subscription($0) }
        return [
            (.facts, .rows(statements, PurchaseStatement.columns)),
            (
                .transactions,
                // Another purchase's row is derived with that purchase.
                .rows(
                    updates.flatMap { update in
                        let foreign = shared.foreign(to: update.key)
                        return update.transactions.filter { !foreign.contains($0.record.payload.transactionId) }
                    }, LedgerColumns.transaction)
            ),
            (.renewals, .rows(updates.compactMap(\.renewal), LedgerColumns.renewal)),
            (.subscriptions, .subscriptions(subscriptions)),
            (.history, .history(StoredPhases.historyRows(subscriptions))),
            (
                .oneTimePurchases,
                .rows(updates.compactMap { LedgerColumns.BoughtOnce($0) }, LedgerColumns.oneTimePurchase)
            ),
            (
                .replacedRenewals,
                .rows(
                    updates.flatMap { update in update.state.neverBegun.map { (key: update.key, value: $0) } },
                    LedgerColumns.neverBegun)
            ),
            (
                .anomalies,
                .rows(
                    updates.flatMap { update in update.anomalies.map { (key: update.key, value: $0) } },
                    LedgerColumns.anomaly)
            ),
        ]
    }

    /// The purchases' evidence, read from the bytes that Apple signed and nothing else, a page of bodies at a time.
    private func evidence(
        of keys: [PurchaseKey], _ shared: SharedTransactions, _ session: borrowing PostgresSession,
        open: ([EvidenceReference], borrowing PostgresSession) throws -> [ReopenedEvidence]
    ) throws -> (purchases: [Reread], withoutBytes: Int, unverified: Set<PurchaseKey>) {
        var purchases = Dictionary(uniqueKeysWithValues: keys.map { ($0, Reread(known: KnownPurchase(key: $0))) })
        var gone = GoneEvidence()
        var unverified = Set<PurchaseKey>()
        var last: Int64?
        while true {
            let page = try session.query(.evidence(of: keys, after: last, limit: Self.evidencePage))
            let references = try page.map { row in
                EvidenceReference(
                    outboxID: try row.decode("outbox_id"), receivedAt: try row.decode("received_at"),
                    bundleID: try row.decode("bundle_id"))
            }
            for (row, evidence) in zip(page, try open(references, session)) {
                let id: Int64 = try row.decode("outbox_id")
                last = id
                let key = try PurchaseKey(row)
                if let known = purchases[key]?.known {
                    let storedAt: PostgresTimestamp = try row.decode("received_at")
                    purchases[key]?.known.stored = StoredDates(known.stored, and: storedAt)
                }
                switch evidence {
                case .verified(let entry): purchases[key]?.entries.append(entry)
                case .unverified: unverified.insert(key)
                case .gone:
                    gone.outboxIDs.append(id)
                    if let uuid: UUID = try row.decode("notification_uuid", as: UUID?.self) { gone.uuids.append(uuid) }
                    if let digest: [UInt8] = try row.decode("digest", as: [UInt8]?.self) { gone.digests.append(digest) }
                }
            }
            if page.count < Self.evidencePage { break }
        }
        if !gone.outboxIDs.isEmpty { try keep(gone, in: &purchases, shared, session) }
        return (keys.compactMap { purchases[$0] }, gone.outboxIDs.count, unverified)
    }

    /// Evidence whose bytes retention has dropped: its rows, and the names of its records.
    private struct GoneEvidence {
        var outboxIDs: [Int64] = []
        var uuids: [UUID] = []
        /// Of records that came by themselves.
        var digests: [[UInt8]] = []
    }

    /// Bodies in memory at a time.
    private static let evidencePage = 200

    /// Reads the statements and records of evidence whose bytes are gone.
    private func keep(
        _ gone: GoneEvidence, in purchases: inout [PurchaseKey: Reread], _ shared: SharedTransactions,
        _ session: borrowing PostgresSession
    ) throws {
        let keys = purchases.keys.sorted()
        for row in try session.query(.statements(of: gone.outboxIDs.sorted(), keys)) {
            let key = try PurchaseKey(row)
            let statement = try PurchaseStatement(row, at: 3, of: key)
            purchases[key]?.kept.append(statement)
            if !shared.isForeign(statement), var facts = purchases[key]?.known.facts {
                _ = statement.merge(into: &facts)
                purchases[key]?.known.facts = facts
            }
        }
        for row in try session.query(.records(of: gone.uuids, gone.digests, keys)) {
            let key = try PurchaseKey(row)
            let uuid = try row.decode("notification_uuid", as: UUID?.self).map(UniqueIdentifier.init)
            let digest: [UInt8] = try row.decode("digest")
            let json = try row.decode("payload", as: PostgresJSON.self).bytes
            let isUnsigned = try row.decode("is_unsigned", as: Bool?.self) ?? false
            let signedAt = Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self))
            if try row.decode("is_transaction") {
                let payload = try TransactionPayload.decode(json, undatedAt: signedAt)
                let record = LedgerEntry.Signed(payload, digest: digest)
                purchases[key]?.keptRecords.transactions.append(
                    .init(key: key, record: record, notificationUUID: uuid, isUnsigned: isUnsigned))
            } else {
                let payload = try RenewalInfoPayload.decode(json, undatedAt: signedAt)
                let record = LedgerEntry.Signed(payload, digest: digest)
                purchases[key]?.keptRecords.renewals.append(
                    .init(key: key, record: record, notificationUUID: uuid, isUnsigned: isUnsigned))
            }
        }
    }
}

extension PurchaseKey {
    /// Reads the columns `environment`, `bundle_id` and `original_transaction_id` of a row.
    package init(_ row: PostgresRow) throws {
        self.init(
            environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
            originalTransactionID: try row.decode("original_transaction_id"))
    }
}

extension PostgresQuery {
    /// Reads every table that names purchases, so that a row without evidence is found too. The comparisons use
    /// parameters and nothing else, so that each table's index is entered at that place: every page costs the same.
    fileprivate static func purchasesAfter(_ last: PurchaseKey?, _ limit: Int) -> PostgresQuery {
        let tables = [
            "notifications", "records", "purchase_lines", "purchase_facts", "transactions", "renewals", "subscriptions",
            "one_time_purchases",
        ]
        let pages = tables.map { table in
            """
            (select distinct original_transaction_id, bundle_id, environment from storehook.\(table)
              where original_transaction_id is not null
                \(last == nil ? "" : "and (original_transaction_id, bundle_id, environment) > ($2, $3, $4)")
              order by 1, 2, 3 limit $1)
            """
        }.joined(separator: "\nunion\n")
        let text = """
            select original_transaction_id, bundle_id, environment from (\(pages)) known
             order by 1, 2, 3 limit $1
            """
        let (name, limit) = ("ledger.purchases", Int64(limit))
        guard let last else { return PostgresQuery(name, unescaped: text, binding: limit) }
        return PostgresQuery(
            name, unescaped: text, binding: limit, last.originalTransactionID, last.bundleID, last.environment)
    }

    /// The purchases' evidence, in the order of storing.
    fileprivate static func evidence(of keys: [PurchaseKey], after last: Int64?, limit: Int) -> PostgresQuery {
        PostgresQuery(
            "ledger.evidence",
            """
            with scope as (
                select * from unnest(
                    \(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                    as purchase (original_transaction_id, bundle_id, environment)
            )
            select n.notification_uuid, null as digest, n.outbox_id, n.received_at, original_transaction_id, bundle_id,
                   environment
              from scope join storehook.notifications n using (original_transaction_id, bundle_id, environment)
             where \(last) is null or n.outbox_id > \(last)
            union all
            select null, r.digest, r.outbox_id, r.received_at, original_transaction_id, bundle_id, environment
              from scope join storehook.records r using (original_transaction_id, bundle_id, environment)
             where \(last) is null or r.outbox_id > \(last)
             order by outbox_id
             limit \(limit)
            """)
    }

    /// The statements of pieces of evidence. What older programs did not keep of a transaction is taken from its record.
    fileprivate static func statements(of outboxIDs: [Int64], _ keys: [PurchaseKey]) -> PostgresQuery {
        let columns = PurchaseStatement.columns.map { column in
            switch column.name {
            case "reason", "additional_reason": "coalesce(f.\(column.name), t.\(column.name)) as \(column.name)"
            default: PurchaseStatement.expression(of: column)
            }
        }.joined(separator: ", ")
        return PostgresQuery(
            "ledger.statements",
            """
            select \(unescaped: columns)
              from unnest(
                   \(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as scope (original_transaction_id, bundle_id, environment)
              join storehook.purchase_facts f using (original_transaction_id, bundle_id, environment)
              left join storehook.transactions t
                   on t.transaction_id = f.transaction_id and t.bundle_id = f.bundle_id
                  and t.environment = f.environment
             where f.outbox_id = any(\(outboxIDs))
            """)
    }

    /// The signed records in the purchases' rows that these notifications brought, or that came by themselves with
    /// these digests.
    fileprivate static func records(
        of uuids: [UUID], _ digests: [[UInt8]], _ keys: [PurchaseKey]
    ) -> PostgresQuery {
        PostgresQuery(
            "ledger.records",
            """
            with scope as (
                select * from unnest(
                    \(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                    as purchase (original_transaction_id, bundle_id, environment)
            )
            select true as is_transaction, original_transaction_id, bundle_id, environment, notification_uuid, digest,
                   payload, is_unsigned, signed_at
              from storehook.transactions join scope using (original_transaction_id, bundle_id, environment)
             where notification_uuid = any(\(uuids))
                or notification_uuid is null and digest = any(\(digests))
            union all
            select false, original_transaction_id, bundle_id, environment, notification_uuid, digest, payload,
                   is_unsigned, signed_at
              from storehook.renewals join scope using (original_transaction_id, bundle_id, environment)
             where notification_uuid = any(\(uuids))
                or notification_uuid is null and digest = any(\(digests))
            """)
    }
}
