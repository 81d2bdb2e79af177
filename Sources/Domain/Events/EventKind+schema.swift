import Accounts
package import Base
import Subscriptions

/// The published shapes of events. What is written (`Event+json.swift`) is held against them by tests.
///
/// Members that earlier releases did not write may be missing from the events that they stored.
extension EventKind.Payload {
    /// The name of the shape of an event's body: `SubscriptionEvent` and so on.
    package var schemaName: String {
        switch self {
        case .subscription: "SubscriptionEvent"
        case .purchase: "PurchaseEvent"
        case .access: "AccountEvent"
        case .consumption: "ConsumptionEvent"
        case .nothing: "TestEvent"
        }
    }

    /// The kinds that carry it.
    package var kinds: [EventKind] { EventKind.allCases.filter { $0.payload == self } }

    /// The body that is posted.
    package var body: ValueSchema {
        .named(
            schemaName,
            .object([
                .required("type", EventKind.schema, "What it reports."),
                .required("timestamp", .time, "When that came to be."),
                .required("data", data),
            ]))
    }

    /// The body's `data`.
    package var data: ValueSchema {
        .named(schemaName + "Data", .object(Self.common + members + Self.ending))
    }

    /// The `data` of any event. The last one has no member that the others lack, so it is tried last.
    package static var anyData: ValueSchema { .any(allCases.map(\.data)) }

    private static let common: [ValueSchema.Property] = [
        .required("app", .nullable(.text), "The bundle id; null for what is no app's, such as a grant."),
        .required("environment", .text, "Apple's name of it: Production, Sandbox."),
        .required(
            "account", .nullable(.text),
            "The user's own id; the appAccountToken where that alone is known; null for a purchase of no account."),
        .required(
            "appAccountToken", .nullable(UniqueIdentifier.schema),
            "The account's token; null for a purchase of no account."),
        .required(
            "version", .nullable(.integer()), "The account's by then: every later read shows at least this one."),
        .required("sequence", .integer(1...Int64.max), "Its number among the account's events, or the purchase's."),
        .required(
            "previousSequence", .nullable(.integer()),
            "That of the event sent before it to the same place; null for the first."),
        .optional("replay", .boolean, "True where an operator sent a past event once more, as a test."),
    ]

    private static let ending: [ValueSchema.Property] = [
        .required("cause", cause, "Why it is known."),
        .required("late", .boolean, "Whether it is reported well after it came to be."),
        .required("correction", .boolean, "Whether it replaces an earlier report that was wrong."),
    ]

    private var members: [ValueSchema.Property] {
        switch self {
        case .subscription:
            [
                .required("subscription", Self.subscriptionShape, "What it is now."),
                .required(
                    "previous", .nullable(Self.subscriptionShape),
                    "What it was before; null where that was not reported."),
                .optional("transaction", Self.transactionShape, "The period or refund that is reported."),
            ] + Self.move
        case .purchase:
            [
                .required("purchase", Self.purchaseShape, "What it is now."),
                .required(
                    "previous", .nullable(Self.purchaseShape), "What it was before; null where that was not reported."),
            ] + Self.move
        case .access:
            [
                .required("access", Self.accessShape, "What the account has now."),
                .required(
                    "previous", .nullable(Self.accessShape), "What it had before; null where that was not reported."),
            ]
        case .consumption: [.required("consumption", Self.consumptionShape)]
        case .nothing: []
        }
    }

    private static let move: [ValueSchema.Property] = [
        .optional("transferredFrom", UniqueIdentifier.schema, "Of a transfer: the token of the account that had it."),
        .optional(
            "transferredTo", .nullable(UniqueIdentifier.schema),
            "Of a transfer: the token of the account that has it; null where it is free."),
    ]

    private static let cause = ValueSchema.named(
        "EventCause",
        .object([
            .required("kind", .named("EventCauseKind", .choice(EventCause.names))),
            .optional("type", .text, "Of a notification: Apple's notificationType."),
            .optional("subtype", .nullable(.text), "Of a notification: Apple's subtype."),
            .optional(
                "uuid", UniqueIdentifier.schema,
                "Equal in all events of one account that came of one thing, such as a refund. Of a notification: Apple's notificationUUID."
            ),
        ]))

    /// What was paid, by the record of the transaction that the object names.
    private static let terms: [ValueSchema.Property] = [
        .optional(
            "price", .nullable(.integer()),
            "What was paid, in thousandths of the currency's unit; null where Apple does not say."
        ),
        .optional("currency", .nullable(.text), "ISO 4217."),
        .optional("storefront", .nullable(.text), "The country of the App Store, ISO 3166-1 alpha-3."),
        .optional("offer", .nullable(offer), "The offer that it was bought with; null for none."),
    ]

