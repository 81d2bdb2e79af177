import AppleRecords
import Base
import Foundation
import Postgres

extension AdminShapes {
    /// A request of Apple's for consumption data.
    static let consumptionRequest = Shape<ListedConsumptionRequest, Void>(
        "ConsumptionRequest",
        [
            .init("notificationUuid") { $0.notificationUUID }, .init("bundleId") { $0.scope.bundleID },
            .init("environment") { $0.scope.environment }, .init("signedAt") { Timestamp($0.signedAt) },
            .init("deadline", "Twelve hours later: after it nothing is sent.") { Timestamp($0.deadline) },
            .init("secondsLeft", "Until then, of one that may still be answered; null of others.") { $0.secondsLeft },
            .init("transactionId") { $0.transactionID }, .init("productId") { $0.productID },
            .init("appAccountToken", "What the transaction was bought with.") { $0.accountToken },
            .init("reason", "Why the customer wants the money back, as Apple calls it.") { $0.reason },
            .init("consent", "Whether the customer consents now; null where nothing was ever recorded.") {
                $0.consent
            },
            .init("state") { $0.state }, .init("why", "Why it is not answered: a code.") { $0.why },
            .init("answer", .nullable(.object([])), "What Apple was sent.") {
                .written($0.answer.map { Array($0.utf8) })
            },
            .init("rule", "The rule of the policy, or the refund request, that decided.") { $0.rule },
            .init("sentAt") { $0.sentAt.map { Timestamp($0) } },
            .init("sentBy", "Who sent it by hand.") { $0.sentBy },
        ])

    /// An extension of renewal dates.
    static let renewalExtension = Shape<ShownRenewalExtension, Void>("RenewalExtension", extensionFields)

    /// Likewise, with the subscriptions that Apple has named as not extended.
    static let detailedExtension = Shape<ShownRenewalExtension, Void>(
        "RenewalExtensionDetail",
        extensionFields + [
            Shape<ShownRenewalExtension, Void>.Field.list(
                "failures", failure, about: "Those that Apple has named, 1,000 at most."
            ) { $0.failures }
        ])

    private static let extensionFields: [Shape<ShownRenewalExtension, Void>.Field] = [
        .init("id", "Its number.") { $0.record.id }, .init("environment") { $0.record.scope.environment },
        .init("bundleId") { $0.record.scope.bundleID },
        .init("kind", "one: of a subscription; all: of all subscribers of a product.") { $0.record.subject.kind },
        .init("originalTransactionId") { $0.originalTransactionID }, .init("productId") { $0.all?.productID },
        .init("storefronts", "Empty for all countries; null for one subscription.") { $0.all?.storefronts },
        .init("days") { $0.record.days }, .init("reasonCode", "Apple's code for why.") { $0.record.reasonCode },
        .init("requestIdentifier", "Its name for Apple.") { $0.record.requestIdentifier },
        .init("requestedAt") { Timestamp($0.record.requestedAt) }, .init("requestedBy") { $0.record.requestedBy },
        .init("why", "Shortened unless it is opened.") { $0.text($0.record.why) },
        .init("state", "Null where nothing is known for that instant.") { $0.state },
        .init("waitingFor", "What it waits for: a code.") { $0.record.waitingFor },
        .init("askedAt") { $0.record.askedAt.map { Timestamp($0) } },
        .init("askedAgain", "How often Apple had done nothing, and is asked again; null like state.") { $0.askedAgain },
        .init("renewsBefore") { $0.record.before.map { Timestamp($0.renewsAt) } },
        .init("acceptedAt") { $0.record.acceptedAt.map { Timestamp($0) } },
        .init("effectiveDate", "The new renewal date, by Apple.") { $0.record.effectiveAt.map { Timestamp($0) } },
        .init("confirmedAt", "Since when Apple's status shows it.") { $0.record.confirmedAt.map { Timestamp($0) } },
        .init("notificationUuid") { $0.record.notificationUUID },
        .init("completedAt") { $0.record.completedAt.map { Timestamp($0) } },
        .init("succeededCount", "By Apple.") { $0.record.succeeded },
        .init("failedCount", "By Apple.") { $0.record.failed },
        .init("failuresHeard", "How many of those Apple has named.") { $0.record.failuresHeard },
        .init("code", "Why Apple refuses.") { $0.record.refusal?.code },
        .init("message", "What to do about it.") { $0.record.refusal?.message },
        .init("closedBy") { $0.record.closed?.by },
        .init("closedWhy", "Shortened unless it is opened.") { $0.text($0.record.closed?.why) },
        .init("settledAt", "When it came to its end.") { $0.record.settledAt.map { Timestamp($0) } },
    ]

    private static let failure = Shape<ExtensionFailure, Void>(
        "ExtensionFailure",
        [
            .init("originalTransactionId") { $0.originalTransactionID },
            .init("signedAt") { Timestamp($0.signedAt) }, .init("notificationUuid") { $0.notificationUUID },
        ])
}
