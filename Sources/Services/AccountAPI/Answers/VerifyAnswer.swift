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
    /// Why the purchase opens nothing; nil where it opens something.
    var noAccess: NoAccess?

    /// An answer.
    /// - Parameter countsSandbox: whether the account's purchases outside Production give access.
    init(
        _ subscription: SubscriptionView?, of account: AccountView, isShown: Bool = true, countsSandbox: Bool = true
    ) {
        noAccess = NoAccess(subscription, countsSandbox: countsSandbox)
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
            .init(
                "noAccessReason", .nullable(NoAccess.Reason.schema),
                """
                Why the purchase opens nothing; null where it opens something, or is not shown, as a consumable is not. \
                sandbox_not_counted: it was bought in Sandbox, Xcode or LocalTesting, and purchases there do not count for this account.
                """
            ) { .text($0.noAccess?.reason.rawValue) },
            .read("noAccessDetail", "The same for people, in the language asked for; null likewise.") {
                answer, reader in
                reader.text(answer.noAccess?.detail)
            },
        ])
}
