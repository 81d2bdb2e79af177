/// A member of Apple's JSON that is a text, with its bound.
///
/// A reader refuses a longer text. Some of these texts are part of an index, of an event, or of a column with a limit of its own:
/// PostgreSQL would refuse the record there, and would not name the member. Every bound lies far beyond what Apple sends.
package struct TextMember: Sendable {
    /// The member's name.
    package let name: StaticString
    /// The most bytes of its text in UTF-8; of a list, of each of its texts.
    package let most: Int

    /// The most texts of a list.
    package static let mostTexts = 1000

    private init(_ name: StaticString, _ most: Int) {
        self.name = name
        self.most = most
    }

    /// Whether a text is longer than the member may be.
    package func isExceeded(by text: String) -> Bool { text.utf8.count > most }
}

/// All members that are read as texts: a reader takes a text by its entry here.
extension TextMember {
    // Keys. An index takes some 2700 bytes, and some have three of these.
    package static let transactionId = TextMember("transactionId", 255)
    package static let originalTransactionId = TextMember("originalTransactionId", 255)
    package static let webOrderLineItemId = TextMember("webOrderLineItemId", 255)
    package static let appTransactionId = TextMember("appTransactionId", 255)
    package static let notificationUUID = TextMember("notificationUUID", 255)
    package static let requestIdentifier = TextMember("requestIdentifier", 255)
    package static let externalPurchaseId = TextMember("externalPurchaseId", 255)
    package static let appAccountToken = TextMember("appAccountToken", 255)

    // Apps and products, which App Store Connect names. Bundle identifiers reach 155 bytes, and products 100.
    package static let bundleId = TextMember("bundleId", 255)
    package static let productId = TextMember("productId", 255)
    package static let autoRenewProductId = TextMember("autoRenewProductId", 255)
    package static let subscriptionGroupIdentifier = TextMember("subscriptionGroupIdentifier", 255)
    package static let bundleVersion = TextMember("bundleVersion", 255)
    package static let applicationVersion = TextMember("applicationVersion", 255)
    package static let originalApplicationVersion = TextMember("originalApplicationVersion", 255)
    // A person writes the names of offers, in any alphabet.
    package static let offerIdentifier = TextMember("offerIdentifier", 1000)
    package static let eligibleWinBackOfferIds = TextMember("eligibleWinBackOfferIds", 1000)

    // Codes of Apple's. A dead letter keeps the type and the subtype of its notification, in columns of 100 characters.
    package static let notificationType = TextMember("notificationType", 100)
    package static let subtype = TextMember("subtype", 100)
    package static let version = TextMember("version", 100)
    package static let environment = TextMember("environment", 100)
    package static let receiptType = TextMember("receiptType", 100)
    package static let consumptionRequestReason = TextMember("consumptionRequestReason", 100)
    package static let type = TextMember("type", 100)
    package static let inAppOwnershipType = TextMember("inAppOwnershipType", 100)
    package static let revocationType = TextMember("revocationType", 100)
    package static let offerDiscountType = TextMember("offerDiscountType", 100)
    package static let offerPeriod = TextMember("offerPeriod", 100)
    package static let transactionReason = TextMember("transactionReason", 100)
    package static let additionalTransactionReason = TextMember("additionalTransactionReason", 100)
    package static let storefront = TextMember("storefront", 100)
    package static let storefrontId = TextMember("storefrontId", 100)
    package static let storefrontCountryCodes = TextMember("storefrontCountryCodes", 100)
    package static let currency = TextMember("currency", 100)
    package static let billingPlanType = TextMember("billingPlanType", 100)
    package static let tokenType = TextMember("tokenType", 100)
    package static let originalPlatform = TextMember("originalPlatform", 100)
    package static let deviceVerification = TextMember("deviceVerification", 255)
    package static let deviceVerificationNonce = TextMember("deviceVerificationNonce", 255)

    // Signed records, which are kept by themselves or with the notification that they are in. Apple's take some 6 KB.
    package static let signedPayload = TextMember("signedPayload", 1_048_576)
    package static let signedTransactionInfo = TextMember("signedTransactionInfo", 1_048_576)
    package static let signedRenewalInfo = TextMember("signedRenewalInfo", 1_048_576)
    package static let signedAppTransactionInfo = TextMember("signedAppTransactionInfo", 1_048_576)

    // Texts of the Server API's answers that are not signed.
    package static let testNotificationToken = TextMember("testNotificationToken", 10_000)
    package static let paginationToken = TextMember("paginationToken", 10_000)
    package static let revision = TextMember("revision", 10_000)
}
