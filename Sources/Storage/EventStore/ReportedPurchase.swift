import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// A row of `purchase_tellings`.
struct ReportedPurchase: Sendable, Hashable {
    let key: PurchaseKey
    /// The last number in the purchase's own order.
    var sequence: Int64 = 0
    /// When the next event is due.
    var dueAt: Timestamp?
    /// The state last reported; nil for a one-time purchase, and where there is none.
    var line: LastReportedSubscription?
    /// What the transactions were sold for that the next event may name: that of the state last reported, and the latest one. Kept here
    /// so that they need not be read for each event. Unknown where an earlier release wrote the row.
    var terms = ReportedTerms()

    /// Reads a row; columns are null where there is none.
    init(_ row: PostgresRow, _ key: PurchaseKey) throws {
        self.key = key
        guard let sequence = try row.decode(1, as: Int64?.self) else { return }
        self.sequence = sequence
        dueAt = try row.decode(2, as: PostgresTimestamp?.self).map { Timestamp($0) }
        guard let text = try row.decode(3, as: String?.self) else { return }
        var fields = try ReportedStateCodec.Reader(text)
        var line = try LastReportedSubscription(&fields)
        terms = try ReportedTerms(&fields, of: line.value.transactionID)
        while let key = try fields.isAtEnd ? nil : fields.next() { line.neverBegun.append(key) }
        self.line = line
    }
}

extension LastReportedSubscription {
    /// Reads the fields of the stored text.
    init(_ fields: inout ReportedStateCodec.Reader) throws {
        let since = try ReportedStateCodec.Reader.require(fields.nextInstant())
        guard let status = try fields.next().flatMap(SubscriptionStatus.init),
            let basis = try fields.next().flatMap(StatusAtInstant.Basis.init)
        else { throw ReportedStateCodec.Reader.unreadable }
        let (product, transaction) = (try fields.next(), try fields.next())
        let expiresAt = try ReportedStateCodec.Reader.require(fields.nextInstant())
        let periodEndsAt = try ReportedStateCodec.Reader.require(fields.nextInstant())
        let graceEndsAt = try fields.nextInstant()
        let inTrial = try ReportedStateCodec.Reader.require(fields.nextFlag())
        let (willRenew, renewalProduct) = (try fields.nextFlag(), try fields.next())
        let pending = try ReportedStateCodec.Reader.require(fields.nextFlag())
        let intent = try fields.nextNumber().map { Int(clamping: $0) }
        let value = StatusAtInstant(
            status: status, basis: basis, productID: product, transactionID: transaction, expiresAt: expiresAt,
            periodEndsAt: periodEndsAt, graceEndsAt: graceEndsAt, inTrial: inTrial, willRenew: willRenew,
            renewalProductID: renewalProduct, priceIncreasePending: pending, expirationIntent: intent,
            appAccountToken: try fields.nextIdentifier()?.accountToken)
        let account = try fields.nextIdentifier()?.accountToken
        let unheard = (try fields.next() ?? "").split(separator: ",").compactMap { Int64($0) }
        let (end, days) = (try fields.nextInstant(), try fields.nextNumber())
        self.init(
            value: value, since: since, heldSince: try fields.lastInstant(), account: account,
            unheardEnds: unheard.map { Timestamp(millisecondsSince1970: $0) },
            warning: end.flatMap { end in days.map { LastReportedSubscription.Warning(end: end, days: $0) } },
            isConverted: (fields.isAtEnd ? nil : try fields.nextFlag()) ?? value.isPaidBeyondTrial)
    }

    /// Appends the stored text, with what is known of what was paid.
    func write(to bytes: inout [UInt8], _ terms: ReportedTerms = ReportedTerms()) {
        ReportedStateCodec.write(to: &bytes) { fields in
            write(to: &fields)
            // Further fields are written up to the last one that says anything.
            let isFlagged = isConverted || value.isPaidBeyondTrial
            guard isFlagged || !terms.isEmpty || !neverBegun.isEmpty else { return }
            fields.add(isFlagged ? isConverted : nil)
            terms.write(to: &fields, isWhole: !neverBegun.isEmpty)
            for key in neverBegun { fields.add(key) }
        }
    }

    private func write(to fields: inout ReportedStateCodec) {
        fields.add(since)
        fields.add(value.status.rawValue)
        fields.add(value.basis.rawValue)
        fields.add(value.productID)
        fields.add(value.transactionID)
        fields.add(value.expiresAt)
        fields.add(value.periodEndsAt)
        fields.add(value.graceEndsAt)
        fields.add(value.inTrial)
        fields.add(value.willRenew)
        fields.add(value.renewalProductID)
        fields.add(value.priceIncreasePending)
        fields.add(value.expirationIntent.map { Int64($0) })
        fields.add(value.appAccountToken)
        fields.add(account)
        // Nearly always there are none.
        fields.add(
            unheardEnds.isEmpty ? nil : unheardEnds.map { "\($0.millisecondsSince1970)" }.joined(separator: ","))
        fields.add(warning?.end)
        fields.add(warning?.days)
        fields.add(heldSince)
    }
}

extension StatusAtInstant {
    /// Whether the period after the trial was charged, and is of the same product: its end is the subscription's. Where a release that
    /// knows of no conversions wrote the row last, that stands for one: it was reported, by this release or by that one as a renewal.
    fileprivate var isPaidBeyondTrial: Bool { inTrial && expiresAt > periodEndsAt }
}

extension PostgresQuery {
    /// The states of purchases last reported, in the order of the keys.
    ///
    /// Each is looked up: a join would read a table of some thousand rows whole, for each batch.
    static func reported(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.told",
            """
            select key.n, t.sequence, t.due_at, t.told
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   with ordinality as key (original_transaction_id, bundle_id, environment, n)
              left join lateral (
                   select * from storehook.purchase_tellings t
                    where t.original_transaction_id = key.original_transaction_id and t.bundle_id = key.bundle_id
                      and t.environment = key.environment
                    limit 1) t on true
             order by key.n
            """
        ).keepingPlan()
    }

    /// `told_purchase`: upserts of `purchase_tellings`, as a part of a WITH.
    static func reporting(_ rows: [ReportedPurchase]) -> PostgresQuery {
        // By index: taken out of the array, each row would be copied whole for each column.
        let places = rows.indices
        var texts = PostgresTextArray()
        for place in places {
            guard let line = rows[place].line else {
                texts.appendNull()
                continue
            }
            texts.append { line.write(to: &$0, rows[place].terms) }
        }
        return """
            told_purchase as (
                insert into storehook.purchase_tellings as known (
                    original_transaction_id, bundle_id, environment, sequence, due_at, told)
                select unnest(\(places.map { rows[$0].key.originalTransactionID })),
                       unnest(\(places.map { rows[$0].key.bundleID })),
                       unnest(\(places.map { rows[$0].key.environment })), unnest(\(places.map { rows[$0].sequence })),
                       unnest(\(places.map { rows[$0].dueAt.map { PostgresTimestamp($0) } })), unnest(\(texts))
                on conflict (original_transaction_id, bundle_id, environment) do update
                   set sequence = excluded.sequence, due_at = excluded.due_at, told = excluded.told
            )
            """
    }
}
