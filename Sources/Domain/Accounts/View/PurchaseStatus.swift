import Base

/// The status of a purchase in the words of the account API: an account's, and one more.
package enum PurchaseStatus: String, Sendable, Hashable, CaseIterable {
    /// In Apple's introductory free trial.
    case trial
    /// In a paid period, to be renewed.
    case active
    /// Paid for, and not to be renewed.
    case cancelled
    /// The charge failed; access goes on while Apple retries.
    case gracePeriod = "grace_period"
    /// The charge failed; Apple retries, without access. The account is expired by then.
    case billingRetry = "billing_retry"
    /// Over.
    case expired
    /// A trial that is over, and nothing was paid.
    case trialExpired = "trial_expired"
    /// Refunded, or family sharing withdrawn.
    case revoked

    /// What a person is shown for it.
    var display: LocalizedText {
        switch self {
        case .billingRetry: Self.retried
        default: AccountStatus(rawValue: rawValue)?.display ?? LocalizedText(rawValue)
        }
    }

    private static let retried = LocalizedText(
        "Payment failed, no access", others: ["zh-Hans": "扣费失败，已停用", "zh-Hant": "扣款失敗，已停用"])
}
