import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// The statement of one piece of evidence about one purchase: a row of `storehook.purchase_facts`.
struct PurchaseStatement: Sendable {
    let key: PurchaseKey
    let outboxID: Int64
    /// When it was signed: the outer signedDate of a notification, the record's own otherwise.
    let signedAt: Timestamp
    let reportedStatus: ReportedStatus?
    let transaction: TransactionFact?
    let renewal: RenewalFact?

    /// Merges the statement into the facts; returns whether any of it was new.
    func merge(into facts: inout PurchaseFacts) -> Bool {
        var changed = false
        if let transaction { changed = facts.merge(transaction) || changed }
        if let renewal { changed = facts.merge(renewal) || changed }
        if let reportedStatus { changed = facts.merge(reportedStatus) || changed }
        return changed
    }

    /// The transaction of a non-consumable; see the migration of orders for why what these say has columns of its own.
    private var nonConsumable: TransactionFact? { transaction?.kind == .nonConsumable ? transaction : nil }
    /// The transaction of anything else.
    private var other: TransactionFact? { transaction?.kind == .nonConsumable ? nil : transaction }

    /// Whether it carries no signature.
    var isUnsigned: Bool { transaction?.isUnsigned ?? renewal?.isUnsigned ?? false }

    /// Whether its parts are signed, and dated as Apple dates them.
    var isRegular: Bool { transaction?.isRegular ?? true && renewal?.isRegular ?? true }

    /// The earliest instant that it may affect.
    var since: Timestamp {
        [signedAt, transaction?.since, renewal?.asOf].compactMap(\.self).min() ?? signedAt
    }
}

extension PurchaseStatement {
    /// An entry's statement; nil where it is about no purchase.
    init?(_ entry: LedgerEntry) {
        guard let key = entry.purchase, let signedAt = entry.signedAt else { return nil }
        self.init(
            key: key, outboxID: entry.outboxID, signedAt: signedAt, status: entry.reportedStatus,
            transaction: entry.transaction.map {
                TransactionFact($0.payload, digest: $0.digest, asOf: signedAt, isUnsigned: entry.kind.isUnsigned)
            },
            renewal: entry.renewal.map {
                RenewalFact(
                    $0.payload, digest: $0.digest, asOf: signedAt, reportedStatus: entry.reportedStatus,
                    isUnsigned: entry.kind.isUnsigned)
            })
    }

    /// The parts of one piece of evidence count together, from the earliest of their dates on.
    init(
        key: PurchaseKey, outboxID: Int64, signedAt: Timestamp, status: Int?, transaction: TransactionFact?,
        renewal: RenewalFact?
    ) {
        self.key = key
        self.outboxID = outboxID
        self.signedAt = signedAt
        self.transaction = transaction
        self.renewal = renewal
        reportedStatus = status.map {
            ReportedStatus(
                status: $0, signedAt: signedAt,
                asOf: min(signedAt, renewal?.signedAt ?? signedAt, transaction?.signedAt ?? signedAt))
        }
    }

