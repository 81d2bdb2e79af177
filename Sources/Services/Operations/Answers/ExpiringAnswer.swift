package import AccountStore
import Accounts
package import Base

extension CommandAnswer {
    /// The first of the accounts that lose their access soon.
    package init(_ found: (days: Int, accounts: ListPage<ExpiringAccount>)) {
        let accounts = found.accounts.elements
        let hasMore = found.accounts.next != nil
        let span = found.days == 1 ? "a day" : "\(found.days) days"
        self.init(
            [
                "days": found.days.json, "more": .bool(hasMore), "accounts": Self.expiring.values(of: accounts),
            ],
            text: accounts.isEmpty
                ? "no account loses access within \(span)"
                : Self.expiring.table(of: accounts) + (hasMore ? "\n\nand more within \(span); see --limit" : ""))
    }

    private static let expiring = CommandShape<ExpiringAccount>([
        .init("account", \.account), .init("token", \.token),
        .column("ACCOUNT") { $0.account ?? AccountIdentity(token: $0.token).name },
        .init("tier", column: "TIER", \.tier), .init("status", column: "STATUS", \.status),
        .init("source", column: "BY", \.source), .init("product_id", column: "PRODUCT", \.productID),
        .init("access_until", column: "ACCESS UNTIL", \.accessUntil), .init("days_left", column: "DAYS", \.daysLeft),
    ])
}
