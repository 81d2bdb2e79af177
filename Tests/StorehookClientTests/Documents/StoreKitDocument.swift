/// StoreKit 2 with the App Store Server API, the client's part.
enum StoreKitDocument {
    static let items: [DocumentedItem] = [
        .init(6, "StoreManager", "SubscriptionManager", by: "SubscriptionManagerTests.purchase"),
        .init(6, "APIService", "AccountAPI", by: "AnsweredStatusTests.paths"),
        .init(8, "Bearer Token", "AccountAPI.init", by: "AnsweredStatusTests.delivers"),
        .init(16, "Transaction (JWS)", "StoreTransaction.signedTransactionInfo", by: "AnsweredStatusTests.delivers"),
        .init(18, "/v1/subscriptions/verify", "AccountAPI.verify", by: "AnsweredStatusTests.paths"),
        .init(19, "/v1/subscriptions/status", "AccountAPI.status", by: "AnsweredStatusTests.paths"),
        .init(21, "验证 JWS 签名", elsewhere: "The server verifies against Apple's roots."),
        .init(28, "buy, JWS, verify, stored", "SubscriptionManager.purchase", by: "AnsweredStatusTests.delivers"),
        .init(
            29, "a trial becomes a subscription", "SubscriptionManager.isTrialPeriod", by: "AnsweredStatusTests.trial",
            but: "The server hears of it from Apple; the app by its next question."),
        .init(
            30, "at the start: status, compared with StoreKit", "AccessDecision.access",
            by: "SubscriptionManagerTests.lacking"),
        .init(31, "Apple notifies of renewals and ends", elsewhere: "The server's; the app asks at each end."),
        .init(
            37, "com.yourcompany.app.monthly", "PaywallOption.id", by: "PaywallContentTests.options",
            but: "Product ids are the catalog's."),
        .init(
            38, "com.yourcompany.app.quarterly", "PaywallPeriod.quarter", by: "PaywallContentTests.periods",
            but: "Product ids are the catalog's."),
        .init(
            39, "com.yourcompany.app.yearly", "PaywallPeriod.year", by: "PaywallContentTests.periods",
            but: "Product ids are the catalog's."),
        .init(42, "nothing is charged at first", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(43, "a trial that is cancelled costs nothing", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(44, "charged after the trial", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(46, "未订阅", "AccountStatus.free", by: "AnsweredStatusTests.words"),
        .init(49, "7天免费", "TextKey.trialStartDays", by: "PaywallContentTests.options"),
        .init(50, "(trial)", "AccountStatus.trial", by: "AnsweredStatusTests.words"),
        .init(
            52, "a cancelled trial ends", "TextKey.statusTrialExpired", by: "AnsweredStatusTests.words",
            but: "Its word is trial_expired."),
        .init(56, "(active)", "AccountStatus.active", by: "AnsweredStatusTests.words"),
        .init(58, "续期成功", "PurchaseSource.updates", by: "ManagerNamesTests.comesByItself"),
        .init(
            58, "扣费失败", "AccountStatus.gracePeriod", by: "AnsweredStatusTests.words",
            but: "Access goes on in Apple's grace period, and ends with it."),
        .init(61, "(cancelled)", "AccountStatus.cancelled", by: "AnsweredStatusTests.words"),
        .init(62, "到期前有效", "TextKey.statusCancelled", by: "AnsweredStatusTests.words"),
        .init(65, "(expired)", "AccountStatus.expired", by: "AnsweredStatusTests.words"),
        .init(67, "notifications", elsewhere: "Apple posts them to the server."),
        .init(
            285, "class StoreManager", "SubscriptionManager", by: "SubscriptionManagerTests.purchase",
            but: "@Observable needs iOS 17."),
        .init(286, "products: [Product]", "SubscriptionManager.products", by: "ManagerStatusTests.products"),
        .init(287, "isPro: Bool", "SubscriptionManager.isSubscribed", by: "ManagerNamesTests.names"),
        .init(288, "isTrialPeriod: Bool", "SubscriptionManager.isTrialPeriod", by: "AnsweredStatusTests.trial"),
        .init(290, "loadProducts() async", "SubscriptionManager.loadProducts", by: "ManagerStatusTests.products"),
        .init(292, "Product.products(for:)", "StoreKitSource.products", by: "AppleDeclarationTests.calls"),
        .init(298, "Failed to load products", "SubscriptionManager.loadProducts", by: "ManagerNamesTests.productLog"),
        .init(
            302, "purchase(_ product: Product, userIdentifier: String)", "SubscriptionManager.purchase",
            by: "AnsweredStatusTests.delivers", but: "The account is the one signed in."),
        .init(
            304, "StoreError.invalidUserIdentifier", "Account.appAccountToken", by: "AccountAPITests.unreadable",
            but: "The server gives the token: any account id has one."),
        .init(306, "Product.purchase(options:)", "StoreKitSource.purchase", by: "AppleDeclarationTests.calls"),
        .init(307, ".appAccountToken(appAccountToken)", "StoreKitSource.purchase", by: "AppleDeclarationTests.refused"),
        .init(310, ".success(.verified)", "PurchaseOutcome.success", by: "SubscriptionManagerTests.purchase"),
        .init(
            311, "transaction.finish()", "PurchaseSource.finish", by: "SubscriptionManagerTests.purchase",
            but: "After the server has accepted it, and not before."),
        .init(312, "syncToServer(transaction: transaction)", "AccountAPI.verify", by: "AnsweredStatusTests.delivers"),
        .init(313, "updatePurchaseStatus()", "SubscriptionManager.state", by: "AnsweredStatusTests.delivers"),
        .init(314, "bought: true", "PurchaseResult.purchased", by: "AnsweredStatusTests.delivers"),
        .init(
            316, "StoreError.verificationFailed", "ClientError.verificationFailed", by: "AnsweredStatusTests.refusals"),
        .init(317, "case .pending", "PurchaseResult.pending", by: "ManagerNamesTests.approved"),
        .init(319, "case .userCancelled", "PurchaseResult.cancelled", by: "SubscriptionManagerTests.attempts"),
        .init(321, "@unknown default", "StoreKitSource.purchase", by: "AppleDeclarationTests.refused"),
        .init(327, "transaction.jwsRepresentation", "StoreKitSource", by: "AppleDeclarationTests.refused"),
        .init(
            329, "AuthService.shared.fetchTokens()", "AccountAPI.init", by: "AccountAPITests.tokens",
            but: "A closure of the app's gives the token for each call."),
        .init(335, "Server sync failed", "SubscriptionManager", by: "ManagerNamesTests.productLog"),
        .init(
            339, "restorePurchases() async", "SubscriptionManager.restorePurchases",
            by: "SubscriptionManagerTests.restore"),
        .init(
            340, "goes through currentEntitlements", "PurchaseSource.currentEntitlements",
            by: "AnsweredStatusTests.restores"),
        .init(
            341, "leaves out what is not verified", "StoreResult.verified", by: "SubscriptionManagerTests.unverified"),
        .init(
            351, "verifySubscription(idToken: String, signedTransactionInfo: String)", "AccountAPI.verify",
            by: "AnsweredStatusTests.paths"),
        .init(352, "/v1/subscriptions/verify", "AccountAPI.verify", by: "AnsweredStatusTests.paths"),
        .init(353, "signedTransactionInfo", "AccountAPI.verify", by: "AnsweredStatusTests.delivers"),
        .init(357, "getSubscriptionStatus(idToken: String)", "AccountAPI.status", by: "AnsweredStatusTests.paths"),
        .init(363, "SubscriptionResponse", "Verification", by: "GoldenAnswerTests.verify"),
        .init(364, "success: Bool", "Verification.success", by: "GoldenAnswerTests.verify"),
        .init(365, "subscription: SubscriptionInfo", "Verification.subscription", by: "GoldenAnswerTests.verify"),
        .init(367, "SubscriptionStatusResponse", "SubscriptionStatus", by: "GoldenAnswerTests.status"),
        .init(
            368, "hasActiveSubscription: Bool", "SubscriptionStatus.hasActiveSubscription",
            by: "AnsweredStatusTests.words"),
        .init(
            369, "subscription: SubscriptionInfo?", "SubscriptionStatus.subscription", by: "GoldenAnswerTests.status"),
        .init(371, "SubscriptionInfo", "AccountSubscription", by: "GoldenAnswerTests.status"),
        .init(372, "productId: String", "AccountSubscription.productID", by: "GoldenAnswerTests.status"),
        .init(373, "status: String", "AccountSubscription.status", by: "GoldenAnswerTests.status"),
        .init(374, "isTrialPeriod: Bool", "AccountSubscription.isTrialPeriod", by: "AnsweredStatusTests.trial"),
        .init(375, "expiresAt: String?", "AccountSubscription.expiresAt", by: "GoldenAnswerTests.status"),
        .init(376, "autoRenewStatus: Bool", "AccountSubscription.autoRenewStatus", by: "GoldenAnswerTests.status"),
        .init(
            380, "products, trials, keys, notifications at Apple",
            elsewhere: "They are set up in App Store Connect and at the server."),
        .init(399, "appAccountToken", "Account.appAccountToken", by: "AnsweredStatusTests.delivers"),
        .init(
            404, "the login's id as token", "Account.appAccountToken", by: "AnsweredStatusTests.delivers",
            but: "The server derives it: ids that are no UUID have one too."),
        .init(410, "403", "ClientError.otherAccount", by: "AnsweredStatusTests.refusals"),
        .init(410, "交易不属于当前用户", "TextKey.errorOtherAccount", by: "ClientMessageTests.messages"),
        .init(413, "verified against Apple's roots", elsewhere: "The server does."),
        .init(415, "notificationUUID", elsewhere: "The server's."),
        .init(
            426, "only products of the catalog", "ClientError.verificationFailed", by: "AnsweredStatusTests.refusals",
            but: "The server refuses it; the app neither finishes nor sends it again in this turn."),
        .init(
            428, "one trial for a customer", "IntroductoryOffer.eligible", by: "GoldenAnswerTests.products",
            but: "Apple decides; the catalog's answer states it beforehand."),
        .init(431, "times of the sandbox", elsewhere: "The client takes ends as they are stated."),
        .init(438, "tests in Xcode", elsewhere: "Xcode's own; the server has a setting for its signatures."),
        .init(442, "SKIP_JWS_VERIFICATION=true", elsewhere: "No such setting: the stand-in signs as Apple does."),
    ]
}
