-- compatible-from: 10
-- How many accounts there are, by what they are now. A worker counts all of them every minute, or more seldom where that takes long: a
-- status begins by time alone, so that nothing says when a count is out of date.
create table storehook.account_counts (
    environment text collate "C" not null,
    standing    text collate "C" not null check (standing in ('subscriber', 'access', 'expired', 'free', 'anonymous')),
    tier        text collate "C" not null,
    status      text collate "C" not null,
    count       bigint not null check (count > 0),
    primary key (environment, standing, tier, status),
    check ((standing = 'anonymous') = (status = ''))
);
comment on table storehook.account_counts is
    'how many accounts are known and not erased, by what they were at account_count_state.counted_at; a row for each combination that occurs';
comment on column storehook.account_counts.environment is
    'an account counts in each environment in which it has a status; one without any status counts as free in Production';
comment on column storehook.account_counts.standing is
    'subscriber: has access, and an Apple subscription runs that is no trial. access: has access otherwise. expired: has no access, and had a purchase or a trial. free: has no access, and had neither. anonymous: no account, but a subscription or one-time purchase, consumables left out, that no account counted here ever had';
comment on column storehook.account_counts.tier is 'empty of anonymous purchases';
comment on column storehook.account_counts.status is 'as in account_status; empty of anonymous purchases';

-- One worker at a time counts: it locks this row.
create table storehook.account_count_state (
    is_only    boolean primary key default true check (is_only),
    counted_at timestamptz,
    due_at     timestamptz not null default '-infinity'
);
comment on table storehook.account_count_state is 'when accounts were counted, and when they are next';
comment on column storehook.account_count_state.counted_at is 'the instant that account_counts is of; null before the first count';
comment on column storehook.account_count_state.due_at is 'no worker counts before this';
insert into storehook.account_count_state default values;

-- As in 0070: a role that sums figures also counts accounts, and a role that reads figures reads the counts.
do $$
declare
    held record;
begin
    for held in
        select r.rolname, a.privilege_type as privilege
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_state'::regclass and a.privilege_type in ('SELECT', 'UPDATE') and a.grantee <> c.relowner
    loop
        if held.privilege = 'SELECT' then
            execute format('grant select on storehook.account_counts, storehook.account_count_state to %I', held.rolname);
        else
            execute format('grant insert, delete on storehook.account_counts to %I', held.rolname);
            execute format('grant update on storehook.account_count_state to %I', held.rolname);
        end if;
    end loop;
end
$$;
