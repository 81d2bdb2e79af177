import AccountStore
import Accounts
import AuditStore
import Base
import Operations
import Postgres
import Subscriptions

/// What the admin API calls the members of its answers. Personal texts come shortened or in full: what is shown is decided before.
enum AdminShapes {
    /// A row of the audit.
    static let auditRow = Shape<ShownAuditRow, Void>(
        "AuditRow",
        [
            .init("place", "From 1 on, without a gap.") { $0.row.place }, .init("at") { Timestamp($0.row.at) },
            .init("actor", "staff: and a member's number, or cli: and a name that is not proven.") { $0.row.actor },
            .init("proven") { $0.row.isProven },
            .init("role", "The actor's at the time.") { $0.row.role }, .init("act") { $0.row.act },
            .init("environment") { $0.row.environment }, .init("app") { $0.row.app },
            .init("subjectKind") { $0.row.subjectKind }, .init("subject", "What it was done to.") { $0.row.subject },
            .init("account") { $0.text("account") }, .init("name") { $0.text("name") },
            .init("mail") { $0.text("mail") }, .init("why") { $0.text("why") }, .init("note") { $0.text("note") },
            .init("textErasedAt", "When an erasure took the personal texts.") { $0.textErasedAt },
            .init("before", json, "What the subject was.") { written($0.row.before) },
            .init("after", json, "What it is since.") { written($0.row.after) },
            .init("record", "The row that holds the act itself.") { $0.row.record },
            .init("login", "The database user of the act.") { $0.row.login },
            .init("hash", "Of this row and, by the hash that it holds, of all before it.") {
                AuditMark.hex($0.row.hash)
            },
        ])

    private static let json = ValueSchema.nullable(.object([]))

    private static func written(_ text: String?) -> JSONValue { .written(text.map { Array($0.utf8) }) }

    /// An account in a list.
    static let listedAccount = Shape<ShownListedAccount, Void>(
        "ListedAccount",
        [
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") { $0.name },
            .init("appAccountToken") { $0.account.token },
            .init("environment", Environment.schema) { .string($0.account.environment) },
            .init("tier") { $0.account.tier }, .init("status") { $0.account.status },
            .init("hasAccess") { $0.account.status.access }, .init("source") { $0.account.source },
            .init("productId") { $0.isPurchaseShown ? $0.account.productID : nil },
            .init("bundleId") { $0.isPurchaseShown ? $0.account.bundleID : nil },
            .init("originalTransactionId") { $0.isPurchaseShown ? $0.account.originalTransactionID : nil },
            .init("act", "The act of staff that shows in it.") { $0.isPurchaseShown ? $0.account.act : nil },
            .init("expiresAt") { $0.account.expiresAt }, .init("willRenew") { $0.account.willRenew },
            .init("inTrial") { $0.account.inTrial }, .init("since") { $0.account.since },
            .init("until") { $0.account.until }, .init("erasedAt") { $0.account.erasedAt },
        ])

    /// An account by itself, and why it is so.
    static let account = Shape<ShownAccount, Void>(
        "AdminAccount",
        [
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") { $0.name },
            .init("appAccountToken") { $0.view.token },
            .init("environment", Environment.schema) { .string($0.view.environment) }, .init("at") { $0.view.instant },
            .init("tier") { $0.view.current.tier }, .init("status") { $0.view.current.status },
            .init("hasAccess") { $0.view.current.access }, .init("source") { $0.view.current.source },
            .init("productId") { $0.isPurchaseShown ? $0.view.current.productID : nil },
            .init("originalTransactionId") {
                $0.isPurchaseShown ? $0.view.current.purchase?.originalTransactionID : nil
            },
            .init("act") { $0.showsActs ? $0.view.current.act : nil },
            .init("expiresAt") { $0.view.current.expiresAt }, .init("accessUntil") { $0.view.accessUntil },
            .init("tierUntil") { $0.view.current.tierUntil }, .init("periodEndsAt") { $0.view.current.periodEndsAt },
            .init("willRenew") { $0.view.current.willRenew },
            .init("since") { $0.view.current.startsAt == .distantPast ? nil : $0.view.current.startsAt },
            .init("until") { $0.view.state.end(ofPhaseAt: $0.view.instant) }, .init("version") { $0.view.version },
            .init("catalog", "The number of the catalog that it follows from.") { $0.view.catalogVersion },
            .init("erasedAt") { $0.view.erasedAt },
            .list("purchases", purchase, about: "Those of the member's apps.") { shown in
                shown.purchases.map { ($0, shown.view.token, shown.view.worth(of: $0)) }
            },
            .list("acts", act, about: "What staff did; for staff of all apps of the catalog.") { shown in
                shown.acts.map { ($0, shown.opening) }
            },
            .nullable("trial", trial) { $0.view.trial },
        ])

    private static let purchase = Shape<
        (purchase: SubscriptionView, account: UniqueIdentifier, worth: PurchaseWorth), Void
    >(
        "AdminPurchase",
        [
            .init("originalTransactionId") { $0.purchase.key.originalTransactionID },
            .init("bundleId") { $0.purchase.key.bundleID }, .init("productId") { $0.purchase.productID },
            .init("status", "not_bought before it began.") { $0.purchase.status?.rawValue ?? "not_bought" },
            .init("accessUntil") { $0.purchase.accessUntil },
            .init("owner", "The account's appAccountToken.") { $0.purchase.owner },
            .init("isOwned") { $0.purchase.owner == $0.account }, .init("givesTier") { $0.worth.tier },
            .init("givesNothingBecause") { $0.worth.why?.rawValue },
            .list("bindings", binding, about: "How it came to its owners.") { $0.purchase.bindings },
        ])

    private static let binding = Shape<PurchaseBinding, Void>(
        "PurchaseBinding",
        [.init("at") { $0.at }, .init("kind") { $0.kind.rawValue }, .init("account") { $0.account }])

    private static let act = Shape<(recorded: AccountView.RecordedAct, opening: Opening), Void>(
        "RecordedAct",
        [
            .init("id") { $0.recorded.act.id }, .init("at") { $0.recorded.act.at },
            .init("kind") { $0.recorded.act.kind.name }, .init("tier") { $0.recorded.act.kind.tier },
            .init("days") { $0.recorded.act.kind.days }, .init("by") { $0.recorded.person },
            .init("why") { $0.opening.text($0.recorded.why) },
        ])

    private static let trial = Shape<StartedTrial, Void>(
        "StartedTrial",
        [.init("tier") { $0.tier }, .init("startedAt") { $0.startedAt }, .init("endsAt") { $0.endsAt }])

    /// What an act for an account has come to.
    static let done = Shape<DoneAct, Void>(
        "DoneAct",
        [
            .init("account", "Shortened.") { $0.name }, .init("appAccountToken") { $0.token },
            .init("act", "Its number; null of a dry run.") { $0.isDone ? $0.act.id : nil },
            .init("kind") { $0.act.kind.name }, .init("at") { $0.act.at },
            .nested("before", phase) { $0.before }, .nested("after", phase) { $0.after },
        ])

    /// What an account is for a while.
    static let phase = Shape<AccountPhase, Void>(
        "AccountPhase",
        [.init("tier") { $0.tier }, .init("status") { $0.status }, .init("expiresAt") { $0.expiresAt }])
}
