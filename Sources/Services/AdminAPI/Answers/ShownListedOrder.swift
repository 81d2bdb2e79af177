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
    let lines: [OrderDetail.Line]
}
