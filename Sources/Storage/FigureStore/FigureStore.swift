package import Postgres

/// Figures in PostgreSQL: sums of the books by day, which workers bring up to date, and questions that are answered from them.
package struct FigureStore: Sendable {
    package let pool: PostgresPool
    let fiscalCalendars: FiscalCalendarStore

    /// The figures of a database.
    package init(_ pool: PostgresPool) { (self.pool, fiscalCalendars) = (pool, FiscalCalendarStore(pool)) }
}
