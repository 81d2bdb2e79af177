package import Base
import Subscriptions

/// What each surface calls the members of an ``AccountView``.
package enum AccountShapes {
    /// What may have been bought.
    static let purchaseTypes = ValueSchema.named(
        "PurchaseType", .choice(PurchaseType.allCases.map(\.rawValue) + ["none"]))

    /// How long what was bought lasts each time.
    static let periods = ValueSchema.named(
        "SubscriptionPeriod", .choice(Catalog.Period.allCases.map(\.rawValue) + ["none"]))

    /// One of ``periods``.
    static func json(of period: Catalog.Period?) -> JSONValue { .string(period?.rawValue ?? "none") }

    private static let provenUntil = AccountShape<AccountView>.Field(
        "provenUntil",
        "Up to when this answer holds all that Apple has posted in its environment, by Apple's own history, but for dead letters; null without proof. What Apple signed later may be missing."
    ) { $0.provenUntil }

    // MARK: The account API

    /// `GET /v1/account`, and the member `account` of other answers.
    package static let account = AccountShape<AccountView>(
        "Account",
        [
            .init("id", "What the app calls the account.") { $0.account ?? "" },
            .init(
                "appAccountToken", "To be handed to StoreKit with each purchase, so that Apple signs whose it is."
            ) { $0.token },
            .init("environment", Environment.schema, "The environment in question.") { .string($0.environment) },
            .init("tier", "What the account has, by the catalog.") { $0.current.tier },
            .read("tierName") { $1.name(ofTier: $0.current.tier) },
            .init("status") { $0.current.status },
            .read("displayStatus", "The status for people, in the language asked for.") {
                $0.current.status.display[$1.languages]
            },
            .init("source", "What gives the account its tier.") { $0.current.source },
            .init("hasAccess", "Whether it has more than the first tier.") { $0.current.access },
            .init("expiresAt", "When all access ends, or ended; null where it never does.") { $0.current.expiresAt },
            .init("version", "Grows with each change of the account.") { $0.version },
            provenUntil,
        ])

    /// `GET /v1/subscriptions/status`, and what refreshing answers.
    package static let status = AccountShape<AccountView>(
        "SubscriptionStatus",
        [
            .init("hasActiveSubscription", "Whether the account has access, whatever gives it.") { $0.current.access },
            .first(
                "subscription", of: "subscriptions", SubscriptionShapes.api,
                about: "The purchase that gives the status, else one with access, else the latest."),
            .list("subscriptions", SubscriptionShapes.api, about: "All purchases of the account.") { $0.purchases },
            .init("tier") { $0.current.tier },
            .read("tierName") { $1.name(ofTier: $0.current.tier) },
            .init("planType", "The tier in capital letters.") { $0.current.tier.uppercased() },
            .init("status") { $0.current.status },
            .read("displayStatus") { $0.current.status.display[$1.languages] },
            .init("source") { $0.current.source },
            .init("isActive") { $0.current.access },
            .init("expiresAt", "When all access ends without a gap, or ended; null where it never does.") {
                $0.current.expiresAt
            },
            .init("accessUntil", "With access: when all of it ends; null where it never does.") { $0.accessUntil },
            .init("tierUntil", "Until when the tier is this one; null without access, and where it stays.") {
                $0.current.tierUntil
            },
            .init("periodEndsAt", "When the running period of what gives the tier ends.") { $0.current.periodEndsAt },
            .init("willRenew", "Whether anything that gives access renews itself.") { $0.current.willRenew },
            .read("expiringSoon", "Whether all access ends soon, by the catalog, and does not go on by itself.") {
                $0.isExpiringSoon(within: $1.catalog.warningDays)
            },
            .init("daysLeft", "Until all access ends, each day that has begun counted.") { $0.daysLeft },
            .init("cancelledAt", "Of the subscription; it stays when that has ended.") { $0.subscription?.cancelledAt },
            .init("trialStartedAt", "The app's own trial, else Apple's.") {
                $0.trial?.startedAt ?? $0.subscription?.trialStartedAt
            },
            .init("trialEndsAt") { $0.trial?.endsAt ?? $0.subscription?.trialEndsAt },
            .init("purchaseType", purchaseTypes) { $0.subscription?.purchaseType.json ?? "none" },
            .read("period", periods, "How long the subscription lasts each time; none where there is none.") {
                json(of: $1.period(of: $0.subscription))
            },
            .init("purchaseDate") { $0.subscription?.purchaseDate },
            .init("transactionId", "Of the subscription.") { $0.subscription?.transactionID },
            .init("createdAt", "Of the subscription, else when the app's own trial began.") { $0.createdAt },
            .init("updatedAt", "When anything of the account changed last, by evidence or by time.") { $0.updatedAt },
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("version") { $0.version },
            provenUntil,
        ])

    /// `GET /v1/entitlements`: what gives access, until when, and what that opens.
    package static let entitlements = AccountShape<AccountView>(
        "Entitlements",
        [
            .init("tier", "The highest tier that the account has.") { $0.current.tier },
            .read("tiers", .array(tier.schema), "All tiers that it has, in rising order.") { view, reader in
                .array(view.tiers(by: reader.catalog).map { tier.value(of: $0, for: reader) })
            },
            .list("products", SubscriptionShapes.entitlement, about: "The purchases that give access.") {
                $0.purchases.filter(\.givesAccess)
            },
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("version") { $0.version },
        ])

    /// A tier that the account has: the one it is in, and all below it.
    private static let tier = AccountShape<HeldTier>(
        "TierEntitlement",
        [
            .init("tier") { $0.tier },
            .read("name") { $1.name(ofTier: $0.tier) },
            .init("source") { $0.source },
            .init("expiresAt", "When it ends by what is known.") { $0.expiresAt },
        ])

    /// `GET /v1/subscriptions/trial/status`, and `POST /v1/subscriptions/trial/start`: the app's own trial.
    package static let trial = AccountShape<AccountView>(
        "TrialStatus",
        [
            .init("started", "Whether the account has ever started it.") { $0.trial != nil },
            .init("isActive", "Whether it is the trial that gives access now.") {
                $0.current.source == .trial && $0.current.access
            },
            .init("tier") { $0.trial?.tier },
            .init("trialStartedAt") { $0.trial?.startedAt },
            .init("trialEndsAt") { $0.trial?.endsAt },
            .init("daysLeft", "Each day that has begun counted; 0 when it is over.") {
                $0.trial?.endsAt.daysLeft(at: $0.instant)
            },
            .init("convertedAt", "When a purchase took its place.") { $0.trialConvertedAt },
            .init("status", "Of the account.") { $0.current.status },
        ])

    // MARK: The commands

    /// `storehook account show`
    package static let command = CommandShape<AccountView>([
        .init("account") { $0.account }, .init("app_account_token") { $0.token },
        .init("environment") { $0.environment },
        .init("at") { $0.instant }, .init("tier") { $0.current.tier }, .init("status") { $0.current.status },
        .init("access") { $0.current.access }, .init("source") { $0.current.source },
        .init("product_id") { $0.current.productID },
        .init("original_transaction_id") { $0.current.purchase?.originalTransactionID },
        .init("act") { $0.current.act },
        .init("expires_at") { $0.current.expiresAt }, .init("access_until") { $0.accessUntil },
        .init("tier_until") { $0.current.tierUntil }, .init("period_ends_at") { $0.current.periodEndsAt },
        .init("will_renew") { $0.current.willRenew },
        .init("since") { $0.current.startsAt == .distantPast ? nil : $0.current.startsAt },
        .init("until") { $0.state.end(ofPhaseAt: $0.instant) }, .init("version") { $0.version },
        .init("catalog") { $0.catalogVersion }, .init("erased_at") { $0.erasedAt }, .init("known_at") { $0.knownAt },
        .list("purchases", SubscriptionShapes.ofAccount) { view in
            view.purchases.map { ($0, view.token, view.worth(of: $0)) }
        },
        .list("acts", act) { $0.acts }, .nullable("trial", startedTrial) { $0.trial },
    ])

    private static let startedTrial = CommandShape<StartedTrial>([
        .init("tier") { $0.tier }, .init("started_at") { $0.startedAt }, .init("ends_at") { $0.endsAt },
    ])

    /// What staff did; a line each in a table.
    package static let act = CommandShape<AccountView.RecordedAct>([
        .init("at", column: "AT") { $0.act.at }, .init("id") { $0.act.id }, .init("kind") { $0.act.kind.name },
        .column("ACT") { "\($0.act.kind.name) #\($0.act.id)" },
        .column("WHAT") { recorded in
            let kind = recorded.act.kind
            let what = [kind.tier, kind.days.map { "\($0) days" }].compactMap(\.self).joined(separator: ", ")
            return what.isEmpty ? nil : what
        },
        .init("tier") { $0.act.kind.tier }, .init("days") { $0.act.kind.days }, .init("by", column: "BY") { $0.person },
        .init("why", column: "WHY") { $0.why },
    ])
}

extension AccountStatus: NamedWords {}
extension PurchaseStatus: NamedWords {}
extension AccountSource: NamedWords {}
extension PurchaseBinding.Kind: JSONConvertible {}
