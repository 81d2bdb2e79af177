import APIKit
import Base

/// `POST /v1/subscriptions/verify`: the purchase that was proven, and the account as it is now.
struct VerifyAnswer: Sendable, Hashable {
    /// The purchase.
    var subscription: SubscriptionPicture?
    /// Whose it is.
    var account: AccountPicture

    /// An answer.
    init(_ subscription: SubscriptionPicture?, of account: AccountPicture) {
        self.subscription = subscription
        self.account = account
    }

    /// What it looks like.
    static let shape = AccountShape<VerifyAnswer>(
        "VerifiedSubscription",
        [
            .init("success", .boolean) { _ in true },
            .read("subscription", .nullable(SubscriptionAnswer.shape.schema), "The purchase that was proven.") {
                SubscriptionAnswer.value(of: $0.subscription, for: $1)
            },
            .read("account", AccountAnswer.shape.schema, "The account, in which the purchase counts already.") {
                AccountAnswer.shape.value(of: $0.account, for: $1)
            },
        ])
}
