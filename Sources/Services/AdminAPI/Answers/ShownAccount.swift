import Accounts
import Staff
import Subscriptions

/// An account and why it is so, as a member of the staff sees it.
struct ShownAccount: Sendable {
    /// The account.
    let view: AccountView
    /// How its personal texts are shown.
    let opening: Opening
    /// Its id, as it is shown.
    let name: String?
    /// The purchases that are the member's to see.
    let purchases: [SubscriptionView]
    /// Whether acts are: they belong to all apps of the catalog.
    let showsActs: Bool
    /// Whether the purchase that gives the status is.
    let isPurchaseShown: Bool

    init(_ view: AccountView, _ opening: Opening, to scope: StaffScope, showingActs: Bool) {
        self.view = view
        self.opening = opening
        name = opening.text(view.account)
        purchases = view.purchases.filter { scope.sees(app: $0.key.bundleID) }
        showsActs = showingActs
        isPurchaseShown = scope.sees(app: view.current.purchase?.bundleID)
    }

    /// What staff did.
    var acts: [AccountView.RecordedAct] { showsActs ? view.acts : [] }

    /// How many personal texts are shown in full.
    var openedTexts: Int64 {
        guard opening.isOpen else { return 0 }
        return (view.account == nil ? 0 : 1) + Int64(acts.count { $0.why != nil })
    }
}
