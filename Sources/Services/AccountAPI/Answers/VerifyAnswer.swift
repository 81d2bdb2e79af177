import APIKit
import Accounts
import Base

/// `POST /v1/subscriptions/verify`: the purchase that was proven, and the account as it is now.
struct VerifyAnswer: Sendable, Hashable {
    /// The purchase.
    var subscription: SubscriptionView?
    /// The account that it belongs to.
    var account: AccountView
    /// Whether the account, as it was read, shows what was proven, be it expired or revoked.
    var isShown: Bool

    /// An answer.
    init(_ subscription: SubscriptionView?, of account: AccountView, isShown: Bool = true) {
        self.subscription = subscription
        self.account = account
        self.isShown = isShown
    }

    /// What it looks like.
    static let shape = AccountShape<VerifyAnswer>(
        "VerifiedSubscription",
        [
            .init("success", "Whether what was proven is in the answer.") { $0.isShown },
            .nullable("subscription", SubscriptionShapes.api, about: "The purchase that was proven.") {
                $0.subscription
            },
            .nested(
                "account", AccountShapes.account, about: "The account, in which the purchase counts already.", \.account
            ),
        ])
}
