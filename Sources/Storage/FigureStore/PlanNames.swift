import Base
import Figures
import Postgres

/// How long what was bought lasts, as a split of figures has it.
enum PlanNames {
    /// A query: the `plan` of each `product_id`. Apple gives no two products of a company one id. A subscription has the period of the
    /// current catalog, in its words, and none where that lacks it. What does not renew itself is `lifetime`, `term` or `consumable`.
    static let sql = """
        select product_id, min(plan) as plan
          from (
            select product_id, case quarters when 1 then 'week' when 4 then 'month' when 8 then 'two_months' when 12 then 'quarter'
                                             when 24 then 'half_year' when 48 then 'year' end as plan
              from storehook.figure_plans
            union all
            select distinct product_id, case plan_type when 'non_consumable' then 'lifetime' when 'non_renewing' then 'term' else plan_type end
              from storehook.order_classes
             where plan_type in ('non_consumable', 'non_renewing', 'consumable') and product_id <> '') p
         group by product_id
        """

    /// Those that are there, by product.
    static func read(_ session: borrowing PostgresSession) throws -> [String: String] {
        try session.query(PostgresQuery(unescaped: sql, name: "figures.plan_names")).reduce(into: [:]) { plans, row in
            plans[try row.decode("product_id")] = try row.decode("plan", as: String?.self)
        }
    }
}

extension FigureAnswer {
    /// Adds the values of products with one plan, where the question is by plan; those of unknown ones have an empty name.
    mutating func gatherPlans(_ session: borrowing PostgresSession) throws {
        guard question.split == .plan else { return }
        let plans = try PlanNames.read(session)
        var gathered: [Cell: FigureSums] = [:]
        for cell in cells {
            var place = cell
            place.group = plans[cell.group ?? ""] ?? ""
            place.sums = FigureSums()
            gathered[place, default: FigureSums()].add(cell.sums)
        }
        cells = gathered.map { place, sums in
            var cell = place
            cell.sums = sums
            return cell
        }
        .sorted { $0.order < $1.order }
    }
}

extension FigureAnswer.Cell {
    fileprivate var order: (Int64, String, Int, String) {
        (period.number, group ?? "", isUnconverted ? 1 : 0, currency ?? "")
    }
}
