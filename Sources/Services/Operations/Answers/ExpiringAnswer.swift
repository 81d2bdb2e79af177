package import AccountStore
import AppStorePayloads
import Base

/// The accounts that lose their access soon, as people and scripts see them.
package struct ExpiringAnswer: Encodable, Sendable {
    private struct Entry: Encodable, Sendable {
        var account: String?
        var token: String
        var tier: String
        var status: String
        var source: String
        var productId: String?
        var accessUntil: String
        var daysLeft: Int
    }

    private let days: Int
    /// Whether there are more than are listed.
    private let more: Bool
    private let accounts: [Entry]

    /// An answer about the first of these.
    /// - Parameter limit: how many of them are listed.
    package init(_ found: (days: Int, accounts: [ExpiringAccount]), limit: Int) {
        days = found.days
        more = found.accounts.count > limit
        accounts = found.accounts.prefix(limit).map {
            Entry(
                account: $0.account, token: "\($0.token)", tier: $0.tier, status: $0.status, source: $0.source,
                productId: $0.productID, accessUntil: "\($0.accessUntil)", daysLeft: $0.daysLeft)
        }
    }

    /// For people.
    package var text: String {
        let span = days == 1 ? "a day" : "\(days) days"
        guard !accounts.isEmpty else { return "nobody loses access within \(span)" }
        var table = Table(["ACCOUNT", "TIER", "STATUS", "BY", "PRODUCT", "ACCESS UNTIL", "DAYS"], numeric: [6])
        for entry in accounts {
            table.add([
                entry.account ?? entry.token, entry.tier, entry.status, entry.source, entry.productId ?? "-",
                entry.accessUntil, "\(entry.daysLeft)",
            ])
        }
        return table.text + (more ? "\n\nand more within \(span); see --limit" : "")
    }
}
