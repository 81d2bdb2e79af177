-- compatible-from: 10
-- Due and not heard: renewals, ends of trials and of grace, and last tries to charge, of which Apple was to say something and nothing was
-- heard. A worker counts them every few minutes: something is due by time alone, so that nothing says when a count is out of date.
--
-- Counted are the ends of the last sixty days, by ranges of indexes: of a paid stretch, and of the sixty days for which Apple tries to charge, by
-- subscriptions_by_paid_until; of a grace period by the renewal info that dates it. Few rows of renewals have such a date, and one that stays
-- what it was lets PostgreSQL write the next version of a row without touching an index, as before.
create index renewals_by_grace_end on storehook.renewals (grace_expires_at) where grace_expires_at is not null;

create table storehook.due_counts (
    bundle_id text   collate "C" not null,
    age       text   collate "C" not null check (age in ('1h', '6h', '24h', '3d', 'older')),
    unheard   bigint not null check (unheard >= 0),
    imported  bigint not null check (imported >= 0),
    primary key (bundle_id, age)
);
comment on table storehook.due_counts is
    'how much was due in Production and was not heard of, by how long ago it was due when it was counted; no row where there is nothing';
comment on column storehook.due_counts.age is
    'from so many hours or days ago to the next one: 1h to 6 hours, 6h to 24 hours, 24h to 3 days, 3d to 7 days, older to 60 days';
comment on column storehook.due_counts.imported is
    'of subscriptions all of whose evidence operators stored by hand: Apple and apps never spoke of them. In unheard they are not counted';

create table storehook.due_days (
    bundle_id text   collate "C" primary key,
    due       bigint not null check (due > 0)
);
comment on table storehook.due_days is 'how much was due in Production from 24 hours to one hour before it was counted, heard of or not';

-- What is counted, the latest 10,000 of each part.
create table storehook.due_unheard (
    ends_at                 timestamptz not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    kind                    text        collate "C" not null check (kind in ('renewal', 'trial', 'grace_period', 'billing_retry')),
    age                     text        collate "C" not null check (age in ('1h', '6h', '24h', '3d', 'older')),
    product_id              text,
    is_imported             boolean     not null,
    primary key (ends_at, bundle_id, original_transaction_id, kind)
);
comment on table storehook.due_unheard is 'what due_counts counted, the latest 10,000 up to three days old and the latest 10,000 before';
comment on column storehook.due_unheard.ends_at is 'when Apple was to say something';
comment on column storehook.due_unheard.kind is 'what ended then: a paid period, a trial, a grace period, or the sixty days of tries to charge';

-- One worker at a time counts a part: it locks its row.
create table storehook.due_count_state (
    part       text        collate "C" primary key check (part in ('recent', 'older', 'due')),
    counted_at timestamptz,
    due_at     timestamptz not null default '-infinity'
);
comment on table storehook.due_count_state is
    'when was counted what is due: recent are the ages 1h, 6h and 24h, older the others, due is due_days';
comment on column storehook.due_count_state.counted_at is 'the instant that the counts are of; null before the first count';
comment on column storehook.due_count_state.due_at is 'no worker counts before this';
insert into storehook.due_count_state (part) values ('recent'), ('older'), ('due');

-- As in 0076: a role that counts accounts also counts this, and a role that reads those counts reads these.
do $$
declare
    held record;
begin
    for held in
        select r.rolname, a.privilege_type as privilege
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.account_counts'::regclass and a.privilege_type in ('SELECT', 'INSERT') and a.grantee <> c.relowner
    loop
        if held.privilege = 'SELECT' then
            execute format('grant select on storehook.due_counts, storehook.due_days, storehook.due_unheard, storehook.due_count_state to %I',
                           held.rolname);
        else
            execute format('grant insert, delete on storehook.due_counts, storehook.due_days to %I', held.rolname);
            execute format('grant insert, update, delete on storehook.due_unheard to %I', held.rolname);
            execute format('grant update on storehook.due_count_state to %I', held.rolname);
        end if;
    end loop;
end
$$;
