import AccountStore
import Staff

/// An account of a list, as a member of the staff sees it.
struct ShownListedAccount: Sendable {
    /// The account.
    let account: ListedAccount
    /// Its id, as it is shown.
    let name: String?
    /// Whether what gives it its status is the member's to see: a purchase of their apps, or anything for staff of all apps.
    let isPurchaseShown: Bool
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ account: ListedAccount, _ opening: Opening, to scope: StaffScope) {
        self.account = account
        name = opening.text(account.account)
        isPurchaseShown = scope.sees(app: account.bundleID)
        openedTexts = opening.isOpen && account.account != nil ? 1 : 0
    }
}
