import AccountStore
import Accounts
import AppleRecords
import Base
import EventStore
import OrderStore
import Subscriptions

extension AdminShapes {
    // MARK: Searches

    /// What a search led to.
    static let search = Shape<ShownSearch, Void>(
        "Search",
        [
            .init("id", "For GET /admin/search/{id}: it says nothing of what was looked for.") { $0.id },
            .init("environment", Environment.schema, "Where it was looked.") { .string($0.search.environment) },
            .list("hits", hit, about: "What is there, 100 at most; where nothing is, what is elsewhere.") { $0.hits },
            .init("isElsewhere", "Whether all hits are in other environments.") { $0.search.isElsewhere },
            .init("otherEnvironments", "Those in which there is something else, or all of it.") { $0.search.others },
            .init("isMore", "Whether there is more.") { $0.search.isMore },
            .init(
                "isOrderOfApple",
                "Whether the text looks like the order number that Apple mails to customers. No record has it: storehook apple lookup asks Apple."
            ) { $0.search.isOrderOfApple },
            .init("knowsIDs", "Whether accounts were looked for by their ids: not before the rule of ids stands.") {
                $0.search.knowsIDs
            },
        ])

    private static let hit = Shape<ShownHit, Void>(
        "SearchHit",
        [
            .init("kind", hitKinds, "What the text is.") { .string($0.hit.kind.rawValue) },
            .init("customer", "For GET /admin/customers/{account}; null where no account is known.") { $0.customer },
            .init("account", "Its id in the app's own tokens, shortened unless it is opened, like name and mail.") {
                $0.opening.text($0.account?.account)
            },
            .init("name") { $0.opening.text($0.profile?.name) }, .init("mail") { $0.opening.text($0.profile?.mail) },
            .init("knownAt") { $0.account?.knownAt }, .init("erasedAt") { $0.account?.erasedAt },
            .list("places", place, about: "Where the account has purchases of the member's apps.") { $0.places },
            .init("environment", .nullable(Environment.schema), "Of the purchase, like what follows.") {
                .text($0.hit.purchase?.environment)
            },
            .init("bundleId") { $0.hit.purchase?.bundleID },
            .init("originalTransactionId") { $0.hit.purchase?.originalTransactionID },
            .init("transactionId") { $0.hit.transactionID }, .init("productId") { $0.hit.productID },
            .init("purchasedAt") { $0.hit.purchasedAt }, .init("order", "By its number.") { $0.hit.order },
        ])

    private static let hitKinds = ValueSchema.choice(KeptSearch.Kind.allCases.map(\.rawValue))

    private static let place = Shape<AccountPlace, Void>(
        "AccountPlace",
        [
            .init("environment", Environment.schema) { .string($0.environment) }, .init("bundleId") { $0.bundleID },
        ])

    // MARK: Customers

    /// A customer.
    static let customer = Shape<ShownCustomer, Void>(
        "Customer",
        [
            .init("customer", "What paths take: token: and the appAccountToken.") { $0.reference },
            .init("account", "Its id in the app's own tokens, shortened unless it is opened, like name and mail.") {
                $0.opening.text($0.account.account)
            },
            .init("name") { $0.opening.text($0.profile?.name) }, .init("mail") { $0.opening.text($0.profile?.mail) },
            .init("appAccountToken") { $0.account.token },
            .init("isCustomer", "Whether more is known than that the app asked for the token.") {
                $0.account.isCustomer
            },
            .init("since", "When it was heard of first.") { $0.account.knownAt },
            .init("erasedAt") { $0.account.erasedAt },
            .init("apps", "Of its purchases in all environments; those of the member.") { $0.apps },
            .init("environments", "Likewise.") { $0.environments },
            .init("environment", Environment.schema, "The one that follows.") { .string($0.environment) },
            .nested("lifetime", lifetime) { $0.lifetime },
            .nullable("standing", account, about: "What it is then, and why; null where it is unknown there.") {
                $0.standing
            },
            .list(
                "phases", phaseOfCustomer,
                about:
                    "What it is one after the other, by all that is known now: the latest 500 that have a beginning. Each begins at an instant for at."
            ) { $0.phases },
            .list("entitlements", heldTier, about: "The tiers that it has at the instant, in rising order.") {
                $0.tiers
            },
            .list("features", feature, about: "Those of the catalog, as its tier gives them.") { $0.features },
            .nullable(
                "consent", consent,
                about:
                    "What it said last about its consent to send Apple how it used what it bought; for staff of all apps of the catalog."
            ) { $0.consent },
            .list("orders", listedOrder, about: "Those of the latest days, as they are now.") { $0.orders },
            .init("nextOrders", "Where GET /admin/orders?account= goes on.") { $0.nextOrders?.description },
            .list("events", customerEvent, about: "The latest 25, as they are now, the latest first.") { $0.events },
        ])

