package import Postgres
import Synchronization

/// Orders in PostgreSQL: booked with each change of a purchase, numbered by the clock, listed for people.
package final class OrderStore: Sendable {
    package let pool: PostgresPool
    /// The numbers of classes that other transactions committed. A class is never changed or deleted.
    let classes = Mutex<[OrderClass: Int32]>([:])

    /// The orders of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }
}
