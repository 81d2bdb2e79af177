public import Foundation
public import Postgres

/// Writes events as one transaction does, for tests of those who read them; what they tell is nothing.
/// - Parameters:
///   - bytes: how long what each tells is, about.
///   - account: by its token; of nobody unless told.
public func writingEvents(_ count: Int = 1, bytes: Int = 10, of account: UUID? = nil) -> PostgresQuery {
    """
    with event as (
        insert into storehook.events (kind, environment, token, version, original_transaction_id, sequence, at, is_late,
                                      is_correction, content)
        select 'test', 'Production', \(account), \(account == nil ? nil : Int64(0)), '1', n, now(), false, false,
               '"told":"' || repeat('x', \(Int32(bytes))) || '"'
          from generate_series(1, \(Int64(count))) n
        returning id, told_at
    )
    insert into storehook.events_unplaced (id, told_at) select id, told_at from event
    """
}
