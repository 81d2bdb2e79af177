import AppStorePayloads
package import Base
import Postgres
package import Subscriptions

/// What a search of the staff led to: appAccountTokens and ids of Apple's, and nothing of what was typed.
package struct KeptSearch: Sendable, Hashable {
    /// What the text is. The raw values are stored and sent, so they never change.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An account's id in the app's own tokens.
        case account
        /// A name or a mail address.
        case person
        /// An appAccountToken.
        case token
        /// An original transaction.
        case purchase
        /// A transaction.
        case transaction
        /// An order line (webOrderLineItemId).
        case orderLine = "order_line"
        /// An order's number.
        case order
    }

    /// A thing that the text leads to.
    package struct Hit: Sendable, Hashable {
        /// What the text is.
        package var kind: Kind
        /// The account.
        package var token: UniqueIdentifier?
        /// The purchase.
        package var purchase: PurchaseKey?
        /// The transaction, where the text names one.
        package var transactionID: String?
        /// Its product, by Apple's id.
        package var productID: String?
        /// When it was bought.
        package var purchasedAt: Timestamp?
        /// The order, by its number.
        package var order: String?

        /// A hit.
        package init(
            _ kind: Kind, token: UniqueIdentifier? = nil, purchase: PurchaseKey? = nil, transactionID: String? = nil,
            productID: String? = nil, purchasedAt: Timestamp? = nil, order: String? = nil
        ) {
            self.kind = kind
            self.token = token
            self.purchase = purchase
            self.transactionID = transactionID
            self.productID = productID
            self.purchasedAt = purchasedAt
            self.order = order
        }
    }

    /// Where it was looked.
    package var environment: String
    /// What is there; where nothing is, what is elsewhere.
    package var hits: [Hit]
    /// The environments in which there is something else, or all of it.
    package var others: [String]
    /// Whether all hits are in other environments.
    package var isElsewhere: Bool
    /// Whether there is more than is listed.
    package var isMore: Bool
    /// Whether the text looks like the order number that Apple mails to customers, which no record has.
    package var isOrderOfApple: Bool
    /// Whether accounts were looked for by their ids: not before the rule of ids stands.
    package var knowsIDs: Bool

    /// Nothing found.
    package init(in environment: String) {
        self.environment = environment
        (hits, others) = ([], [])
        (isElsewhere, isMore, isOrderOfApple, knowsIDs) = (false, false, false, true)
    }
}

// MARK: As it is stored

extension KeptSearch {
    var json: PostgresJSON {
        let members: [JSONValue.Member] = [
            .init("environment", .string(environment)), .init("hits", .array(hits.map(\.json))),
            .init("others", .array(others.map { .string($0) })), .init("isElsewhere", .bool(isElsewhere)),
            .init("isMore", .bool(isMore)), .init("isOrderOfApple", .bool(isOrderOfApple)),
            .init("knowsIDs", .bool(knowsIDs)),
        ]
        return PostgresJSON(JSONValue.object(members).bytes)
    }

    /// Nil for what another release wrote in another way.
    init?(_ json: PostgresJSON) {
        guard let object = try? JSONDocument(json.bytes).object, let environment = object.string("environment") else {
            return nil
        }
        self.init(in: environment)
        hits = (object["hits"]?.elements ?? []).compactMap { $0.object.flatMap { Hit($0) } }
        others = object.strings("others") ?? []
        isElsewhere = object.bool("isElsewhere") ?? false
        isMore = object.bool("isMore") ?? false
        isOrderOfApple = object.bool("isOrderOfApple") ?? false
        knowsIDs = object.bool("knowsIDs") ?? true
    }
}

extension KeptSearch.Hit {
    fileprivate var json: JSONValue {
        .object([
            .init("kind", .string(kind.rawValue)), .init("token", .text(token?.description)),
            .init("environment", .text(purchase?.environment)), .init("app", .text(purchase?.bundleID)),
            .init("original", .text(purchase?.originalTransactionID)), .init("transaction", .text(transactionID)),
            .init("product", .text(productID)),
            .init("at", purchasedAt.map { .integer($0.millisecondsSince1970) } ?? .null), .init("order", .text(order)),
        ])
    }

    fileprivate init?(_ object: JSONObject) {
        guard let kind = object.string("kind").flatMap({ KeptSearch.Kind(rawValue: $0) }) else { return nil }
        self.init(
            kind, token: object.string("token").flatMap { UniqueIdentifier($0) },
            transactionID: object.string("transaction"), productID: object.string("product"),
            purchasedAt: object.integer("at").map { Timestamp(millisecondsSince1970: $0) },
            order: object.string("order"))
        if let environment = object.string("environment"), let app = object.string("app"),
            let original = object.string("original")
        {
            purchase = PurchaseKey(environment: environment, bundleID: app, originalTransactionID: original)
        }
    }
}
