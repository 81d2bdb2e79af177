import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// The columns of the tables with whole records and derived state.
enum LedgerColumns {
    static let transaction: [LedgerColumn<PurchaseUpdate.Sourced<TransactionPayload>>] = [
        LedgerColumn("transaction_id") { $0.record.payload.transactionId },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("original_transaction_id") { $0.record.payload.originalTransactionId },
        LedgerColumn("web_order_line_item_id") { $0.record.payload.webOrderLineItemId },
        LedgerColumn("product_id") { $0.record.payload.productId },
        LedgerColumn("subscription_group_id") { $0.record.payload.subscriptionGroupIdentifier },
        LedgerColumn("kind") { $0.record.payload.type?.rawValue },
        LedgerColumn("ownership") { $0.record.payload.inAppOwnershipType?.rawValue },
        LedgerColumn("purchased_at") { $0.record.payload.purchaseDate.map(PostgresTimestamp.init) },
        LedgerColumn("expires_at") { $0.record.payload.expiresDate.map(PostgresTimestamp.init) },
        LedgerColumn("revoked_at") { $0.record.payload.revocationDate.map(PostgresTimestamp.init) },
        LedgerColumn("revocation_type") { $0.record.payload.revocationType?.rawValue },
        LedgerColumn("revocation_reason") { $0.record.payload.revocationReason?.stored },
        LedgerColumn("revocation_percentage") { $0.record.payload.revocationPercentage },
        LedgerColumn("is_upgraded") { $0.record.payload.isUpgraded ?? false },
        LedgerColumn("reason") { $0.record.payload.transactionReason?.rawValue },
        LedgerColumn("additional_reason") { $0.record.payload.additionalTransactionReason },
        LedgerColumn("offer_type") { $0.record.payload.offerType.map { Int16(clamping: $0.rawValue) } },
        LedgerColumn("offer_id") { $0.record.payload.offerIdentifier },
        LedgerColumn("offer_discount_type") { $0.record.payload.offerDiscountType?.rawValue },
        LedgerColumn("app_account_token") { $0.record.payload.appAccountToken.map(UUID.init) },
        LedgerColumn("app_transaction_id") { $0.record.payload.appTransactionId },
        LedgerColumn("price") { $0.record.payload.price },
        LedgerColumn("currency") { $0.record.payload.currency },
        LedgerColumn("storefront") { $0.record.payload.storefront },
        LedgerColumn("quantity") { $0.record.payload.quantity.map { Int32(clamping: $0) } },
        LedgerColumn("billing_plan_type") { $0.record.payload.billingPlanType },
        LedgerColumn("signed_at") { PostgresTimestamp($0.record.payload.signedDate) },
        LedgerColumn("digest") { $0.record.digest },
        LedgerColumn("is_unsigned") { ($0.isUnsigned ? true : nil) as Bool? },
        LedgerColumn("notification_uuid") { $0.notificationUUID.map(UUID.init) },
        LedgerColumn("payload") { PostgresJSON($0.record.payload.json) },
    ]

    static let renewal: [LedgerColumn<PurchaseUpdate.Sourced<RenewalInfoPayload>>] = [
        LedgerColumn("original_transaction_id") { $0.record.payload.originalTransactionId },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("product_id") { $0.record.payload.productId },
        LedgerColumn("renewal_product_id") { $0.record.payload.autoRenewProductId },
        LedgerColumn("auto_renew") { $0.record.payload.autoRenewStatus.flatMap { $0.isKnown ? $0 == .on : nil } },
        LedgerColumn("renews_at") { $0.record.payload.renewalDate.map(PostgresTimestamp.init) },
        LedgerColumn("expiration_intent") { $0.record.payload.expirationIntent.map { Int16(clamping: $0.rawValue) } },
        LedgerColumn("in_billing_retry") { $0.record.payload.isInBillingRetryPeriod },
        LedgerColumn("grace_expires_at") { $0.record.payload.gracePeriodExpiresDate.map(PostgresTimestamp.init) },
        LedgerColumn("price_increase_status") {
            $0.record.payload.priceIncreaseStatus.map { Int16(clamping: $0.rawValue) }
        },
        LedgerColumn("renewal_price") { $0.record.payload.renewalPrice },
        LedgerColumn("currency") { $0.record.payload.currency },
        LedgerColumn("offer_type") { $0.record.payload.offerType.map { Int16(clamping: $0.rawValue) } },
        LedgerColumn("offer_id") { $0.record.payload.offerIdentifier },
        LedgerColumn("app_account_token") { $0.record.payload.appAccountToken.map(UUID.init) },
        LedgerColumn("app_transaction_id") { $0.record.payload.appTransactionId },
        LedgerColumn("signed_at") { PostgresTimestamp($0.record.payload.signedDate) },
        LedgerColumn("digest") { $0.record.digest },
        LedgerColumn("is_unsigned") { ($0.isUnsigned ? true : nil) as Bool? },
        LedgerColumn("notification_uuid") { $0.notificationUUID.map(UUID.init) },
        LedgerColumn("payload") { PostgresJSON($0.record.payload.json) },
    ]

