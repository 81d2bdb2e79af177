import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// A row of `access_tellings`, with the version that readers see.
struct ReportedAccess: Sendable {
    /// An account in one environment.
    struct ID: Sendable, Hashable, Comparable {
        var token: UniqueIdentifier
        var environment: String

        static func < (a: ID, b: ID) -> Bool { (a.token, a.environment) < (b.token, b.environment) }
    }

    let id: ID
    /// The number of the account's last event.
    var sequence: Int64 = 0
    /// When the next event is due.
    var dueAt: Timestamp?
    /// The catalog of the last report.
    var catalog: Int64?
    /// The state last reported; nil where there is none.
    var reported: LastReportedAccount?
    /// The account's version now; 0 where it has no derived status.
    var version: Int64 = 0

    /// Reads a row; columns are null where there is none.
    init(_ row: PostgresRow, _ id: ID) throws {
        self.id = id
        version = try row.decode("version", as: Int64?.self) ?? 0
        guard let sequence = try row.decode("sequence", as: Int64?.self) else { return }
        self.sequence = sequence
        dueAt = try row.decode("due_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        catalog = try row.decode("catalog")
        reported = try row.decode("told", as: String?.self).map {
            try LastReportedAccount(stored: $0, in: id.environment)
        }
    }
}

extension LastReportedAccount {
    /// Reads the stored text.
    init(stored text: String, in environment: String) throws {
        var fields = try ReportedStateCodec.Reader(text)
        // A state without a beginning has no instant.
        let since = try fields.nextInstant() ?? .distantPast
        guard let status = try fields.next().flatMap(AccountStatus.init), let tier = try fields.next(),
            let source = try fields.next().flatMap(AccountSource.init)
        else { throw ReportedStateCodec.Reader.unreadable }
        let (product, app, original) = (try fields.next(), try fields.next(), try fields.next())
        let purchase = app.flatMap { app in
            original.map { PurchaseKey(environment: environment, bundleID: app, originalTransactionID: $0) }
        }
        var value = AccountPhase(
            startsAt: since, status: status, tier: tier, source: source, productID: product, purchase: purchase,
            act: try fields.nextNumber(), expiresAt: try fields.nextInstant(),
            willRenew: try ReportedStateCodec.Reader.require(fields.nextFlag()),
            inTrial: try ReportedStateCodec.Reader.require(fields.nextFlag()))
        let heldSince = try fields.lastInstant()
        // Where nothing follows, all ends are that of access.
        if value.access, !fields.isAtEnd {
            value.ends = AccountPhase.Ends(
                source: try fields.nextInstant(), tier: try fields.nextInstant(), period: try fields.nextInstant())
        }
        self.init(value: value, since: since, heldSince: heldSince)
    }

    /// Appends the stored text.
    func write(to bytes: inout [UInt8]) {
        ReportedStateCodec.write(to: &bytes) { fields in
            fields.add(since == .distantPast ? nil : since)
            fields.add(value.status.rawValue)
            fields.add(value.tier)
            fields.add(value.source.rawValue)
            fields.add(value.productID)
            fields.add(value.purchase?.bundleID)
            fields.add(value.purchase?.originalTransactionID)
            fields.add(value.act)
            fields.add(value.expiresAt)
            fields.add(value.willRenew)
            fields.add(value.inTrial)
            fields.add(heldSince)
            let end = value.expiresAt
            if let ends = value.ends, ends != AccountPhase.Ends(source: end, tier: end, period: end) {
                fields.add(ends.source)
                fields.add(ends.tier)
                fields.add(ends.period)
            }
        }
    }
}

extension PostgresQuery {
    /// The states of accounts last reported, in the order of the ids, and the version of each that readers see now.
    static func reported(_ ids: [ReportedAccess.ID]) -> PostgresQuery {
        PostgresQuery(
            "events.told_access",
            """
            select key.n, s.version, t.sequence, t.due_at, t.catalog, t.told
              from unnest(\(ids.map { UUID($0.token) }), \(ids.map(\.environment)))
                   with ordinality as key (token, environment, n)
              left join storehook.access_tellings t using (token, environment)
              left join storehook.account_status s
                     on s.token = key.token and s.environment = key.environment
                    and s.catalog = (select current_version from storehook.catalog_state)
             order by key.n
            """)
    }

    /// `told_purchase` and `told_access`: upserts of the rows, as the first parts of a WITH.
    static func reporting(_ purchases: [ReportedPurchase], _ rows: [ReportedAccess]) -> PostgresQuery {
        var texts = PostgresTextArray()
        for row in rows {
            if let reported = row.reported { texts.append { reported.write(to: &$0) } } else { texts.appendNull() }
        }
        return """
            \(embedding: .reporting(purchases)), told_access as (
                insert into storehook.access_tellings as known (token, environment, sequence, due_at, catalog, told)
                select unnest(\(rows.map { UUID($0.id.token) })), unnest(\(rows.map(\.id.environment))),
                       unnest(\(rows.map(\.sequence))),
                       unnest(\(rows.map { $0.dueAt.map { PostgresTimestamp($0) } })),
                       unnest(\(rows.map(\.catalog))), unnest(\(texts))
                on conflict (token, environment) do update
                   set sequence = excluded.sequence, due_at = excluded.due_at, catalog = excluded.catalog,
                       told = excluded.told
            )
            """
    }
}
