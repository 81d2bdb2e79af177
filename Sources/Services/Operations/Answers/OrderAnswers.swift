import Accounts
package import Base
package import OrderStore
import Subscriptions

/// An order as it is shown, its account in full or shortened.
package struct OpenedOrder: Sendable {
    /// The order.
    package var order: ListedOrder
    /// Whether the account is shown in full.
    package var isOpen: Bool

    /// An order.
    package init(_ order: ListedOrder, isOpen: Bool) {
        self.order = order
        self.isOpen = isOpen
    }

    /// How many texts are shown in full.
    package var openedTexts: Int64 { isOpen && order.token != nil ? 1 : 0 }

    fileprivate var account: String? {
        guard let name = order.account ?? order.token?.description else { return nil }
        return isOpen ? order.account : PersonalText.shortened(name)
    }

    fileprivate var token: UniqueIdentifier? { isOpen ? order.token : nil }

    fileprivate var accountWords: String? {
        isOpen ? CommandAnswer.shown(order.account, order.token) : CommandAnswer.shown(account, nil)
    }

    fileprivate func money(_ amount: KeyPath<ListedOrder.Total, Int64>) -> String? {
        let amounts = order.totals.compactMap { Money($0[keyPath: amount], in: $0.currency) }
            .filter { $0.milliunits != 0 }.map(\.words)
        return amounts.isEmpty ? nil : amounts.joined(separator: ", ")
    }
}

extension CommandAnswer {
    /// Orders, a page.
    package init(_ page: ListPage<OpenedOrder>) { self.init(page, "orders", .listed) }

    /// Orders as lines of CSV.
    /// - Parameter isFirst: whether the line of names comes before them.
    package static func csv(of orders: [OpenedOrder], isFirst: Bool) -> String {
        let shape = CommandShape<OpenedOrder>.listed
        let text = shape.csv(of: orders)
        return isFirst ? text : String(text.dropFirst(shape.csv(of: []).count + 1))
    }

    /// An order with all that belongs to it.
    package init(_ shown: ShownOrder, isOpen: Bool) {
        switch shown {
        case .order(let detail):
            let order = OpenedOrder(detail.order, isOpen: isOpen)
            let shape = CommandShape<OpenedOrder>.listed.after([], \OrderWithLines.order).changed(
                named: "order", adding: [.list("lines", .line, \.lines)])
            self.init(
                OrderWithLines(order: order, lines: detail.lines), shape,
                text: Self.text(order) + "\n\n" + CommandShape<OrderDetail.Line>.line.table(of: detail.lines))
        case .shared(let order):
            self.init(
                order, .shared,
                text:
                    "order \(order.number ?? order.key) of \(order.bundleID), \(order.environment): shared, another customer paid for it"
            )
        }
    }

    private static func text(_ shown: OpenedOrder) -> String {
        let order = shown.order
        let money = Money(order.amount, in: order.currency)?.words
        return lines([
            ("order", order.number ?? CommandShape<OpenedOrder>.unnumbered), ("status", order.status.rawValue),
            ("app", "\(order.bundleID), \(order.environment)"),
            ("product", order.productID.map { id in order.productName.map { "\(id), \($0)" } ?? id }),
            ("plan", order.planType), ("source", order.source), ("account", shown.accountWords),
            ("original transaction", order.originalTransactionID), ("transaction", order.transactionID),
            ("amount", money), ("storefront", order.storefront), ("started", order.startedAt?.minute),
            ("ends", order.endsAt?.minute), ("paid", shown.money(\.paid)), ("refunded", shown.money(\.refunded)),
            ("unpriced", order.unpriced > 0 ? "\(order.unpriced)" : nil),
            ("refunds without amount", order.unknownRefunds > 0 ? "\(order.unknownRefunds)" : nil),
            ("refunded at", order.refundedAt?.minute), ("created", order.createdAt?.minute),
            ("updated", order.updatedAt.minute),
        ])
    }
}

extension CommandShape<OpenedOrder> {
    /// What stands in the place of a number that is not dealt yet.
    fileprivate static var unnumbered: String { "…" }

    fileprivate static var members: [Field] {
        [
            .init("number", column: "NUMBER") { $0.order.number ?? unnumbered },
            .init("day") { $0.order.day.description }, .init("status", column: "STATUS", \.order.status),
            .init("environment", \.order.environment), .init("bundle_id", column: "APP", \.order.bundleID),
            .init("product_id", column: "PRODUCT", \.order.productID), .init("product_name", \.order.productName),
            .init("plan_type", \.order.planType), .init("source", \.order.source),
            .init("account", \.account), .init("token", \.token), .column("ACCOUNT", \.accountWords),
            .init("order_key", \.order.key), .init("original_transaction_id", \.order.originalTransactionID),
            .init("transaction_id", \.order.transactionID), .init("amount", \.order.amount),
            .init("currency", \.order.currency), .init("storefront", \.order.storefront),
            .column("PAID", isNumeric: true) { $0.money(\.paid) },
            .column("REFUNDED", isNumeric: true) { $0.money(\.refunded) },
            .init("started_at", column: "STARTED", \.order.startedAt), .init("ends_at", column: "ENDS", \.order.endsAt),
            .list("totals", CommandShape<ListedOrder.Total>.total, \.order.totals), .init("unpriced", \.order.unpriced),
            .init("unknown_refunds", \.order.unknownRefunds), .init("refunded_at", \.order.refundedAt),
            .init("created_at", \.order.createdAt), .init("updated_at", \.order.updatedAt),
        ]
    }

    fileprivate static let listed = CommandShape<OpenedOrder>(members)
}

extension CommandShape<ListedOrder.Total> {
    fileprivate static let total = CommandShape<ListedOrder.Total>([
        .init("currency", \.currency), .init("paid", \.paid), .init("refunded", \.refunded),
    ])
}

extension CommandShape<OrderDetail.Line> {
    fileprivate static let line = CommandShape<OrderDetail.Line>([
        .init("at", column: "AT", \.at), .init("type", column: "TYPE", \.type),
        .init("product_id", column: "PRODUCT", \.productID), .init("product_name", \.productName),
        .init("transaction_id", column: "TRANSACTION", \.transactionID), .init("item", \.item),
        .init("amount", \.amount), .init("currency", \.currency),
        .column("AMOUNT", isNumeric: true) { Money($0.amount, in: $0.currency)?.words },
        .init("computed", \.isComputed), .init("storefront", \.storefront), .init("quantity", \.quantity),
        .init("trial", \.isTrial), .init("void", \.isVoid), .init("ends_at", column: "ENDS", \.endsAt),
        .init("heard_at", \.heardAt),
    ])
}

extension CommandShape<SharedOrder> {
    fileprivate static let shared = CommandShape<SharedOrder>([
        .init("number", \.number), .init("status") { _ in "shared" }, .init("environment", \.environment),
        .init("bundle_id", \.bundleID), .init("order_key", \.key),
    ])
}

/// An order and its lines.
private struct OrderWithLines: Sendable {
    var order: OpenedOrder
    var lines: [OrderDetail.Line]
}
