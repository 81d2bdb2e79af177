-- compatible-from: 10
-- Storing what was posted, by a function: a session keeps its plans, also one that a transaction pooler lends to many, and
-- parsing and planning the statement for each commit took half of what storing costs.

-- Stores posts and queues them, and counts how many it stored. Answers whether all of the headers that they name are there;
-- else it does nothing. The commit that follows waits for the disk and sends warnings, whatever the session is set to: only
-- so is it known to have been made (see PostgresQuery.durableSettings).
--
-- It has the rights of whoever calls it, so that nobody gains any. It has no settings of its own, which would be set and
-- reset for each commit: it turns no text into an instant, nor an instant into text, and what it calls is named with its
-- schema (unnest of several arrays is grammar, and always PostgreSQL's).
create function storehook.store_posted(packings smallint[], bodies bytea[], senders text[], digests bytea[]) returns boolean
    language plpgsql
as $$
begin
    if pg_catalog.current_setting('synchronous_commit') operator(pg_catalog.=) any ('{off,local}'::pg_catalog.text[]) then
        perform pg_catalog.set_config('synchronous_commit', 'on', true);
    end if;
    if pg_catalog.current_setting('client_min_messages') operator(pg_catalog.=) 'error' then
        perform pg_catalog.set_config('client_min_messages', 'warning', true);
    end if;
    -- Who names none needs no right to look for any.
    if pg_catalog.cardinality(digests) operator(pg_catalog.>) 0 then
        if exists (select from pg_catalog.unnest(digests) as named (digest)
                    where not exists (select from storehook.signature_headers h
                                       where h.digest operator(pg_catalog.=) named.digest)) then
            return false;
        end if;
    end if;
    -- The ids are drawn first, so that nothing has to be read back: a receiver may insert and nothing else.
    with drawn as materialized (
        select pg_catalog.nextval('storehook.outbox_id') as id, pg_catalog.now() as received_at, packing, body,
               sender::pg_catalog.inet as sender
          from unnest(packings, bodies, senders) as posted (packing, body, sender)
    ), stored as (
        insert into storehook.outbox (id, received_at, packing, body)
        select id, received_at, packing, body from drawn
    )
    insert into storehook.outbox_queue (id, received_at, due_at, sender)
    select id, received_at, received_at, sender from drawn;
    if found then
        insert into storehook.outbox_stored (rows) values (pg_catalog.cardinality(bodies));
    end if;
    return true;
end
$$;