    /// A subscription's row, beside the phases of ``PhaseColumns``.
    struct Subscription: Sendable {
        let key: PurchaseKey
        let phases: PurchaseUpdate.SubscriptionPhases
        let groupID: String?
        let carriedAccount: UniqueIdentifier?
        let stretchEnds: [StretchEnd]
        let isRegular: Bool
        let stored: StoredDates?

        init?(_ update: PurchaseUpdate) {
            guard case .phases(let phases) = update.subscriptionRow, let first = phases.current.first else {
                return nil
            }
            key = update.key
            isRegular = update.isRegular
            stored = update.stored
            self.phases = phases
            groupID = update.state.subscription?.subscriptionGroupID
            carriedAccount = update.state.carried(to: first.startsAt).account
            stretchEnds = update.state.subscription?.stretchEnds ?? []
        }

        private var last: Phase? { phases.current.last }

        /// An account of earlier derived phases that is not the last one's.
        var formerAccount: UniqueIdentifier? {
            phases.current.last { $0.value.appAccountToken != last?.value.appAccountToken }?.value.appAccountToken
        }
        var account: UniqueIdentifier? { last?.value.appAccountToken }
        var paidUntil: Timestamp { last?.value.expiresAt ?? .distantPast }
    }

    static let subscription: [LedgerColumn<Subscription>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("subscription_group_id") { $0.groupID },
        LedgerColumn("app_account_token") { $0.account.map(UUID.init) },
        LedgerColumn("former_account_token") { $0.formerAccount.map(UUID.init) },
        LedgerColumn("carried_account_token") { $0.carriedAccount.map(UUID.init) },
        LedgerColumn("stretches") { StretchEnd.stored($0.stretchEnds) },
        LedgerColumn("paid_until") { PostgresTimestamp($0.paidUntil) },
        LedgerColumn("is_regular") { $0.isRegular },
        LedgerColumn("earlier_phases") { Int32(clamping: $0.phases.earlier) },
        LedgerColumn("first_stored_at") { $0.stored?.first },
        LedgerColumn("last_stored_at") { $0.stored?.last },
    ]

    static let history: [LedgerColumn<StoredPhases.HistoryRow>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("starts_at") { PostgresTimestamp($0.phases.first?.startsAt ?? .distantPast) },
    ]

    /// A row of a one-time purchase.
    struct BoughtOnce: Sendable {
        let key: PurchaseKey
        let value: OneTimePurchase
        let stored: StoredDates?

        init?(_ update: PurchaseUpdate) {
            guard let value = update.state.oneTime else { return nil }
            (key, self.value, stored) = (update.key, value, update.stored)
        }
    }

    static let oneTimePurchase: [LedgerColumn<BoughtOnce>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("kind") { $0.value.kind.rawValue },
        LedgerColumn("product_id") { $0.value.productID },
        LedgerColumn("ownership") { $0.value.ownership },
        LedgerColumn("app_account_token") { $0.value.appAccountToken.map(UUID.init) },
        LedgerColumn("transaction_id") { $0.value.transactionID },
        LedgerColumn("purchased_at") { PostgresTimestamp($0.value.purchasedAt) },
        LedgerColumn("expires_at") { $0.value.expiresAt.map(PostgresTimestamp.init) },
        LedgerColumn("revoked_at") { $0.value.revokedAt.map(PostgresTimestamp.init) },
        LedgerColumn("quantity") { $0.value.quantity },
        LedgerColumn("revoked_share") { $0.value.revokedShare },
        LedgerColumn("revocation_reason") { $0.value.revokedReason?.stored },
        LedgerColumn("gaps") { OneTimePurchase.Gap.stored($0.value.gaps) },
        LedgerColumn("earlier_accounts") { OneTimePurchase.EarlierAccount.stored($0.value.earlierAccounts) },
        LedgerColumn("sales") { OneTimePurchase.Sale.stored($0.value.sales) },
        LedgerColumn("first_stored_at") { $0.stored?.first },
        LedgerColumn("last_stored_at") { $0.stored?.last },
    ]

    static let neverBegun: [LedgerColumn<(key: PurchaseKey, value: PaidPeriod)>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("transaction_id") { $0.value.transactionID },
        LedgerColumn("replaced_at") { $0.value.replacedAt.map(PostgresTimestamp.init) },
    ]

    static let anomaly: [LedgerColumn<(key: PurchaseKey, value: Anomaly)>] = [
        LedgerColumn("original_transaction_id") { $0.key.originalTransactionID },
        LedgerColumn("bundle_id") { $0.key.bundleID },
        LedgerColumn("environment") { $0.key.environment },
        LedgerColumn("kind") { $0.value.kind.rawValue },
        LedgerColumn("signed_at") { PostgresTimestamp($0.value.signedAt) },
        LedgerColumn("transaction_id") { $0.value.transactionID },
        LedgerColumn("reported_status") { $0.value.reportedStatus.map { Int16(clamping: $0) } },
        LedgerColumn("derived_status") { $0.value.derivedStatus.map { Int16(clamping: $0) } },
    ]
}
