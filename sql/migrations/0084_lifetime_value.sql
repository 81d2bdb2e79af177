-- compatible-from: 10
-- Lifetime value: what customers paid until so many months after their first payment. Money counts on its own day, with the day of its
-- customer's first payment and how many months later it was paid: so what is paid today changes today alone.

create table storehook.value_cells (
    zone        text     collate "C" not null,
    day         date     not null,
    environment text     collate "C" not null,
    bundle_id   text     collate "C" not null,
    cohort      date     not null,
    months      smallint not null check (months between 0 and 36),
    currency    text     collate "C" not null,
    rate_day    date     not null,
    unit        bigint,
    count       bigint   not null,
    constraint value_cells_cohort_check check (day >= cohort)
);
comment on table storehook.value_cells is
    'sales, refunds and reversals of subscriptions by their own day, with the day of their customer''s first payment (customer_new in figure_cells)';
comment on column storehook.value_cells.cohort is 'the day of the customer''s first payment; what a customer paid before it is left out';
comment on column storehook.value_cells.months is
    'the least number of months by which the day is not behind the cohort''s: on the same day of the month, or the last one of a month that has none';
comment on column storehook.value_cells.rate_day is 'the day of the transaction, whose exchange rate counts';
comment on column storehook.value_cells.unit is
    'the amount of each row, in thousandths of the currency, negative of refunds; null where it is not known';
comment on column storehook.value_cells.count is 'how many rows of this amount there are';
create index value_cells_of_day on storehook.value_cells (zone, day);
create index value_cells_of_cohort on storehook.value_cells (zone, cohort);
-- As in 0070: whole days are deleted, and nothing updates a row.
alter table storehook.value_cells replica identity full;

create table storehook.value_sums (
    zone        text     collate "C" not null,
    environment text     collate "C" not null,
    cohort      date     not null,
    bundle_id   text     collate "C" not null,
    months      smallint not null,
    currency    text     collate "C" not null,
    count       bigint   not null,
    unknown     bigint   not null,
    amount      numeric  not null,
    primary key (zone, environment, cohort, bundle_id, months, currency)
);
comment on table storehook.value_sums is 'sums of value_cells by the month of the first payment';

-- As in 0079.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, delete on storehook.value_cells to %I', someone);
        execute format('grant select, insert, update, delete on storehook.value_sums to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.value_cells, storehook.value_sums to %I', someone);
    end loop;
end
$$;
