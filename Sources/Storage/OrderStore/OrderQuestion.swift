import Base
import Postgres
import PurchaseStore
import Staff

/// The question of a page of orders: a filter after its words were looked up.
struct OrderQuestion: Sendable {
    /// The filter without its search and its tier.
    var filter: OrderFilter
    /// The products of the tier; nil without one.
    var tierProducts: [SubscriptionFilter.AppProduct]?
    /// The products that the search names; nil for another search.
    var namedProducts: [SubscriptionFilter.AppProduct]?
    /// Only orders with a number.
    var isNumbered = false
    /// Only orders with one of these places within their day.
    var places: [ClosedRange<Int32>]?
    /// The highest id of an order of these days; nil where it was not looked up.
    var highestID: Int64?
    /// The list goes on behind this place.
    var mark: OrderMark?
    /// The most to find.
    var limit: Int

    /// Restricts it to some days.
    mutating func restrict(to days: ClosedRange<CalendarDay>) {
        filter.from = max(filter.from ?? days.lowerBound, days.lowerBound)
        filter.to = min(filter.to ?? days.upperBound, days.upperBound)
    }

    /// Whether no day is left.
    var isEmpty: Bool {
        guard let from = filter.from else { return false }
        return filter.to.map { $0 < from } ?? false || mark.map { $0.day < from } ?? false
    }

    fileprivate var statuses: [String]? {
        guard filter.status != nil || filter.isRefunded != nil else { return nil }
        return OrderStatus.allCases.filter { status in
            (filter.status ?? status) == status
                && (filter.isRefunded.map { $0 == OrderStatus.withRefund.contains(status) } ?? true)
        }.map(\.rawValue)
    }
}

extension PostgresQuery.StringInterpolation {
    /// Conditions on `c`, a row of `order_classes`.
    mutating func appendInterpolation(ofClasses question: OrderQuestion) {
        let filter = question.filter
        appendLiteral("c.environment = ")
        appendInterpolation(filter.environment)
        require("c.bundle_id", filter.bundleID)
        if case .some(let apps) = filter.scope {
            appendLiteral(" and c.bundle_id = any(")
            appendInterpolation(apps.sorted())
            appendLiteral(")")
        }
        require("c.product_id", filter.productID)
        require("c.currency", filter.currency)
        require("c.storefront", filter.storefront)
        if let statuses = question.statuses {
            appendLiteral(" and c.status = any(")
            appendInterpolation(statuses)
            appendLiteral(")")
        }
        for products in [question.tierProducts, question.namedProducts].compactMap(\.self) {
            appendLiteral(" and (c.bundle_id, c.product_id) in (select * from unnest(")
            appendInterpolation(products.map(\.bundleID))
            appendLiteral(", ")
            appendInterpolation(products.map(\.productID))
            appendLiteral("))")
        }
    }

    /// Conditions on the place of `o`, a row of `booked_orders`, in the list.
    mutating func appendInterpolation(standing question: OrderQuestion) {
        appendLiteral("o.class_id is not null")
        // One bound from above: given two, PostgreSQL may begin with the wider one, and walk.
        let to = question.filter.to
        if let mark = question.mark, to.map({ mark.day <= $0 }) ?? true {
            appendLiteral(" and (o.day, o.id) < (")
            appendInterpolation(day: mark.day)
            appendLiteral(", ")
            appendInterpolation(mark.id)
            appendLiteral(")")
        }
        if let to, question.mark.map({ to < $0.day }) ?? true {
            appendLiteral(" and o.day <= ")
            appendInterpolation(day: to)
        }
        appendInterpolation(from: question)
    }

    /// A statement: the orders that changed since the instant of the question, some of them twice.
    mutating func appendInterpolation(changedOrders question: OrderQuestion, since: Timestamp) {
        for (table, changed) in [("booked_transactions", "changed_at"), ("booked_attempts", "last_at")] {
            if table != "booked_transactions" { appendLiteral(" union all ") }
            appendLiteral("select t.order_id from storehook.\(table) t where t.\(changed) >= ")
            appendInterpolation(PostgresTimestamp(since))
            guard let highestID = question.highestID else { continue }
            appendLiteral(" and t.order_id <= ")
            appendInterpolation(highestID)
        }
    }

    /// The bound from below alone.
    mutating func appendInterpolation(from question: OrderQuestion) {
        guard let from = question.filter.from else { return }
        appendLiteral(" and o.day >= ")
        appendInterpolation(day: from)
    }

    /// Further conditions on it, each with `and` before it.
    mutating func appendInterpolation(besides question: OrderQuestion) {
        if let since = question.filter.updatedSince {
            appendLiteral(" and o.updated_at >= ")
            appendInterpolation(PostgresTimestamp(since))
        }
        if question.isNumbered { appendLiteral(" and o.number is not null") }
        if let places = question.places {
            appendLiteral(" and exists (select from unnest(")
            appendInterpolation(places.map(\.lowerBound))
            appendLiteral(", ")
            appendInterpolation(places.map(\.upperBound))
            appendLiteral(") as place (low, high) where o.number between place.low and place.high)")
        }
    }

    private mutating func require(_ column: String, _ value: String?) {
        guard let value else { return }
        appendLiteral(" and \(column) = ")
        appendInterpolation(value)
    }

    /// A constant for the planner, with every setting of the session.
    private mutating func appendInterpolation(day: CalendarDay) {
        appendLiteral("('1970-01-01'::date + ")
        appendInterpolation(Int32(clamping: day.number))
        appendLiteral(")")
    }
}
