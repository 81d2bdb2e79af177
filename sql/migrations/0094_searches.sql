-- compatible-from: 10
-- What searches of the staff led to, so that what was typed stands in no address; and filters of lists that the staff keeps for itself.

create table storehook.searches (
    id        uuid        primary key default gen_random_uuid(),
    actor     text        not null check (length(actor) between 1 and 210),
    found     json        not null,
    made_at   timestamptz not null default now()
);
comment on table storehook.searches is
    'what searches of the staff led to, for an hour: appAccountTokens and ids of Apple''s, never what was looked for';
comment on column storehook.searches.id is 'cannot be guessed; it leads nobody but the actor who searched to anything';
create index searches_of_actor on storehook.searches (actor, made_at);
create index searches_made on storehook.searches (made_at);

create table storehook.saved_filters (
    id         bigint      primary key generated always as identity,
    page       text        collate "C" not null check (page ~ '^[a-z-]{1,40}$'),
    name       text        not null check (length(name) between 1 and 60),
    qualifiers json        not null,
    made_by    text        not null check (length(made_by) between 1 and 210),
    made_at    timestamptz not null default now()
);
comment on table storehook.saved_filters is
    'filters of lists that the staff shares; their values are codes and ids of products and apps, never a person''s';
create unique index saved_filters_name on storehook.saved_filters (page, lower(name));

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. See 0093.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.dead_letters'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, delete on storehook.searches to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant select, insert, delete on storehook.searches, storehook.saved_filters to %I', held);
        execute format('grant select on storehook.account_profiles, storehook.event_feed, storehook.event_places, '
                       'storehook.event_positions, storehook.delivery_lanes, storehook.deliveries_pending, storehook.deliveries to %I',
                       held);
        execute format('grant select (id) on storehook.endpoints to %I', held);
        execute format('grant select (id, due_at, attempts, last_reason) on storehook.delivery_queue to %I', held);
    end loop;
end
$$;
