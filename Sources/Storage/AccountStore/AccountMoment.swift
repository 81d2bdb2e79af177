import Accounts
import Postgres
import PurchaseStore

/// The clock, and the catalogs that a transaction has to derive accounts under, as of one statement.
struct AccountMoment {
    /// The database's clock.
    let clock: PostgresTimestamp
    /// The catalog that readers see; nil where none was ever applied.
    let current: Int64?
    /// The catalog that is being prepared.
    let preparing: Int64?

    /// Reads it: one statement, which a transaction that settles a batch needs for the clock in any case.
    /// - Parameter account: an account whose id the transaction writes: the same statement holds the rule of ids
    ///   (``/PurchaseStore/Accounts/AccountIdentity/holdRule(_:)``).
    init(_ session: borrowing PostgresSession, naming account: AccountIdentity? = nil) throws {
        let row = try session.query(account?.rule == nil ? Self.plain : Self.naming).one()
        clock = try row.decode(0)
        current = try row.decode(1)
        preparing = try row.decode(2)
        if let rule = account?.rule, try row.decode(3, as: String?.self) != rule.rawValue {
            throw AccountIdentity.ruleChanged("accounts.moment")
        }
    }

    private static let plain = PostgresQuery(
        "accounts.moment",
        "select clock_timestamp(), current_version, preparing_version from storehook.catalog_state")

    private static let naming = PostgresQuery(
        "accounts.moment",
        """
        select clock_timestamp(), c.current_version, c.preparing_version, i.rule
          from storehook.catalog_state c cross join storehook.account_ids i
           for key share of i
        """)

    /// Whether there is no catalog to derive accounts under.
    var isIdle: Bool { current == nil && preparing == nil }

    /// The catalogs to derive under, the current one first.
    var versions: [Int64] { [current, preparing].compactMap(\.self) }
}
