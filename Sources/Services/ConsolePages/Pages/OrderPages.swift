import APIKit
import AppStorePayloads
import Base
import OrderStore
import Staff

/// Orders: the list, its file, and each order with its transactions and refunds.
enum OrderPages {
    static var pages: [Page] {
        [
            .get("/orders", "orders", in: .orders) { .page(try await list($0)) },
            .post("/orders", "orders_opened", in: .orders) { .page(try await list($0, isOpened: true)) },
            .get("/orders.csv", "orders_file", in: .orders) { try await $0.file("listOrders", $0.kept(filters)) },
            .get("/orders/{number}", "order", in: .orders) { .page(try await OrderPage($0).content()) },
            .post("/orders/{number}", "order_opened", in: .orders) {
                .page(try await OrderPage($0).content(isOpened: true))
            },
            .post("/orders/{number}/refund-requests", "order_refund", in: .orders) {
                try await OrderPage($0).askForRefund()
            },
        ]
    }

    /// What narrows the list down, as the admin API calls it.
    private static let filters = [
        "search", "status", "app", "account", "product", "currency", "storefront", "tier", "refunded", "from", "to",
        "updatedSince",
    ]

    private static func list(_ call: PageCall, isOpened: Bool = false) async throws -> PageContent {
        let speaker = call.speaker
        let kept = call.kept(filters)
        var query = kept
        query["after"] = .some(call.value("after"))
        if isOpened { query["open"] = "true" }
        let page = try await call.ask("listOrders", query)
        let orders = page.objects("orders")
        let title = speaker.word(of: "section", Section.orders.rawValue)
        var listed = table(orders, title, speaker)
        listed.next = page.string("next").map { Place("orders", query: kept).with("after", $0) }
        listed.file = Place("orders.csv", query: kept)
        var blocks: [Block] = [.form(filter(call))]
        if call.value("account") != nil || call.value("search") != nil {
            blocks.append(.links([PageLink(speaker.word("all"), Place("orders"))]))
        }
        blocks.append(.table(listed))
        let here = Place("orders", query: call.kept(filters + ["after"]))
        blocks += Opening.form(call, at: here, isOpened, if: orders)
        return PageContent(title, blocks, commands: [command(call)])
    }

    private static func command(_ call: PageCall) -> String {
        let same = ["search", "status", "app", "account", "product", "currency", "storefront", "tier", "from", "to"]
        var options: [(String, String?)] = same.map { ($0, call.value($0)) }
        options.append(("refunded", call.value("refunded").map { $0 == "true" ? "yes" : "no" }))
        options.append(("updated-since", call.value("updatedSince")))
        options.append(("environment", call.speaker.environment))
        return CommandLine.text(["orders", "list"], options)
    }

    /// Orders, wherever they are listed.
    static func table(_ orders: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(
            caption,
            [
                .text(speaker.word("order")), .text(speaker.word("status")), .text(speaker.word("product")),
                .number(speaker.word("amount")), .number(speaker.word("paid")), .number(speaker.word("refunded")),
                .text(speaker.word("account")), .text(speaker.word("started")), .text(speaker.word("ends")),
                .text(speaker.word("country")),
            ], orders.map { row(of: $0) }, empty: speaker.word("no_orders"))
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

    private static func filter(_ call: PageCall) -> PageForm {
        let speaker = call.speaker
        let refunded = [
            PageForm.Field.Choice("", speaker.word("any")), PageForm.Field.Choice("true", speaker.word("yes")),
            PageForm.Field.Choice("false", speaker.word("no")),
        ]
        return .filter(
            Place("orders", query: call.kept(["account"])),
            [
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
            ], speaker.word("filter"))
    }
}
