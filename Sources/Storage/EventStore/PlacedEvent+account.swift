extension PlacedEvent {
    /// The column `account`: what the app's own tokens call the account of an event `e`, which has the row `a`, if any. That an answer has
    /// named it is looked up only where the row does not say it.
    static let accountColumn =
        "coalesce(a.account, (select n.account from storehook.account_names n where n.token = e.token)) as account"
}
