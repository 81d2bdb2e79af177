import APIKit
import Accounts
import Base
import Subscriptions

/// The answers of the Readmigo dialect: those of `/v1`, with that document's words.
enum ReadmigoAnswers {
    private static let statuses = ValueSchema.named("ReadmigoAccountStatus", .choice(ReadmigoWords.statuses))
    private static let sources = ValueSchema.named("ReadmigoSource", .choice(ReadmigoWords.sources))
    private static let purchaseTypes = ValueSchema.named(
        "ReadmigoPurchaseType", .choice(ReadmigoWords.purchaseTypes))

    private static let accountStatus = AccountShape<AccountView>.Field("status", statuses) {
        .string(ReadmigoWords.status($0.current.status))
    }
    private static let accountSource = AccountShape<AccountView>.Field("source", sources) {
        .string(ReadmigoWords.source($0.current.source))
    }
    private static let planType = AccountShape<AccountView>.Field(
        "planType", "The account's tier in capital letters."
    ) { $0.current.tier.uppercased() }

    private static let subscription = SubscriptionShapes.api.changed(
        named: "ReadmigoSubscription",
        replacing: [
            .init("status", statuses) { .string(ReadmigoWords.status($0.purchaseStatus)) },
            .read("purchaseType", purchaseTypes) { .string(ReadmigoWords.purchaseType($1.period(of: $0))) },
        ],
        adding: [
            .read("planType", "The product's tier in capital letters; null of one that the catalog does not know.") {
                $1.product($0)?.tier.uppercased()
            },
            .init("source", sources) { _ in .string(ReadmigoWords.source(.apple)) },
        ])

    private static let account = AccountShapes.account.changed(
        named: "ReadmigoAccount", replacing: [accountStatus, accountSource], adding: [planType])

    /// `GET /subscriptions/status`, and what refreshing answers.
    static let status = AccountShapes.status.changed(
        named: "ReadmigoStatus",
        replacing: [
            .first("subscription", of: "subscriptions", subscription),
            .list("subscriptions", subscription) { $0.purchases },
            accountStatus, accountSource,
            // By that document a client without access has bought nothing.
            .read("purchaseType", purchaseTypes, "Of the purchase that gives access; none where none does.") {
                .string(ReadmigoWords.purchaseType($1.period(of: $0.purchases.first(where: \.givesAccess))))
            },
        ],
        adding: [.init("originalTransactionId", "Of the subscription.") { $0.subscription?.key.originalTransactionID }])

    /// `POST /subscriptions/verify`
    static let verify = VerifyAnswer.shape.changed(
        named: "ReadmigoVerified",
        replacing: [
            .nullable("subscription", subscription) { $0.subscription }, .nested("account", account, \.account),
        ])

    /// `POST /subscriptions/restore`
    static let restore = RestoreAnswer.shape(over: status, account, named: "ReadmigoRestored")

    /// `GET /subscriptions/trial/status`, and what starting it answers.
    static let trial = AccountShapes.trial.changed(
        named: "ReadmigoTrial", replacing: [accountStatus], adding: [planType])

    /// `GET /usage/current`
    static let usage = FeatureAnswer.usage.changed(
        named: "ReadmigoUsage",
        adding: [.init("planType", "The account's tier in capital letters.") { $0.tier.uppercased() }])
}
