import AppStorePayloads
import Base

extension SubscriptionRules {
    /// What all answers for one instant share.
    struct Base {
        let instant: Timestamp
        /// The renewal info for the present; nil where there is none, or a later period has overtaken it.
        let current: RenewalFact?
        let isStale: Bool

        /// Whether auto-renew is on. A period bought after that was reported was charged by auto-renew.
        var autoRenew: Bool? { isStale ? true : current?.autoRenew }

        /// The status in a period that gives access.
        func paidStatus(isFreeTrial: Bool = false) -> SubscriptionStatus {
            autoRenew == false ? .cancelled : isFreeTrial ? .trial : .active
        }

        func value(
            _ status: SubscriptionStatus, in period: Period, of account: UniqueIdentifier?, expiresAt: Timestamp,
            graceEndsAt: Timestamp? = nil
        ) -> StatusAtInstant {
            value(
                StatusAtInstant(
                    status: status, basis: .records, productID: period.record.productID,
                    transactionID: period.record.transactionID, expiresAt: expiresAt,
                    periodEndsAt: period.end(asSeenAt: instant),
                    graceEndsAt: graceEndsAt, inTrial: period.record.isFreeTrial && status.isPaid,
                    appAccountToken: account))
        }

        /// For a period that only renewal info names.
        func value(
            _ status: SubscriptionStatus, by renewal: RenewalFact, until renewsAt: Timestamp,
            graceEndsAt: Timestamp? = nil, _ account: UniqueIdentifier?
        ) -> StatusAtInstant {
            value(
                StatusAtInstant(
                    status: status, basis: .renewalInfo, productID: renewal.productID, expiresAt: renewsAt,
                    periodEndsAt: renewsAt, graceEndsAt: graceEndsAt, appAccountToken: account))
        }

        private func value(_ value: StatusAtInstant) -> StatusAtInstant {
            var value = value
            value.willRenew = autoRenew
            value.renewalProductID = isStale ? value.productID : current?.renewalProductID
            value.expirationIntent = current?.expirationIntent
            // Refusing, switching auto-renew off, and the end each answer the question.
            value.priceIncreasePending =
                current?.priceIncreasePending == true && value.status.access && autoRenew != false
                && current?.expirationIntent != Self.priceIncreaseRefused
            return value
        }

        /// `expirationIntent` 3.
        private static let priceIncreaseRefused = 3
    }
}