    /// The columns of `storehook.purchase_facts`.
    static let columns: [LedgerColumn<PurchaseStatement>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("outbox_id") { $0.outboxID },
        LedgerColumn("signed_at") { PostgresTimestamp($0.signedAt) },
        LedgerColumn("reported_status") { $0.reportedStatus.map { Int16(clamping: $0.status) } },
        LedgerColumn("is_unsigned") { ($0.isUnsigned ? true : nil) as Bool? },
        LedgerColumn("transaction_id") { $0.transaction?.transactionID },
        LedgerColumn("transaction_signed_at") { $0.transaction.map { PostgresTimestamp($0.signedAt) } },
        LedgerColumn("transaction_digest") { $0.transaction?.digest },
        LedgerColumn("web_order_line_item_id") { $0.transaction?.webOrderLineItemID },
        LedgerColumn("product_id") { $0.transaction?.productID },
        LedgerColumn("subscription_group_id") { $0.transaction?.subscriptionGroupID },
        LedgerColumn("kind") { $0.transaction?.kind?.rawValue },
        LedgerColumn("ownership") { $0.transaction?.ownership },
        LedgerColumn("purchased_at") { $0.transaction?.purchasedAt.map(PostgresTimestamp.init) },
        LedgerColumn("expires_at") { $0.transaction?.expiresAt.map(PostgresTimestamp.init) },
        LedgerColumn("revoked_at") { $0.transaction?.revokedAt.map(PostgresTimestamp.init) },
        LedgerColumn("revocation_percentage") { $0.transaction?.revocationPercentage },
        LedgerColumn("revocation_reason") { $0.transaction?.revocationReason?.stored },
        LedgerColumn("is_upgraded") { $0.transaction?.isUpgraded },
        LedgerColumn("is_renewal") { $0.transaction?.isRenewal },
        LedgerColumn("reason") { $0.transaction?.reason.stored },
        LedgerColumn("additional_reason") { $0.transaction?.additionalReason },
        LedgerColumn("is_free_trial") { $0.transaction?.isFreeTrial },
        LedgerColumn("quantity") { $0.transaction?.quantity },
        LedgerColumn("original_purchased_at") {
            $0.nonConsumable?.originalPurchasedAt.map(PostgresTimestamp.init)
        },
        LedgerColumn("price") { $0.nonConsumable?.price },
        LedgerColumn("first_bought_at") { $0.other?.originalPurchasedAt.map(PostgresTimestamp.init) },
        LedgerColumn("paid") { $0.other?.price },
        LedgerColumn("currency") { $0.transaction?.currency },
        LedgerColumn("storefront") { $0.transaction?.storefront },
        LedgerColumn("revocation_type") { $0.transaction?.revocationType?.rawValue },
        LedgerColumn("up_front_period") { $0.transaction?.upFrontPeriod },
        LedgerColumn("billing_plan") { $0.transaction?.billingPlan },
        LedgerColumn("app_account_token") { $0.transaction?.appAccountToken.map(UUID.init) },
        LedgerColumn("renewal_signed_at") { $0.renewal.map { PostgresTimestamp($0.signedAt) } },
        LedgerColumn("renewal_digest") { $0.renewal?.digest },
        LedgerColumn("current_product_id") { $0.renewal?.productID },
        LedgerColumn("renewal_product_id") { $0.renewal?.renewalProductID },
        LedgerColumn("auto_renew") { $0.renewal?.autoRenew },
        LedgerColumn("renews_at") { $0.renewal?.renewsAt.map(PostgresTimestamp.init) },
        LedgerColumn("expiration_intent") { $0.renewal?.expirationIntent.map { Int16(clamping: $0) } },
        // Programs that know two values of the flag read this column as one of them.
        LedgerColumn("in_billing_retry") { $0.renewal.map { $0.inBillingRetry ?? false } },
        LedgerColumn("grace_expires_at") { $0.renewal?.graceExpiresAt.map(PostgresTimestamp.init) },
        LedgerColumn("price_increase_pending") { $0.renewal?.priceIncreasePending },
        LedgerColumn("renewal_account_token") { $0.renewal?.appAccountToken.map(UUID.init) },
        LedgerColumn("is_not_retried") { ($0.renewal?.inBillingRetry == false ? true : nil) as Bool? },
    ]

    /// The columns that rows of earlier programs lack.
    static let completed = [
        "billing_plan", "currency", "first_bought_at", "paid", "revocation_reason", "revocation_type", "storefront",
        "up_front_period",
    ]

    private static let isNonConsumable = "coalesce(t.kind, '') = 'Non-Consumable'"
    /// The originalPurchaseDate of the latest record.
    private static let firstBoughtAt = """
        'epoch'::timestamptz + substring(t.payload ->> 'originalPurchaseDate'
            from '^-?[0-9]{1,15}(?:[.][0-9]{1,20})?$')::numeric::bigint * interval '1 millisecond'
        """

    /// The expression of a column where `purchase_facts` is `f`, and `t` the latest record of its transaction: where the row is of an
    /// earlier program, what it lacks is taken from that. Why and how Apple refunded is taken where both say the same refund.
    static func expression(of column: LedgerColumn<PurchaseStatement>) -> String {
        let latest: String
        switch column.name {
        case "currency", "storefront": latest = "t.\(column.name)"
        case "billing_plan": latest = "t.billing_plan_type"
        case "up_front_period":
            latest = "case when t.offer_discount_type = 'PAY_UP_FRONT' then t.payload ->> 'offerPeriod' end"
        case "price": latest = "case when \(isNonConsumable) then t.price end"
        case "paid": latest = "case when not \(isNonConsumable) then t.price end"
        case "original_purchased_at": latest = "case when \(isNonConsumable) then \(firstBoughtAt) end"
        case "first_bought_at": latest = "case when not \(isNonConsumable) then \(firstBoughtAt) end"
        case "revocation_reason": latest = "case when f.revoked_at = t.revoked_at then t.revocation_reason end"
        case "revocation_type":
            latest = "case when f.revoked_at = t.revoked_at then t.payload ->> 'revocationType' end"
        default: return "f.\(column.name)"
        }
        return "coalesce(f.\(column.name), \(latest)) as \(column.name)"
    }

