-- compatible-from: 10
-- Locks of upkeep that only its own functions can take. Any login may take an advisory lock, whatever its rights: one that
-- held these kept partitions from being made and days from being dropped and counted, for as long as it liked.

create table storehook.upkeep_locks (
    task text primary key
);
comment on table storehook.upkeep_locks is
    'rows that the functions of upkeep lock while they are at it; nobody but their owner may';
insert into storehook.upkeep_locks (task) values ('partitions'), ('books');

-- The functions as they stand, but for the lock.
do $$
declare
    change     record;
    definition text;
begin
    for change in
        select * from (values
            ('storehook.ensure_outbox_partitions(integer)'::regprocedure,
             $q$perform pg_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint);$q$,
             $q$perform 1 from storehook.upkeep_locks where task = 'partitions' for update;$q$),
            ('storehook.drop_outbox_day(date, integer)'::regprocedure,
             $q$if not pg_try_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint) then$q$,
             $q$perform 1 from storehook.upkeep_locks where task = 'partitions' for update skip locked;
    if not found then$q$),
            ('storehook.settle_outbox_day(date)'::regprocedure,
             $q$if not pg_try_advisory_xact_lock(x'73746f72655f7032'::bit(64)::bigint) then$q$,
             $q$perform 1 from storehook.upkeep_locks where task = 'books' for update skip locked;
    if not found then$q$)
        ) as wanted (function, old, new)
    loop
        definition := replace(pg_get_functiondef(change.function), change.old, change.new);
        if definition = pg_get_functiondef(change.function) then
            raise exception '% does not take the lock that it is known to take', change.function;
        end if;
        execute definition;
    end loop;
end
$$;
