/// The plans of products, for the split of figures by plan.
enum PlanNames {
    /// A query: the `plan` of each `product_id`. Apple gives each product of a company an id of its own. The plan of a subscription is its period in
    /// the current catalog, and missing where the catalog lacks it. The plan of another product is `lifetime`, `term` or `consumable`.
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
}
