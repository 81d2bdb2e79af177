public import Foundation
public import Postgres

/// Writes events for tests of those who read them; what they tell is nothing.
/// - Parameters:
///   - bytes: how long what each tells is, about.
///   - account: by its token; none by default.
///   - together: so many get their places as one transaction's do.
public func writingEvents(
    _ count: Int = 1, bytes: Int = 10, of account: UUID? = nil, together: Int = 1
) -> PostgresQuery {
    """
    with event as (
        insert into storehook.events (kind, environment, token, version, original_transaction_id, sequence, at, is_late,
                                      is_correction, content)
        select 'test', 'Production', \(account), \(account == nil ? nil : Int64(0)), '1', n, now(), false, false,
               '"told":"' || repeat('x', \(Int32(bytes))) || '"'
          from generate_series(1, \(Int64(count))) n
        returning id, told_at, (sequence - 1) / \(Int64(together)) as number
    )
    insert into storehook.events_unplaced (id, more, told_at)
    select ids[1], nullif(ids[2:], '{}'), told_at
      from (select array_agg(id order by id) as ids, told_at from event group by number, told_at) told
    """
}
