package import AccountStore
import Accounts
package import Base
package import OrderStore
package import PurchaseStore
package import Subscriptions

/// What a text is, of all that is stored, with the command that shows it.
package struct FoundID: Sendable, Hashable {
    /// `account`, `token`, `purchase`, `transaction`, `order`, `order_number`, `notification` or `dead_letter`.
    package var kind: String
    /// A sentence about it.
    package var text: String
    /// The command.
    package var command: String
    /// The purchase that it belongs to.
    package var purchase: PurchaseKey?
    /// The account that it is.
    package var token: UniqueIdentifier?

    /// An account, by its id or by its token.
    package init(_ account: FoundAccount, byToken: Bool) {
        kind = byToken ? "token" : "account"
        token = account.token
        let name = CommandAnswer.shown(account.account, nil)
        let what = byToken ? "the appAccountToken of account \(name ?? "without a known id")" : "an account's id"
        let known =
            account.isCustomer
            ? "known since \(account.knownAt.minute)"
            : "handed to the app \(account.knownAt.minute), and no more is known"
        let standing = account.erasedAt.map { "erased \($0.minute)" } ?? known
        text = "\(what), \(standing)"
        command = "storehook account show \(AccountIdentity(token: account.token).name)"
    }

    /// A purchase, by a number of its.
    package init(_ found: FoundPurchase) {
        purchase = found.key
        kind = found.number.rawValue
        let place = "\(found.key.bundleID), \(found.key.environment)"
        let bought = [found.productID, found.purchasedAt?.minute].compactMap(\.self).joined(separator: " ")
        let what = bought.isEmpty ? "" : ": \(bought)"
        switch found.number {
        case .purchase: text = "a purchase's original transaction in \(place)"
        case .transaction:
            text = "a transaction of purchase \(found.key.originalTransactionID) in \(place)\(what)"
        case .order:
            let transaction = found.transactionID.map { ", transaction \($0)" } ?? ""
            text =
                "an order line (webOrderLineItemId) of purchase \(found.key.originalTransactionID) in \(place)\(transaction)\(what)"
        case .token:
            text =
                "the appAccountToken of an account that purchase \(found.key.originalTransactionID) in \(place) belongs or belonged to"
        }
        let id = found.key.originalTransactionID
        command = "storehook subscription \(Self.isPlain(id) ? id : "'\(id.replacing("'", with: "'\\''"))'")"
    }

    /// An order, by its number.
    package init(_ shown: ShownOrder, numbered number: String) {
        kind = "order_number"
        switch shown {
        case .order(let detail):
            let order = detail.order
            let product = order.productID.map { ": \($0)" } ?? ""
            text = "an order in \(order.bundleID), \(order.environment)\(product), \(order.status.rawValue)"
        case .shared(let order):
            text = "an order in \(order.bundleID), \(order.environment), that is shared: another customer paid for it"
        }
        command = "storehook orders show \(number)"
    }

    /// A notification.
    package init(_ notification: RecordedNotification) {
        kind = "notification"
        let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        text = "a notification of Apple's: \(type)"
        command = "storehook notification \(UniqueIdentifier(notification.uuid))"
    }

    /// A dead letter about a notification.
    package init(deadLetter id: Int64, reason: String) {
        kind = "dead_letter"
        text = "the notification of dead letter \(id): \(reason)"
        command = "storehook dead-letters show \(id)"
    }

    private static func isPlain(_ id: String) -> Bool { id.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil }
}

extension CommandAnswer {
    /// What a text is.
    package init(_ found: [FoundID]) { self.init(found, Self.finding, ifEmpty: "nothing is found") }

    private static let finding = CommandShape<FoundID>([
        .init("kind", column: "KIND", \.kind), .init("text", column: "WHAT IT IS", \.text),
        .init("environment", \.purchase?.environment), .init("bundle_id", \.purchase?.bundleID),
        .init("original_transaction_id", \.purchase?.originalTransactionID), .init("app_account_token", \.token),
        .init("command", column: "SHOWN BY", \.command),
    ])
}
