/// `POST /v1/subscriptions/verify`: the purchase that was proven, and the account as it is now.
package struct VerifyAnswer: Sendable, Hashable {
    /// The purchase.
    package var subscription: SubscriptionPicture?
    /// Whose it is.
    package var account: AccountPicture

    /// An answer.
    package init(_ subscription: SubscriptionPicture?, of account: AccountPicture) {
        self.subscription = subscription
        self.account = account
    }

    /// What it looks like.
    package static let shape = AnswerShape<VerifyAnswer>(
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
