/// What the app's own tokens call an account, in SQL.
package enum AccountName {
    /// The column `account`. An id stands with the account, or with the first answer that handed out its token; the latter is looked up
    /// only where the row does not say it.
    /// - Parameters:
    ///   - row: the account's row of `accounts`, if any.
    ///   - token: its token.
    package static func column(of row: String = "a", token: String) -> String {
        "coalesce(\(row).account, (select handed.account from storehook.account_names handed where handed.token = \(token))) as account"
    }
}
