-- compatible-from: 10
-- Lifetime value in a currency by the day of the first payment, for days and fiscal months: without these sums an answer converted every payment.
-- What customers paid on one day is kept in one row, so that a kept currency does not add a row for each first day and each day of payments.

alter table storehook.currency_values drop constraint currency_values_grain_check;
-- An earlier release writes the grain day. Not valid: existing rows have narrower grains, and a check of them would lock the table.
alter table storehook.currency_values add constraint currency_values_grain_check
    check (grain in ('day', 'cohort', 'cohort_day', 'all_cohort_day')) not valid;
comment on table storehook.currency_values is
    'sums of value_cells, each cell converted by itself: by the month of the first payment (cohort), by its day (cohort_day), and by its day for all apps together (all_cohort_day), where bundle_id is empty. An earlier release also keeps the sums of each day of payments here (day)';
comment on column storehook.currency_values.day is 'the cohort; of the grain day, the day of the payments';
comment on column storehook.currency_values.cohort is 'the first day of the month of the first payment, or its day';

create type storehook.converted_share as (
    environment  text collate "C",
    cohort       date,
    bundle_id    text collate "C",
    months       smallint,
    currency     text collate "C",
    is_missing   boolean,
    count        bigint,
    unknown      bigint,
    amount       numeric,
    corrected_at timestamptz
);
comment on type storehook.converted_share is
    'what customers of one day (cohort) paid on another day, in a currency; columns as those of currency_values';

create table storehook.currency_value_days (
    target text collate "C" not null,
    zone   text collate "C" not null,
    day    date not null,
    shares storehook.converted_share[] not null,
    primary key (target, zone, day)
);
comment on table storehook.currency_value_days is 'the converted value_cells of one day of payments: what currency_values are sums of';
comment on column storehook.currency_value_days.shares is 'what each cohort paid on the day';

-- As in 0073.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, update, delete on storehook.currency_value_days to %I', someone);
    end loop;
end
$$;