    private static let lifetime = Shape<LifetimeTotals, Void>(
        "CustomerLifetime",
        [
            .list("totals", lifetimeTotal, about: "By currency, in thousandths of it.") { $0.totals },
            .init("orders", "How many.") { $0.orders },
            .init("unpriced", "How many of their transactions have no signed price.") { $0.unpriced },
            .init("isMore", "Whether there are more orders than are added up: 10,000 are.") { $0.isMore },
        ])

    private static let lifetimeTotal = Shape<ListedOrder.Total, Void>(
        "LifetimeTotal",
        [
            .init("currency") { $0.currency }, .init("paid") { $0.paid }, .init("refunded") { $0.refunded },
            .init("net", "What was paid less what went back.") { $0.paid - $0.refunded },
        ])

    private static let feature = Shape<ShownFeature, Void>(
        "CustomerFeature",
        [
            .init("feature") { $0.id }, .init("isOpen", "Whether the tier opens it at all.") { $0.limit.isOpen },
            .init("limit", "How much there is in a period; null without a limit.") { feature -> Int64? in
                if case .count(let count, _) = feature.limit { count } else { nil }
            },
            .init("per", "The period.") { feature -> String? in
                if case .count(_, let period) = feature.limit { period.rawValue } else { nil }
            },
            .init("used", "Now; null where it is not counted, and of a past instant.") { $0.used },
        ])

    private static let consent = Shape<RecordedConsent, Void>(
        "CustomerConsent",
        [
            .init("granted") { $0.granted }, .init("recordedAt") { $0.recordedAt },
            .init("recordedBy") { $0.recordedBy },
        ])

    private static let phaseOfCustomer = Shape<AccountPhase, Void>(
        "CustomerPhase",
        [
            .init("startsAt") { $0.startsAt }, .init("status") { $0.status }, .init("tier") { $0.tier },
            .init("source") { $0.source },
        ])

    private static let heldTier = Shape<HeldTier, Void>(
        "HeldTier",
        [
            .init("tier") { $0.tier }, .init("source") { $0.source },
            .init("expiresAt", "When it ends by what is known.") { $0.expiresAt },
        ])

    static let customerEvent = Shape<ShownCustomerEvent, Void>(
        "CustomerEvent",
        [
            .init("id") { $0.event.name }, .init("cursor", "Its place among all events.") { $0.event.position },
            .init("kind") { $0.event.kind }, .init("at", "When what it reports came to be.") { $0.event.at },
            .init("bundleId") { $0.event.bundleID },
            .init("originalTransactionId") { $0.event.originalTransactionID },
            .init("sequence", "Its number among the account's events.") { $0.event.sequence },
            .list("deliveries", customerDelivery) { $0.deliveries },
        ])

    private static let customerDelivery = Shape<DeliveryRecord, Void>(
        "CustomerDelivery",
        [
            .init("id") { $0.id }, .init("endpoint", "Its number.") { $0.endpointID },
            .init("outcome", deliveryOutcomes) { .string($0.outcome.rawValue) }, .init("attempts") { $0.attempts },
            .init("status", "The last answer's.") { $0.status }, .init("reason") { $0.reason },
            .init("endedAt") { $0.endedAt }, .init("nextAttemptAt") { $0.dueAt }, .init("resentAt") { $0.resentAt },
        ])

    private static let deliveryOutcomes = ValueSchema.choice(DeliveryRecord.Outcome.allCases.map(\.rawValue))

    // MARK: Filters

    /// A filter that the staff shares.
    static let savedFilter = Shape<SavedFilter, Void>(
        "SavedFilter",
        [
            .init("id", "Its number.") { $0.id },
            .init("page", FilterPage.schema, "The list, as its path names it.") { .string($0.page) },
            .init("name") { $0.name },
            .init("qualifiers", .map(.string()), "As the list's path takes them in its query.") { filter in
                .object(filter.qualifiers.map { .init($0.name, .string($0.value)) })
            },
            .init("madeBy", "staff: and a member's number.") { $0.madeBy }, .init("madeAt") { $0.madeAt },
        ])

    /// All filters.
    static let savedFilters = ValueSchema.named(
        "SavedFilterList", .object([.required("filters", .array(savedFilter.schema))]))
}