    /// Reads a row of `storehook.purchase_facts` whose columns begin at a place, in the order of ``columns`` after the key.
    init(_ row: PostgresRow, at place: Int, of key: PurchaseKey) throws {
        var cells = RowCells(row, at: place)
        let outboxID: Int64 = try cells.next()
        let signedAt = Timestamp(try cells.next(PostgresTimestamp.self))
        let status: Int16? = try cells.next()
        let isUnsigned: Bool? = try cells.next()
        var transaction = try TransactionFact(&cells, asOf: signedAt)
        var renewal = try RenewalFact(&cells, asOf: signedAt, reportedStatus: status.map(Int.init))
        if isUnsigned == true {
            transaction?.isUnsigned = true
            renewal?.isUnsigned = true
        }
        self.init(
            key: key, outboxID: outboxID, signedAt: signedAt, status: status.map(Int.init), transaction: transaction,
            renewal: renewal)
    }
}

/// A row's columns, read one after the other: looking each up by its name would cost more than reading it.
struct RowCells {
    private let row: PostgresRow
    private var place: Int

    init(_ row: PostgresRow, at place: Int = 0) {
        self.row = row
        self.place = place
    }

    mutating func next<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws -> Value {
        defer { place += 1 }
        return try row.decode(place, as: type)
    }

    mutating func nextTimestamp() throws -> Timestamp? { try next(PostgresTimestamp?.self).map(Timestamp.init) }
    mutating func nextAccountToken() throws -> UniqueIdentifier? { UniqueIdentifier(accountToken: try next()) }
    mutating func skip(_ count: Int) { place += count }
}

extension RevocationReason {
    /// As it is stored.
    var stored: Int16 { Int16(clamping: rawValue) }

    /// Nil for null.
    init?(stored value: Int16?) {
        guard let value else { return nil }
        self.init(rawValue: Int64(value))
    }
}

extension TransactionFact.Reason {
    /// As it is stored; nil where Apple does not say.
    fileprivate var stored: String? { self == .unknown ? nil : rawValue }
}

extension TransactionFact {
    /// Nil where the evidence had no transaction.
    fileprivate init?(_ cells: inout RowCells, asOf: Timestamp) throws {
        guard let id: String = try cells.next(String?.self) else {
            cells.skip(28)
            return nil
        }
        let signedAt = Timestamp(try cells.next(PostgresTimestamp.self))
        let digest: [UInt8] = try cells.next()
        self.init(
            transactionID: id, webOrderLineItemID: try cells.next(), productID: try cells.next(),
            subscriptionGroupID: try cells.next(), kind: try cells.next(String?.self).map(ProductType.init(rawValue:)),
            ownership: try cells.next(), purchasedAt: try cells.nextTimestamp(), expiresAt: try cells.nextTimestamp(),
            revokedAt: try cells.nextTimestamp(), signedAt: signedAt, asOf: min(asOf, signedAt), digest: digest)
        revocationPercentage = try cells.next()
        revocationReason = RevocationReason(stored: try cells.next())
        isUpgraded = try cells.next()
        let isRenewal: Bool = try cells.next()
        let reason: String? = try cells.next()
        // A row that an older program wrote says only whether it is a renewal.
        self.reason = isRenewal ? .renewal : reason.flatMap(Reason.init(rawValue:)) ?? .unknown
        additionalReason = try cells.next()
        isFreeTrial = try cells.next()
        quantity = try cells.next()
        let (date, price) = (try cells.nextTimestamp(), try cells.next(Int64?.self))
        originalPurchasedAt = try cells.nextTimestamp() ?? date
        self.price = try cells.next(Int64?.self) ?? price
        currency = try cells.next()
        storefront = try cells.next()
        revocationType = try cells.next(String?.self).map(RevocationType.init(rawValue:))
        (upFrontPeriod, billingPlan) = (try cells.next(), try cells.next())
        appAccountToken = try cells.nextAccountToken()
    }
}

extension RenewalFact {
    /// Nil where the evidence had no renewal info.
    fileprivate init?(_ cells: inout RowCells, asOf: Timestamp, reportedStatus: Int?) throws {
        guard let signedAt = try cells.nextTimestamp() else { return nil }
        let digest: [UInt8] = try cells.next()
        self.init(
            productID: try cells.next(), renewalProductID: try cells.next(), autoRenew: try cells.next(),
            renewsAt: try cells.nextTimestamp(), expirationIntent: try cells.next(Int16?.self).map(Int.init),
            inBillingRetry: try cells.next(Bool.self) ? true : nil, graceExpiresAt: try cells.nextTimestamp(),
            priceIncreasePending: try cells.next(), appAccountToken: try cells.nextAccountToken(), signedAt: signedAt,
            asOf: min(asOf, signedAt), reportedStatus: reportedStatus, digest: digest)
        // Rows of earlier programs do not distinguish "no" from what Apple left out. Apple leaves the flag out rather than send "no".
        let isNotRetried = try cells.next(Bool?.self)
        if inBillingRetry == nil, isNotRetried == true { inBillingRetry = false }
    }
}
