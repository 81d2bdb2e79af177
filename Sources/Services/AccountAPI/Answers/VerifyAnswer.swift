import APIKit
import Accounts
import Base

/// `POST /v1/subscriptions/verify`: the purchase that was proven, and the account as it is now.
struct VerifyAnswer: Sendable, Hashable {
    /// The purchase.
    var subscription: SubscriptionView?
    /// The account that it belongs to.
    var account: AccountView

    /// An answer.
    init(_ subscription: SubscriptionView?, of account: AccountView) {
        self.subscription = subscription
        self.account = account
    }

    /// What it looks like.
    static let shape = AccountShape<VerifyAnswer>(
        "VerifiedSubscription",
        [
            .init("success") { _ in true },
            .nullable("subscription", SubscriptionShapes.api, about: "The purchase that was proven.") {
                $0.subscription
            },
            .nested(
                "account", AccountShapes.account, about: "The account, in which the purchase counts already.", \.account
            ),
        ])
}
