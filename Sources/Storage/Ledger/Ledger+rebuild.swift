import AppStorePayloads
import Foundation
public import Postgres
public import Subscriptions

extension Ledger {
    /// The next lines that anything is known of, in the order of their keys.
    public func lines(
        after last: PurchaseKey?, limit: Int, _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey] {
        try session.query(.linesAfter(last, limit)).map { row in
            PurchaseKey(
                environment: try row.decode(2), bundleID: try row.decode(1), originalTransactionID: try row.decode(0))
        }
    }

    /// Derives lines anew from Apple's stored bytes and holds the result against what stands.
    ///
    /// Facts whose bytes retention has dropped are taken from their rows, which hold the signed records whole. The
    /// timeline is not touched: it tells what happened, in the order in which it happened here.
    /// - Parameters:
    ///   - repair: write what was derived where it differs; workers wait for the lines meanwhile.
    ///   - discard: mend lines too of which some bytes do not verify any more, and so forget what those brought.
    ///   - open: reads and verifies stored bytes, some hundred at a time; answers in their order.
    /// - Returns: what differs, or with `repair` what differed; for how many notifications the bytes are gone; and the
    ///   lines of which some bytes do not verify.
    /// - Throws: `PostgresError`, or what `open` throws: what is derived without bytes that are there would be wrong.
    public func rederive(
        _ lines: [PurchaseKey], repair: Bool, discard: Bool = false, _ session: borrowing PostgresSession,
        open: ([EvidenceReference], borrowing PostgresSession) throws -> [Evidence]
    ) throws -> (differences: [RowDifference], withoutBytes: Int, unverified: Set<PurchaseKey>) {
        if repair { try session.query(.lock(lines)) }
        let (histories, withoutBytes, unverified) = try histories(of: lines, session, open: open)
        var differences: [RowDifference] = []
        for (table, rows) in Self.rows(of: histories) {
            for row in try session.query(table.differences(rows, of: lines)) {
                differences.append(
                    RowDifference(
                        table: table.name, key: try row.decode("key"), column: try row.decode("name"),
                        stored: try row.decode("stored"), derived: try row.decode("derived")))
            }
        }
        if repair, !differences.isEmpty {
            let mended = histories.filter { discard || !unverified.contains($0.line) }
            for (table, rows) in Self.rows(of: mended) {
                try session.query(table.delete(mended.map(\.line)))
                try session.query(table.upsert(rows))
            }
        }
        return (differences, withoutBytes, unverified)
    }

    /// What stands in each table if these histories do.
    private static func rows(of histories: [PurchaseHistory]) -> [(LedgerTable, PostgresQuery)] {
        [
            (.reportedStatuses, .reportedStatuses(histories)), (.transactions, .transactions(histories)),
            (.renewals, .renewals(histories)),
            (
                .subscriptions,
                .subscriptions(
                    histories.compactMap { history in history.state.map { (line: history.line, state: $0) } })
            ),
        ]
    }

    /// The lines' facts, from nothing but what Apple signed, a page of bodies at a time.
    private func histories(
        of lines: [PurchaseKey], _ session: borrowing PostgresSession,
        open: ([EvidenceReference], borrowing PostgresSession) throws -> [Evidence]
    ) throws -> (histories: [PurchaseHistory], withoutBytes: Int, unverified: Set<PurchaseKey>) {
        var histories = Dictionary(
            uniqueKeysWithValues: lines.map { ($0, PurchaseHistory($0, PurchaseFacts(), policy)) })
        var withoutBytes: [UUID] = []
        var unverified = Set<PurchaseKey>()
        var last: UUID?
        while true {
            let page = try session.query(.evidence(of: lines, after: last, limit: 200))
            let references = try page.map { row in
                EvidenceReference(outboxID: try row.decode("outbox_id"), receivedAt: try row.decode("received_at"))
            }
            for (row, evidence) in zip(page, try open(references, session)) {
                let uuid: UUID = try row.decode("notification_uuid")
                last = uuid
                let line = PurchaseKey(
                    environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                    originalTransactionID: try row.decode("original_transaction_id"))
                switch evidence {
                case .verified(let entry): histories[line]?.merge(entry)
                case .unverified: unverified.insert(line)
                case .gone:
                    withoutBytes.append(uuid)
                    if let reportedStatus = try ReportedStatus(row) { _ = histories[line]?.merge(reportedStatus) }
                }
            }
            if page.count < 200 { break }
        }
        if !withoutBytes.isEmpty { try mergeRecords(of: withoutBytes, of: lines, into: &histories, session) }
        let derived = lines.compactMap { line -> PurchaseHistory? in
            histories[line]?.derive()
            return histories[line]
        }
        return (derived, withoutBytes.count, unverified)
    }

