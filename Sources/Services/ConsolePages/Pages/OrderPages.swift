import APIKit
import AdminAPI
import AppStorePayloads
import Base
import OrderStore
import Staff

/// Orders: the list, its file, and each order with its transactions and refunds.
enum OrderPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/orders/{number}", "order", in: .orders) { .page(try await OrderPage($0).content()) },
            .post("/orders/{number}", "order_opened", in: .orders) {
                .page(try await OrderPage($0).content(isOpened: true))
            },
            .post("/orders/{number}/refund-requests", "order_refund", in: .orders) {
                try await OrderPage($0).askForRefund()
            },
        ]
        return list.pages("orders", in: .orders) { _ in PageList.Around() } + others
    }

    /// What narrows the list down, as the admin API calls it. An account and what is searched for come by links: they may be a person's, and
    /// are typed in the box at the top of the page alone.
    private static let list = PageList(
        endpoint: "listOrders", rows: "orders", place: "orders", section: .orders,
        filters: [
            "status", "refunded", "app", "product", "tier", "currency", "storefront", "from", "to", "updatedSince",
            "search", "account",
        ], held: ["search", "account"], saved: .orders, instants: ["updatedSince"], texts: ["account"],
        empty: { $0.word("no_orders") }, columns: { columns($0) }, row: { order, _ in row(of: order) },
        fields: { fields($0) }, commands: { [command($0)] })

    private static func command(_ call: PageCall) -> String {
        let same = ["search", "status", "app", "account", "product", "currency", "storefront", "tier", "from", "to"]
        var options: [(String, String?)] = same.map { ($0, call.value($0)) }
        options.append(("refunded", call.value("refunded").map { $0 == "true" ? "yes" : "no" }))
        options.append(("updated-since", call.value("updatedSince")))
        options.append(("environment", call.speaker.environment))
        options.append(("at", call.speaker.instant?.description))
        return CommandLine.text(["orders", "list"], options)
    }

    /// Orders, wherever they are listed.
    static func table(_ orders: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(caption, columns(speaker), orders.map { row(of: $0) }, empty: speaker.word("no_orders"))
    }

    private static func columns(_ speaker: Speaker) -> [PageTable.Column] {
        [
            .text(speaker.word("order")), .text(speaker.word("status")), .text(speaker.word("product")),
            .number(speaker.word("amount")), .number(speaker.word("paid")), .number(speaker.word("refunded")),
            .text(speaker.word("account")), .text(speaker.word("started")), .text(speaker.word("ends")),
            .text(speaker.word("country")),
        ]
    }

    private static func row(of order: JSONObject) -> [Shown] {
        let totals = order.objects("totals")
        func sums(_ name: StaticString) -> Shown {
            .all(totals.filter { $0.integer(name) != 0 }.map { .amount($0.integer(name), $0.string("currency")) })
        }
        let number = order.string("number")
        return [
            Shown.words(number).leading(to: number.map { Place("orders", $0) }),
            order.standing("status", of: "order_status"), .words(order.first(of: "productName", "productId")),
            order.amount("amount"), sums("paid"), sums("refunded"), account(of: order), order.at("startedAt"),
            order.at("endsAt"), order.words("storefront"),
        ]
    }

    /// The account of an order, by its id or the beginning of its token.
    static func account(of order: JSONObject) -> Shown {
        let token = order.string("appAccountToken")
        let name = order.string("account") ?? token.map { String($0.prefix(8)) }
        return Shown.words(name).leading(to: token.map { Place("customers", $0) })
    }

    private static func fields(_ call: PageCall) -> [PageForm.Field] {
        let speaker = call.speaker
        let refunded = [
            PageForm.Field.Choice("", speaker.word("any")), PageForm.Field.Choice("true", speaker.word("yes")),
            PageForm.Field.Choice("false", speaker.word("no")),
        ]
        return [
            .states(
                "status", speaker.word("status"), "order_status", OrderStatus.allCases.map(\.rawValue),
                call.value("status"), speaker),
            PageForm.Field("refunded", speaker.word("refunded"), .choice(refunded), call.value("refunded")),
            .line("app", speaker.word("app"), call.value("app")),
            .line("product", speaker.word("product"), call.value("product")),
            .line("tier", speaker.word("tier"), call.value("tier"), most: 100),
            .line("currency", speaker.word("currency"), call.value("currency"), most: 3),
            .line("storefront", speaker.word("country"), call.value("storefront"), most: 3),
            PageForm.Field("from", speaker.word("from"), .day, call.value("from")),
            PageForm.Field("to", speaker.word("to"), .day, call.value("to")),
        ]
    }
}
