import OrderStore

/// An order, as a member of the staff sees it.
struct ShownListedOrder: Sendable {
    /// The order.
    let order: ListedOrder
    /// The id of the account that has it, as it is shown.
    let account: String?
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ order: ListedOrder, _ opening: Opening) {
        self.order = order
        account = opening.text(order.account)
        openedTexts = opening.isOpen && order.account != nil ? 1 : 0
    }
}

/// An order with its transactions and refunds, as a member of the staff sees it.
struct ShownOrderDetail: Sendable {
    /// The order.
    let order: ShownListedOrder
    /// Its transactions and refunds.
    let lines: [ShownOrderLine]

    init(_ detail: OrderDetail, as order: ShownListedOrder) {
        self.order = order
        lines = detail.lines.map { ShownOrderLine(line: $0, maxRefundable: detail.maxRefundable(of: $0)) }
    }
}

/// A transaction or a refund, and what is left of a payment.
struct ShownOrderLine: Sendable {
    /// The transaction or refund.
    let line: OrderDetail.Line
    /// What can still be refunded; nil of what is no payment, and where it is not known.
    let maxRefundable: Int64?
}