    private func mergeRecords(
        of uuids: [UUID], of lines: [PurchaseKey], into histories: inout [PurchaseKey: PurchaseHistory],
        _ session: borrowing PostgresSession
    ) throws {
        for row in try session.query(.records(of: uuids, lines)) {
            let line = PurchaseKey(
                environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                originalTransactionID: try row.decode("original_transaction_id"))
            let uuid = UniqueIdentifier(try row.decode("notification_uuid", as: UUID.self))
            let digest: [UInt8] = try row.decode("digest")
            let json = try row.decode("payload", as: PostgresJSON.self).bytes
            if try row.decode("is_transaction") {
                let payload = try TransactionPayload.decode(json)
                _ = histories[line]?.merge(LedgerEntry.Signed(payload, digest: digest), from: uuid)
            } else {
                let payload = try RenewalInfoPayload.decode(json)
                _ = histories[line]?.merge(LedgerEntry.Signed(payload, digest: digest), from: uuid)
            }
        }
    }
}

extension PurchaseHistory {
    /// Takes in what one notification brings, without noting changes.
    fileprivate mutating func merge(_ entry: LedgerEntry) {
        if let record = entry.transaction { _ = merge(record, from: entry.notification.uuid) }
        if let record = entry.renewal { _ = merge(record, from: entry.notification.uuid) }
        if let reportedStatus = entry.reportedStatus { _ = merge(reportedStatus) }
    }
}

extension PostgresQuery {
    /// From every table that names lines, so that a row which nothing vouches for is found too.
    fileprivate static func linesAfter(_ last: PurchaseKey?, _ limit: Int) -> PostgresQuery {
        let (id, bundle, environment) = (last?.originalTransactionID, last?.bundleID, last?.environment)
        let tables = ["notifications", "purchase_lines", "transactions", "renewals", "subscriptions"]
        let pages = tables.map { table in
            """
            (select distinct original_transaction_id, bundle_id, environment from storehook.\(table), last
              where original_transaction_id is not null
                and (last.id is null
                     or (original_transaction_id, bundle_id, environment) > (last.id, last.bundle, last.environment_))
              order by 1, 2, 3 limit (select rows from last))
            """
        }.joined(separator: "\nunion\n")
        return PostgresQuery(
            "ledger.lines",
            """
            with last as (
                select \(id)::text collate "C" as id, \(bundle)::text collate "C" as bundle,
                       \(environment)::text collate "C" as environment_, \(limit)::bigint as rows
            )
            select original_transaction_id, bundle_id, environment from (\(unescaped: pages)) known
             order by 1, 2, 3 limit (select rows from last)
            """)
    }

    /// The lines' notifications, by UUID.
    fileprivate static func evidence(of lines: [PurchaseKey], after last: UUID?, limit: Int) -> PostgresQuery {
        PostgresQuery(
            "ledger.evidence",
            """
            select n.notification_uuid, n.outbox_id, n.received_at, n.original_transaction_id, n.bundle_id,
                   n.environment, n.apple_status,
                   case when n.apple_status is not null then n.signed_at end as apple_status_signed_at
              from unnest(
                   \(lines.map(\.originalTransactionID)), \(lines.map(\.bundleID)), \(lines.map(\.environment)))
                   as scope (original_transaction_id, bundle_id, environment)
              join storehook.notifications n using (original_transaction_id, bundle_id, environment)
             where \(last) is null or n.notification_uuid > \(last)
             order by n.notification_uuid
             limit \(limit)
            """)
    }

    /// Signed records that stand in the lines' rows under the names of these notifications.
    fileprivate static func records(of uuids: [UUID], _ lines: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.records",
            """
            with scope as (
                select * from unnest(
                    \(lines.map(\.originalTransactionID)), \(lines.map(\.bundleID)), \(lines.map(\.environment)))
                    as line (original_transaction_id, bundle_id, environment)
            )
            select true as is_transaction, original_transaction_id, bundle_id, environment, notification_uuid, digest,
                   payload
              from storehook.transactions join scope using (original_transaction_id, bundle_id, environment)
             where notification_uuid = any(\(uuids))
            union all
            select false, original_transaction_id, bundle_id, environment, notification_uuid, digest, payload
              from storehook.renewals join scope using (original_transaction_id, bundle_id, environment)
             where notification_uuid = any(\(uuids))
            """)
    }
}
