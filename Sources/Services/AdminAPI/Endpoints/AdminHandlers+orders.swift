import APIKit
import AccountStore
import Accounts
import Base
import HTTPTypes
import OrderStore
import Staff
import Subscriptions

extension AdminHandlers {
    /// Orders, the latest days first.
    var orderList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/orders", "listOrders", "Orders, those of the latest days first. Filters add up.",
            for: .staff, successes: [orderPages(OrderFilter(), nil).success("OrderPage", "A page of orders.")]
        ) { try await answerOrders($0) }
        endpoint.query =
            AdminList<ShownListedOrder>.query + Opening.query + [
                .init(
                    "search", .string(.init(1, 1000)),
                    "A transaction, an order line, an account's id or token; the beginning of a number, or of a product's name."
                ),
                .init("status", OrderStatus.schema, "Only with this status."),
                .init("environment", Environment.schema, "Production by default."),
                .init("app", .string(.init(1, 255)), "Only of this app (bundle id)."),
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only of this account: its id, or token: and its appAccountToken."),
                .init("product", .string(.init(1, 255)), "Only of this product, by Apple's id."),
                .init("currency", .string(.init(3, 3)), "Only with an amount in this currency, such as EUR."),
                .init("storefront", .string(.init(3, 3)), "Only from this country of the App Store, such as USA."),
                .init("tier", .string(.init(1, 100)), "Only of products that give this tier of the catalog."),
                .init("refunded", .boolean, "Whether a refund stands."),
                .init("from", .string(.init(10, 10)), "From this day on, such as 2026-01-31: that in the number."),
                .init("to", .string(.init(10, 10)), "Up to this day, which belongs to it."),
                .init(
                    "updatedSince", .string(.init(1, 40)),
                    "Changed by evidence since this instant, such as 2026-01-31T12:00:00Z."),
                Self.at(
                    "Those that had been made and heard of by this instant, such as 2026-01-31T12:00:00Z, with the transactions and refunds that had been, and the status of then; now by default. What a transaction says, and whose it is, is as known now. Attempts that apps reported are left out. A page looks through 2,000 orders: it may be short, and even empty, and have a next one."
                ),
            ]
        endpoint.problems = [.noCatalog, .unknownTier]
        endpoint.refusesFitting =
            "after is next of a page before, account names one, the catalog has the tier, from and to are days, updatedSince and at are instants, a file of opened texts has a reason"
        return endpoint
    }

    private func answerOrders(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        var filter = OrderFilter()
        filter.scope = member.scope
        filter.search = request.query["search"]
        filter.status = request.query["status"].flatMap { OrderStatus(rawValue: $0) }
        filter.environment = request.query["environment"] ?? Environment.production.rawValue
        (filter.bundleID, filter.productID) = (request.query["app"], request.query["product"])
        (filter.currency, filter.storefront) = (
            request.query["currency"]?.uppercased(), request.query["storefront"]?.uppercased()
        )
        filter.tier = request.query["tier"]
        filter.isRefunded = request.query["refunded"].map { $0 == "true" }
        (filter.from, filter.to) = (try Self.day("from", request), try Self.day("to", request))
        filter.updatedSince = try Self.instant("updatedSince", request)
        filter.at = try Self.instant("at", request)
        if let text = request.query["account"] { filter.account = try await namedAccount(text).token }
        do {
            return try await orderPages(filter, accounts.current()?.catalog).answer(request, self)
        } catch let refusal as ActRefusal { throw refusal.problem }
    }

    /// A day of the query.
    static func day(_ name: String, _ request: AdminRequest) throws(APIProblem) -> CalendarDay? {
        guard let text = request.query[name] else { return nil }
        guard let day = CalendarDay(text) else {
            throw APIProblem(.invalidRequest, ProblemText(english: "\(name) takes a day like 2026-01-31"))
        }
        return day
    }

    private func orderPages(_ filter: OrderFilter, _ catalog: Catalog?) -> AdminList<ShownListedOrder> {
        AdminList(
            name: "orders", shape: AdminShapes.listedOrder, subject: ("orders", "list"),
            cursorParts: OrderStore.cursorParts, takes: { OrderStore.isCursor($0) }, openedTexts: { $0.openedTexts }
        ) { [orders] opening, cursor, limit in
            try await orders.list(filter, under: catalog, after: cursor, limit: limit).map {
                ShownListedOrder($0, opening)
            }
        }
    }

    /// An order, its transactions and refunds.
    var orderShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/orders/{number}", "getOrder",
            "An order with its transactions and refunds. What Apple credits at an upgrade stands in no signed record.",
            for: .staff,
            successes: [
                .init(
                    "The order; of one that another customer paid for, as late evidence shows, that it is shared.",
                    .any([AdminShapes.order.schema, AdminShapes.sharedOrder.schema]))
            ]
        ) { try await answerOrder($0) }
        endpoint.pathSchemas = Self.orderPath
        endpoint.query =
            Opening.query + [
                Self.at(
                    "The order by what had been heard of it by this instant, such as 2026-01-31T12:00:00Z, if it had been made; now by default. What a transaction says, and whose it is, is as known now. One of an attempt alone is not shown."
                )
            ]
        endpoint.problems = [.noOrder]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    static let orderPath = ["number": ValueSchema.string(.init(1, 100))]

    private func answerOrder(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        let number = request.path["number"] ?? ""
        guard OrderNumberPrefix(number)?.isWhole == true,
            let shown = try await orders.show(
                number, under: accounts.current()?.catalog, at: try Self.instant("at", request)
            ).first
        else { throw RefundRefusal.noOrder.problem }
        switch shown {
        case .shared(let order):
            guard member.scope.sees(app: order.bundleID) else { throw RefundRefusal.noOrder.problem }
            return APIAnswer(.ok, AdminShapes.sharedOrder.value(of: order))
        case .order(let detail):
            guard member.scope.sees(app: detail.order.bundleID) else { throw RefundRefusal.noOrder.problem }
            // The reason goes with the account.
            let opening = try await Opening(
                request, isExport: false,
                of: detail.order.token.map { ("account", $0.description) } ?? ("order", number), self)
            let order = ShownListedOrder(detail.order, opening)
            try await opening.note(order.openedTexts)
            return APIAnswer(
                .ok, AdminShapes.order.value(of: ShownOrderDetail(detail, as: order)))
        }
    }
}
