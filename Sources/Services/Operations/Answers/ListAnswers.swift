package import AccountStore
import Accounts
package import Base
package import PurchaseStore
import Subscriptions

extension CommandAnswer {
    /// Accounts, a page or several.
    package init(_ page: ListPage<ListedAccount>) { self.init(page, "accounts", .listed) }

    /// Subscriptions, likewise.
    package init(_ page: ListPage<ListedSubscription>) { self.init(page, "subscriptions", .listed) }

    /// A page of a list.
    /// - Parameters:
    ///   - further: members beside the list.
    ///   - sentence: what people read below it; nil for nothing.
    init<Element>(
        _ page: ListPage<Element>, _ name: String, _ shape: CommandShape<Element>, _ further: [JSONValue.Member] = [],
        sentence: String? = nil
    ) {
        let nothing = page.next == nil ? "nothing is listed" : "nothing was found in the rows that were read"
        let table = page.elements.isEmpty ? nothing : shape.table(of: page.elements)
        var members = [JSONValue.Member(name, shape.values(of: page.elements))] + further
        if let next = page.next { members.append(.init("next", next.description.json)) }
        self.init(
            .object(members),
            text: table + (sentence.map { "\n\n\($0)" } ?? "")
                + (page.next.map { "\n\nthe list goes on: --after \($0)" } ?? ""),
            csv: shape.csv(of: page.elements))
    }

    /// What the app's own tokens call an account, on a terminal: it may be any text.
    static func shown(_ account: String?, _ token: UniqueIdentifier?) -> String? {
        guard let account else { return token.map { AccountIdentity(token: $0).name } }
        let moves: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        let isPlain = account.unicodeScalars.allSatisfy { !moves.contains($0.properties.generalCategory) }
        return isPlain ? account : YAMLFault.quoting(account)
    }
}

extension CommandShape<ListedAccount> {
    fileprivate static var listed: Self {
        .init([
            .init("account", \.account), .init("token", \.token),
            .column("ACCOUNT") { CommandAnswer.shown($0.account, $0.token) },
            .init("environment", column: "ENVIRONMENT", \.environment), .init("tier", column: "TIER", \.tier),
            .init("status", \.status.rawValue),
            .column("STATUS") { $0.status.rawValue + ($0.erasedAt == nil ? "" : ", erased") },
            .init("access", \.status.access), .init("source", \.source.rawValue),
            .column("BY") { $0.act.map { "act \($0)" } ?? $0.source.rawValue },
            .init("product_id", column: "PRODUCT", \.productID), .init("bundle_id", \.bundleID),
            .init("original_transaction_id", column: "PURCHASE", \.originalTransactionID), .init("act", \.act),
            .init("expires_at", column: "ACCESS ENDS", \.expiresAt),
            .init("will_renew", column: "RENEWS", \.willRenew), .init("in_trial", \.inTrial), .init("since", \.since),
            .init("until", \.until), .init("erased_at", \.erasedAt),
        ])
    }
}

extension CommandShape<ListedSubscription> {
    fileprivate static var listed: Self {
        SubscriptionShapes.command.after(
            [
                .column("PURCHASE") { $0.subscription.key.originalTransactionID },
                .column("APP") { $0.subscription.key.bundleID },
                .column("ENVIRONMENT") { $0.subscription.key.environment },
                .column("PRODUCT") { $0.subscription.productID },
                .column("STATUS") { $0.subscription.status?.rawValue },
                .column("ACCESS ENDS") { $0.subscription.accessUntil?.description },
                .column("RENEWS") { $0.subscription.willRenew.map { $0 ? "yes" : "no" } },
                .column("ACCOUNT") { CommandAnswer.shown($0.account, $0.owner) },
                .init("account", \.account), .init("owner", \.owner),
            ], \.subscription)
    }
}
