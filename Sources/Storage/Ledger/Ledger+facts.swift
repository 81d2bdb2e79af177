import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

extension Ledger {
    /// What is known of each line.
    func facts(of lines: [PurchaseKey], _ session: borrowing PostgresSession) throws -> [PurchaseKey: PurchaseFacts] {
        guard !lines.isEmpty else { return [:] }
        var transactions: [Int: [TransactionFact]] = [:]
        for row in try session.query(.knownTransactions(of: lines)) {
            let number = try Int(row.decode("n", as: Int64.self))
            try transactions[number, default: []].append(TransactionFact(row))
        }
        var facts: [PurchaseKey: PurchaseFacts] = [:]
        for row in try session.query(.knownRenewals(of: lines)) {
            let number = try Int(row.decode("n", as: Int64.self))
            facts[lines[number - 1]] = try PurchaseFacts(
                transactions: transactions[number] ?? [], renewal: RenewalFact(row), reportedStatus: ReportedStatus(row)
            )
        }
        return facts
    }
}

extension TransactionFact {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            transactionID: try row.decode("transaction_id"),
            webOrderLineItemID: try row.decode("web_order_line_item_id"),
            productID: try row.decode("product_id"),
            subscriptionGroupID: try row.decode("subscription_group_id"),
            kind: try row.decode("kind", as: String?.self).map(ProductType.init(rawValue:)),
            ownership: try row.decode("ownership"),
            purchasedAt: try row.decode("purchased_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            expiresAt: try row.decode("expires_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            revokedAt: try row.decode("revoked_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            isUpgraded: try row.decode("is_upgraded"),
            isRenewal: try row.decode("reason", as: String?.self) == TransactionReason.renewal.rawValue,
            isFreeTrial: try row.decode("offer_discount_type", as: String?.self)
                == OfferDiscountType.freeTrial.rawValue,
            appAccountToken: try row.decode("app_account_token", as: UUID?.self).map(UniqueIdentifier.init),
            signedAt: Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self)),
            digest: try row.decode("digest"))
    }
}

extension RenewalFact {
    /// Nil where the outer join found none.
    fileprivate init?(_ row: PostgresRow) throws {
        guard let signedAt = try row.decode("signed_at", as: PostgresTimestamp?.self) else { return nil }
        self.init(
            renewalProductID: try row.decode("renewal_product_id"),
            autoRenew: try row.decode("auto_renew"),
            renewsAt: try row.decode("renews_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            expirationIntent: try row.decode("expiration_intent", as: Int16?.self).map(Int.init),
            inBillingRetry: try row.decode("in_billing_retry", as: Bool?.self) ?? false,
            graceExpiresAt: try row.decode("grace_expires_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            priceIncreasePending: try row.decode("price_increase_status", as: Int16?.self)
                .map { Int64($0) == PriceIncreaseStatus.unanswered.rawValue } ?? false,
            appAccountToken: try row.decode("app_account_token", as: UUID?.self).map(UniqueIdentifier.init),
            signedAt: Timestamp(signedAt),
            digest: try row.decode("digest"))
    }
}

extension ReportedStatus {
    /// Nil where Apple never gave one.
    init?(_ row: PostgresRow) throws {
        guard let status = try row.decode("apple_status", as: Int16?.self) else { return nil }
        self.init(
            status: Int(status),
            signedAt: Timestamp(try row.decode("apple_status_signed_at", as: PostgresTimestamp.self)))
    }
}