    private static let offer = ValueSchema.named(
        "EventOffer",
        .object([
            .required(
                "type", .nullable(.integer()),
                "Apple's number: 1 introductory, 2 promotional, 3 offer code, 4 win-back."),
            .required("id", .nullable(.text), "The offer's id in App Store Connect."),
            .required(
                "discountType", .nullable(.text), "Apple's word: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT, ONE_TIME."),
        ]))

    private static let subscriptionShape = ValueSchema.named(
        "EventSubscription",
        .object(
            [
                .required("originalTransactionId", .nullable(.text)), .required("productId", .nullable(.text)),
                .required(
                    "status", .named("EventSubscriptionStatus", .choice(SubscriptionStatus.allCases.map(\.rawValue)))),
                .required("access", .boolean),
                .required("expiresAt", .time, "When the paid stretch ends, or ended."),
                .required("accessUntil", .time, "When access ends, or ended: grace included."),
                .required("inTrial", .boolean, "Whether the present period is the introductory free trial."),
                .required("willRenew", .nullable(.boolean), "Null where Apple never said."),
                .required("renewalProductId", .nullable(.text)), .required("priceIncreasePending", .boolean),
                .required(
                    "expirationIntent", .nullable(.integer()),
                    "Apple's number: 1 cancelled, 2 billing, 3 price increase not agreed, 4 not for sale, 5 other."),
                .required(
                    "appAccountToken", .nullable(UniqueIdentifier.schema), "The token that Apple signed into it."),
            ] + terms + [.optional("quantity", .nullable(.integer()), "How many were bought.")]))

    private static let transactionShape = ValueSchema.named(
        "EventTransaction",
        .object(
            [
                .required("transactionId", .text), .required("productId", .nullable(.text)),
                .required("ownership", .nullable(.text), "Apple's word: PURCHASED, FAMILY_SHARED."),
                .required("startsAt", .time), .required("expiresAt", .time), .required("isTrial", .boolean),
            ] + refund + terms + [.optional("quantity", .nullable(.integer()), "How many were bought.")]))

    private static let purchaseShape = ValueSchema.named(
        "EventPurchase",
        .object(
            [
                .required("originalTransactionId", .nullable(.text)), .required("transactionId", .text),
                .required("productId", .nullable(.text)),
                .required(
                    "kind", .named("EventPurchaseKind", .choice(OneTimePurchase.Kind.allCases.map(\.rawValue)))),
                .required("ownership", .nullable(.text), "Apple's word: PURCHASED, FAMILY_SHARED."),
                .required("quantity", .integer(), "How many were bought; of a consumable in all of its sales."),
                .required("purchasedAt", .time), .required("expiresAt", .nullable(.time)),
            ] + refund + [
                .required("appAccountToken", .nullable(UniqueIdentifier.schema), "The token that Apple signed into it.")
            ] + terms))

    private static let refund: [ValueSchema.Property] = [
        .required("revokedAt", .nullable(.time)),
        .required("revokedShare", .integer(), "How much was taken back, in thousandths of a percent."),
        .optional(
            "revokedReason", .nullable(.text), "`app_issue`, `other`, or Apple's number; null where Apple does not say."
        ),
    ]

    private static let accessShape = ValueSchema.named(
        "EventAccess",
        .object([
            .required("tier", .text, "By the catalog."), .required("status", AccountStatus.schema),
            .required("access", .boolean), .required("source", AccountSource.schema),
            .required("productId", .nullable(.text)),
            .required(
                "expiresAt", .nullable(.time), "When all access ends without a gap, or ended; null where it has no end."
            ),
            .optional("tierUntil", .nullable(.time), "When the present tier becomes another one."),
            .optional("periodEndsAt", .nullable(.time), "When the running period of the deciding source ends."),
            .required("willRenew", .boolean), .required("inTrial", .boolean),
        ]))

    private static let consumptionShape = ValueSchema.named(
        "EventConsumption",
        .object([
            .required("originalTransactionId", .text), .required("transactionId", .nullable(.text)),
            .required("reason", .nullable(.text), "Why the customer wants the money back, in Apple's word."),
            .required("answer", .nullable(.text), "What became of the answer; null of a request."),
        ]))
}

extension EventKind: JSONConvertible {
    /// One of the kinds.
    package static var schema: ValueSchema { .named("EventKind", .choice(allCases.map(\.rawValue))) }
}
