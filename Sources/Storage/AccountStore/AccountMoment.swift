import Postgres

/// The clock, and the catalogs that a transaction has to derive accounts under, as of one statement.
struct AccountMoment {
    /// The database's clock.
    let clock: PostgresTimestamp
    /// The catalog that readers see; nil where none was ever applied.
    let current: Int64?
    /// The catalog that is being prepared.
    let preparing: Int64?

    /// Reads it: one statement, which a transaction that settles a batch needs for the clock in any case.
    init(_ session: borrowing PostgresSession) throws {
        let row = try session.query(
            PostgresQuery(
                "accounts.moment",
                "select clock_timestamp(), current_version, preparing_version from storehook.catalog_state")
        ).one()
        clock = try row.decode(0)
        current = try row.decode(1)
        preparing = try row.decode(2)
    }

    /// Whether there is no catalog to derive accounts under.
    var isIdle: Bool { current == nil && preparing == nil }

    /// The catalogs to derive under, the current one first.
    var versions: [Int64] { [current, preparing].compactMap(\.self) }
}
