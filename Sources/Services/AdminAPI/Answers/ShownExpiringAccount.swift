import AccountStore
import Staff

/// An account that loses its access soon, as a member of the staff sees it.
struct ShownExpiringAccount: Sendable {
    /// The account.
    let account: ExpiringAccount
    /// Its id, as it is shown.
    let name: String?
    /// Whether what gives it access is the member's to see: a purchase of their apps, or anything for staff of all apps.
    let isPurchaseShown: Bool
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ account: ExpiringAccount, _ opening: Opening, to scope: StaffScope) {
        self.account = account
        name = opening.text(account.account)
        isPurchaseShown = scope.sees(app: account.bundleID)
        openedTexts = opening.isOpen && account.account != nil ? 1 : 0
    }
}
