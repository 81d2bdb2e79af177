/// The account of an order, in SQL: the one that has its purchase now, by records and bindings. `storehook.held_purchases` states the same for
/// purchases that give access.
enum OrderOwner {
    /// The token of the account; null where the order has none.
    /// - Parameter row: the alias of a row with the columns of a purchase's key.
    static func token(of row: String) -> String {
        """
        coalesce(
            (select b.token from storehook.purchase_bindings b
              where \(of("b", row)) and b.kind = 'staff' and \(stands(row))
              order by b.at desc, b.id desc limit 1),
            (select signed.token
               from (select s.phase_account[width_bucket(now(), s.phase_starts)] as token
                       from storehook.subscriptions s where \(of("s", row))
                     union all
                     select p.app_account_token from storehook.one_time_purchases p where \(of("p", row))) signed
              where signed.token <> '00000000-0000-0000-0000-000000000000'
                and not exists (select from storehook.purchase_bindings e
                                 where \(of("e", row)) and e.kind = 'erasure' and e.token = signed.token)
              limit 1),
            (select b.token from storehook.purchase_bindings b
              where \(of("b", row)) and b.kind in ('proof', 'transfer') and \(stands(row))
              order by b.at desc, b.id desc limit 1))
        """
    }

    private static func of(_ table: String, _ row: String) -> String {
        """
        \(table).original_transaction_id = \(row).original_transaction_id and \(table).bundle_id = \(row).bundle_id
            and \(table).environment = \(row).environment
        """
    }

    /// An erasure ends earlier bindings.
    private static func stands(_ row: String) -> String {
        """
        not exists (select from storehook.purchase_bindings e
                     where \(of("e", row)) and e.kind = 'erasure' and (e.at, e.id) > (b.at, b.id))
        """
    }
}
