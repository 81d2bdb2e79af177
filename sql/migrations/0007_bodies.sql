-- The bytes of these notifications as they are stored, as many of them as are there: two bytes that say how they are
-- packed, and the body.
--
-- Asked for in one statement that learns the days only while it runs, PostgreSQL plans and locks every partition, for each
-- claim: with 400 of them that is 10 ms of planning, and the estimated cost of it all makes it compile the statement (JIT),
-- which takes most of a second. Here each day's statement is planned with its instants known, which leaves one partition.
create function storehook.outbox_bodies(ids bigint[], received_at timestamptz[])
    returns table (id bigint, stored bytea)
    language plpgsql stable strict set search_path = pg_catalog, pg_temp
as $$
declare
    opens  timestamptz;
    closes timestamptz;
begin
    for opens, closes in
        select min(at), max(at) from unnest(outbox_bodies.received_at) as at
         group by date_trunc('day', at at time zone 'UTC')
    loop
        -- A scalar subquery can only be an index lookup, whatever is thought of the partition's size.
        return query execute
            'select k.id, (select int2send(o.packing) || o.body from storehook.outbox o
                            where o.received_at = k.received_at and o.id = k.id and o.received_at between $3 and $4)
               from unnest($1, $2) as k (id, received_at)
              where k.received_at between $3 and $4'
            using ids, outbox_bodies.received_at, opens, closes;
    end loop;
end
$$;
revoke all on function storehook.outbox_bodies(bigint[], timestamptz[]) from public;
