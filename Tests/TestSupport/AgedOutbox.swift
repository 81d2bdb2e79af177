/// Lets ten days pass over everything that is stored: what stands in the outbox has been received at noon (UTC) ten days
/// ago, in the partition of that day. Trusted SQL, several statements.
public let agedOutbox = """
    create temporary table noon on commit drop as
        select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '9 days 12 hours' as at;
    update storehook.outbox set received_at = at from noon;
    update storehook.outbox_queue set received_at = at from noon;
    update storehook.notifications set received_at = at from noon;
    update storehook.records set received_at = at from noon;
    update storehook.dead_letters set received_at = at from noon;
    update storehook.subscriptions set first_stored_at = at, last_stored_at = at from noon;
    update storehook.one_time_purchases set first_stored_at = at, last_stored_at = at from noon;
    select storehook.ensure_outbox_partitions();
    """
