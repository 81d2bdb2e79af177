-- compatible-from: 10
-- How many accounts there were at the end of each day, and what they had used of the catalog's features. A worker counts each day once it
-- has ended, and days that were never counted back to the first one of which anything is known. What was counted stays: accounts that are
-- erased later were there, and could not be counted again.

create table storehook.account_days (
    day              date primary key,
    zone             text collate "C" not null,
    ends_at          timestamptz not null,
    counted_at       timestamptz not null default now(),
    usage_counted_at timestamptz
);
comment on table storehook.account_days is
    'the days of which account_day_counts says how many accounts there were at their end; of other days that is not known';
comment on column storehook.account_days.zone is 'the time zone of the catalog by which the day was counted; a later one changes nothing';
comment on column storehook.account_days.ends_at is 'the first instant behind it; account_day_counts are of this instant';
comment on column storehook.account_days.counted_at is 'when that was worked out; accounts that had been erased by then are not in it';
comment on column storehook.account_days.usage_counted_at is
    'when usage_days was counted; again 35 days after the day''s end, when nothing more is reported of it. Null of a day whose usage was not kept any more';

create table storehook.account_day_counts (
    day         date not null references storehook.account_days,
    environment text collate "C" not null,
    standing    text collate "C" not null check (standing in ('subscriber', 'access', 'expired', 'free', 'anonymous')),
    tier        text collate "C" not null,
    status      text collate "C" not null,
    count       bigint not null check (count > 0),
    primary key (environment, day, standing, tier, status),
    check ((standing = 'anonymous') = (status = ''))
);
comment on table storehook.account_day_counts is
    'as account_counts, at account_days.ends_at; an account counts from when it was known, or from its first purchase or trial';

create table storehook.usage_days (
    day      date not null references storehook.account_days,
    feature  text collate "C" not null,
    period   text collate "C" not null check (period in ('day', 'month', 'total')),
    tier     text collate "C" not null,
    is_over  boolean not null,
    accounts bigint not null check (accounts > 0),
    used     bigint not null check (used > 0),
    primary key (day, feature, period, tier)
);
comment on table storehook.usage_days is
    'what usage_counters had at the end of a day, by feature and tier: of the day, of its month so far, or in total. What was refused is counted nowhere';
comment on column storehook.usage_days.tier is 'the account''s in Production at the end of the day';
comment on column storehook.usage_days.is_over is 'whether what is counted ended with the day: of a day always, of a month on its last day';

-- As in 0076: a role that counts accounts keeps the days, and a role that reads the counts reads these.
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
            execute format('grant select on storehook.account_days, storehook.account_day_counts to %I', held.rolname);
            execute format('grant select on storehook.usage_days to %I', held.rolname);
        else
            execute format('grant insert, update on storehook.account_days to %I', held.rolname);
            execute format('grant insert on storehook.account_day_counts to %I', held.rolname);
            execute format('grant insert, delete on storehook.usage_days to %I', held.rolname);
            execute format('grant execute on function storehook.account_status_at(timestamptz) to %I', held.rolname);
        end if;
    end loop;
end
$$;
