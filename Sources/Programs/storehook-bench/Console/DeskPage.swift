import Base
import FigureStore
import Figures

/// A page of the console, asked for with random values.
struct DeskPage: Sendable {
    /// What people call it.
    let name: String
    /// Where it is, this time.
    let path: @Sendable () -> String

    private init(_ name: String, _ path: @escaping @Sendable () -> String) {
        self.name = name
        self.path = path
    }

    private init(_ name: String, at path: String) { self.init(name) { path } }

    /// Every page to look at, with the filters that have the most to look through.
    /// - Parameter requests: the numbers of refund requests.
    static func all(_ values: OrdersValues, requests: [String]) -> [DeskPage] {
        lists + singles(values, requests) + figures
    }

    private static let lists = [
        DeskPage("overview", at: "/"), DeskPage("orders", at: "/orders"),
        DeskPage("orders, refunded", at: "/orders?status=refunded"),
        DeskPage("orders of a product", at: "/orders?product=product.3"),
        DeskPage("orders of a country", at: "/orders?storefront=ABX"),
        DeskPage("refund requests", at: "/refund-requests"),
        DeskPage("refund requests, due next", at: "/refund-requests?sort=due"),
        DeskPage("customers", at: "/customers"), DeskPage("customers on trial", at: "/customers?status=trial"),
        DeskPage("customers of a tier", at: "/customers?tier=premium"),
        DeskPage("customers of a product", at: "/customers?product=product.9"),
        DeskPage("access ends soon", at: "/expiring?days=30"), DeskPage("notes", at: "/notes"),
        DeskPage("figures", at: "/figures"), DeskPage("dead letters", at: "/dead-letters"),
        DeskPage("dead letters with a text", at: "/dead-letters?text=needle"),
        DeskPage("jobs", at: "/jobs"), DeskPage("due and not heard of", at: "/due"),
        DeskPage("what Apple asks", at: "/consumption-requests"),
        DeskPage("what Apple asks, due next", at: "/consumption-requests?sort=due"),
        DeskPage("extensions", at: "/extensions"),
        DeskPage("extensions not finished", at: "/extensions?unfinished=true"),
        DeskPage("access ends soon, in Sandbox", at: "/expiring?days=3650&environment=Sandbox"),
        DeskPage("endpoints", at: "/endpoints"), DeskPage("deliveries", at: "/deliveries"),
        DeskPage("catalog", at: "/catalog"), DeskPage("health", at: "/health"), DeskPage("audit", at: "/audit"),
        DeskPage("audit of an act", at: "/audit?act=grant"), DeskPage("staff", at: "/staff"),
        DeskPage("login", at: "/login"),
    ]

    private static func singles(_ values: OrdersValues, _ requests: [String]) -> [DeskPage] {
        @Sendable func customer() -> String {
            values.accounts.randomElement().map { "/customers/\($0)" } ?? "/customers"
        }
        return [
            DeskPage("order") { values.numbers.randomElement().map { "/orders/\($0)" } ?? "/orders" },
            DeskPage("customer") { customer() },
            DeskPage("customer, a year ago") {
                "\(customer())?at=\(values.now.adding(seconds: -365 * 86_400))"
            },
            DeskPage("refund request") {
                requests.randomElement().map { "/refund-requests/\($0)" } ?? "/refund-requests"
            },
        ]
    }

    private static var figures: [DeskPage] {
        let pages = Figure.allCases.flatMap { figure -> [DeskPage] in
            let name = figure.rawValue
            // Of these a row belongs to a month after the first.
            let month = [.retention, .lifetimeValue].contains(figure) ? "?month=0" : ""
            return [
                DeskPage("figure \(name)", at: "/figures/\(name)"),
                DeskPage("figure \(name) by day", at: "/figures/\(name)?by=day"),
                DeskPage("figure \(name), rows", at: "/figures/\(name)/rows\(month)"),
            ]
                + (figure.splits.contains(.product)
                    ? [DeskPage("figure \(name) and product", at: "/figures/\(name)?split=product")] : [])
        }
        return pages + [
            DeskPage("figure users", at: "/figures/users"), DeskPage("figure usage", at: "/figures/usage"),
        ]
    }
}
