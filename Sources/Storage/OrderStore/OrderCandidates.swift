import Base
import Foundation
import Postgres

/// A few orders that an index leads to. A page is picked from them.
enum OrderCandidates: Sendable {
    /// The orders of an account's purchases.
    case account(UniqueIdentifier)
    /// The orders of an id of Apple's, and of the accounts that the text may name.
    case id(String, Set<UniqueIdentifier>)
    /// The orders of a day with these places.
    case numbered(CalendarDay, [ClosedRange<Int32>])
}

extension PostgresQuery.StringInterpolation {
    /// A statement with a column `id`, the numbers of rows of `booked_orders`, also hidden ones. Each table is read by an index: the planner leaves
    /// laterals with an offset as they are.
    mutating func appendInterpolation(candidates: OrderCandidates) {
        switch candidates {
        case .account(let token): appendInterpolation(ordersOf: token)
        case .id(let text, let accounts):
            appendInterpolation(ordersNamed: text)
            for account in accounts.sorted() {
                appendLiteral(" union ")
                appendInterpolation(ordersOf: account)
            }
        case .numbered(let day, let places):
            appendLiteral(
                """
                select o.id from unnest(
                """)
            appendInterpolation(places.map(\.lowerBound))
            appendLiteral(", ")
            appendInterpolation(places.map(\.upperBound))
            appendLiteral(
                """
                ) as place (low, high)
                 cross join lateral (
                    select o.id from storehook.booked_orders o
                     where o.number between place.low and place.high and o.day = '1970-01-01'::date + 
                """)
            appendInterpolation(Int32(clamping: day.number))
            appendLiteral(" offset 0) o")
        }
    }

    private mutating func appendInterpolation(ordersOf account: UniqueIdentifier) {
        let token = UUID(account)
        appendLiteral(
            "select o.id from (select l.environment, l.bundle_id, l.original_transaction_id from storehook.account_lines l where l.token = "
        )
        appendInterpolation(token)
        for (table, column) in [
            ("subscriptions", "app_account_token"), ("subscriptions", "former_account_token"),
            ("one_time_purchases", "app_account_token"),
        ] {
            appendLiteral(
                " union select l.environment, l.bundle_id, l.original_transaction_id from storehook.\(table) l where l.\(column) = "
            )
            appendInterpolation(token)
        }
        appendLiteral(") l cross join lateral (\(Self.ordersOfPurchase)) o where \(OrderOwner.token(of: "l")) = ")
        appendInterpolation(token)
    }

    /// By a transaction, an order line, or an original transaction. Several orders may share an original transaction: another transaction of one
    /// leads to that one alone.
    private mutating func appendInterpolation(ordersNamed text: String) {
        appendLiteral(
            """
            select o.id
              from (select t.environment, t.bundle_id, t.transaction_id, t.original_transaction_id
                      from storehook.transactions t where t.transaction_id = 
            """)
        appendInterpolation(text)
        appendLiteral(
            """
                    union all
                    select t.environment, t.bundle_id, t.transaction_id, t.original_transaction_id
                      from storehook.transactions t where t.web_order_line_item_id = 
            """)
        appendInterpolation(text)
        appendLiteral(
            """
                    union all
                    select h.environment, h.bundle_id, h.transaction_id, h.original_transaction_id
                      from storehook.shared_transactions h where h.transaction_id = 
            """)
        appendInterpolation(text)
        appendLiteral(
            """
            ) t
             cross join lateral (
                select o.id from storehook.booked_orders o
                 where o.environment = t.environment and o.bundle_id = t.bundle_id
                   and o.order_key in (t.transaction_id, t.original_transaction_id)
                   and o.order_key = case when o.plan_type in ('consumable', 'non_renewing') then t.transaction_id
                                          else t.original_transaction_id end offset 0) o
            union
            select o.id
              from (select l.environment, l.bundle_id, l.original_transaction_id
                      from storehook.purchase_lines l where l.original_transaction_id = 
            """)
        appendInterpolation(text)
        appendLiteral(") l cross join lateral (\(Self.ordersOfPurchase)) o")
    }

    /// The orders of `l`, a purchase.
    private static let ordersOfPurchase = """
        (select o.id from storehook.booked_orders o
          where o.environment = l.environment and o.bundle_id = l.bundle_id and o.order_key = l.original_transaction_id offset 0)
        union all
        (select o.id from storehook.booked_orders o
          where o.original_transaction_id = l.original_transaction_id and o.order_key <> o.original_transaction_id
            and o.environment = l.environment and o.bundle_id = l.bundle_id offset 0)
        """
}
