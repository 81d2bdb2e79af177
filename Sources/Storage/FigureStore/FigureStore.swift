package import Postgres

/// Figures in PostgreSQL: sums of the books by day. Workers bring them up to date, and questions are answered from them.
package struct FigureStore: Sendable {
    package let pool: PostgresPool
    let fiscalCalendars: FiscalCalendarStore
    let patience: Duration

    /// The figures of a database.
    /// - Parameter patience: how long an answer in a currency may take. After a slower one, workers keep sums in that currency.
    package init(_ pool: PostgresPool, patience: Duration = .milliseconds(100)) {
        (self.pool, fiscalCalendars, self.patience) = (pool, FiscalCalendarStore(pool), patience)
    }
}
