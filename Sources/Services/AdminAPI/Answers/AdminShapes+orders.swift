import Base
import OrderStore

extension AdminShapes {
    /// An order in a list.
    static let listedOrder = Shape<ShownListedOrder, Void>(
        "ListedOrder",
        [
            .init("number", "Null for the second until it is dealt.") { $0.order.number },
            .init("day", "The day of its number.") { $0.order.day.description },
            .init("status") { $0.order.status },
            .init("environment", Environment.schema) { .string($0.order.environment) },
            .init("bundleId") { $0.order.bundleID },
            .init("productId", "Of the latest transaction that began, like what follows up to endsAt.") {
                $0.order.productID
            },
            .init("productName", "In the catalog.") { $0.order.productName },
            .init("planType", "auto_renewable, non_consumable, consumable or non_renewing.") { $0.order.planType },
            .init("source") { $0.order.source },
            .init("account", "Its id in the app's own tokens, shortened by default.") { $0.account },
            .init("appAccountToken", "Of the account that has the purchase now.") { $0.order.token },
            .init("orderKey", "Apple's id that the order is by.") { $0.order.key },
            .init("originalTransactionId") { $0.order.originalTransactionID },
            .init("transactionId") { $0.order.transactionID },
            .init("amount", "In thousandths of the currency; null where no signed record says it.") {
                $0.order.amount
            },
            .init("currency") { $0.order.currency }, .init("storefront") { $0.order.storefront },
            .init("startedAt") { $0.order.startedAt }, .init("endsAt") { $0.order.endsAt },
            .list("totals", orderTotal, about: "Of all its transactions; currencies are never added.") {
                $0.order.totals
            },
            .init("unpriced", "How many transactions have no signed price.") { $0.order.unpriced },
            .init("unknownRefunds", "How many have a refund without an amount.") { $0.order.unknownRefunds },
            .init("refundedAt", "The latest refund that stands.") { $0.order.refundedAt },
            .init("createdAt", "When it got its number.") { $0.order.createdAt },
            .init("updatedAt", "When evidence changed it last.") { $0.order.updatedAt },
        ])

    /// An order by itself.
    static let order = listedOrder.after([], named: "AdminOrder") { (shown: ShownOrderDetail) in shown.order }
        .changed(
            named: "AdminOrder",
            adding: [
                .list("lines", orderLine, about: "Its transactions and refunds in the order of time.") { $0.lines }
            ])

    /// An order that another customer paid for, as late evidence shows.
    static let sharedOrder = Shape<SharedOrder, Void>(
        "SharedOrder",
        [
            .init("number") { $0.number }, .init("status", .choice(["shared"])) { _ in "shared" },
            .init("environment", Environment.schema) { .string($0.environment) }, .init("bundleId") { $0.bundleID },
            .init("orderKey") { $0.key },
        ])

    private static let orderTotal = Shape<ListedOrder.Total, Void>(
        "OrderTotal",
        [
            .init("currency") { $0.currency }, .init("paid", "In thousandths of the currency.") { $0.paid },
            .init("refunded", "What was refunded of it, in thousandths of the currency.") { $0.refunded },
        ])

    private static let orderLine = Shape<OrderDetail.Line, Void>(
        nil,
        [
            .init(
                "type",
                "initial_purchase, renewal, resubscription, upgrade, downgrade, crossgrade, refund, refund_reversed or revoke."
            ) { $0.type },
            .init("at", "When it began, or when money went back.") { $0.at }, .init("endsAt") { $0.endsAt },
            .init("item", "What all records of the transaction have in common.") { $0.item },
            .init("transactionId") { $0.transactionID }, .init("productId") { $0.productID },
            .init("productName") { $0.productName },
            .init("amount", "In thousandths of the currency, never negative: the type says which way.") { $0.amount },
            .init("currency") { $0.currency },
            .init("isComputed", "Whether the amount is a share of the price: Apple rounds the share.") {
                $0.isComputed
            },
            .init("storefront") { $0.storefront }, .init("quantity") { $0.quantity },
            .init("isTrial") { $0.isTrial },
            .init("isVoid", "Whether it was charged ahead and never began.") { $0.isVoid },
            .init("heardAt") { $0.heardAt },
        ]
    ).after([], named: "OrderLine") { (shown: ShownOrderLine) in shown.line }
        .changed(
            named: "OrderLine",
            adding: [
                .init("maxRefundable", "Of a payment, what is left of it; null where that is not known, and of others.")
                {
                    $0.maxRefundable
                }
            ])
}
