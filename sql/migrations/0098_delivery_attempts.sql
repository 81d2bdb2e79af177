-- compatible-from: 10
-- What an endpoint said to each attempt of a delivery, and how long that took: as long as deliveries are kept.

create table storehook.delivery_attempts (
    delivery_id  bigint      not null,
    event_id     bigint      not null,
    attempted_at timestamptz not null,
    milliseconds integer     not null check (milliseconds >= 0),
    code         text        not null check (length(code) between 1 and 60),
    status       smallint,
    answer       text        check (length(answer) between 1 and 4096)
);
comment on table storehook.delivery_attempts is 'the calls that were made for deliveries, and what came back';
comment on column storehook.delivery_attempts.code is 'how it ended: http_503, timeout';
comment on column storehook.delivery_attempts.answer is
    'the beginning of the answer, as text: a stranger''s; null where it was empty, there was none, or the account was erased';
-- Two attempts may end at the same instant: nothing is unique here.
alter table storehook.delivery_attempts replica identity full;
create index delivery_attempts_of_event on storehook.delivery_attempts (event_id, delivery_id);
create index delivery_attempts_attempted on storehook.delivery_attempts (attempted_at);

-- An answer may repeat what was posted. So the database itself takes answers about a person out that is erased.
-- SECURITY DEFINER: who erases an account need not be allowed to write here otherwise.
create function storehook.forget_delivery_answers() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    update storehook.delivery_attempts a set answer = null
      from storehook.events e
     where e.token = new.token and a.event_id = e.id and a.answer is not null;
    return null;
end
$$;
revoke all on function storehook.forget_delivery_answers() from public;
create trigger accounts_forget_delivery_answers after update of erased_at on storehook.accounts
    for each row when (new.erased_at is not null) execute function storehook.forget_delivery_answers();

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. A role that
-- records deliveries is a worker's, and one that records what staff tried is the console's.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.deliveries'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, delete on storehook.delivery_attempts to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant select on storehook.delivery_attempts to %I', held);
    end loop;
end
$$;
