-- compatible-from: 10
-- Months of figures that were closed: their values and the rows that these counted, as they stood. What is heard afterwards changes the
-- figures of the month and nothing here; the differences are the corrections.

create table storehook.closed_months (
    id              bigint generated always as identity primary key,
    month           text collate "C" not null check (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
    first_day       date    not null,
    last_day        date    not null,
    zone            text    collate "C" not null,
    catalog_version bigint,
    is_proven       boolean not null,
    row_count       bigint  not null check (row_count >= 0),
    closed_at       timestamptz not null default now(),
    closed_by       text    not null check (length(closed_by) between 1 and 200),
    closed_why      text    check (length(closed_why) between 1 and 1000),
    reopened_at     timestamptz,
    reopened_by     text    check (length(reopened_by) between 1 and 200),
    reopened_why    text    check (length(reopened_why) between 1 and 1000),
    constraint closed_months_days_check check (first_day <= last_day),
    constraint closed_months_proof_check check (is_proven or closed_why is not null),
    constraint closed_months_reopened_check check (
        (reopened_at is null) = (reopened_by is null) and (reopened_at is null) = (reopened_why is null))
);
comment on table storehook.closed_months is 'months of figures that were closed, in Production; those that were opened again, too';
comment on column storehook.closed_months.zone is 'whose days its days are';
comment on column storehook.closed_months.catalog_version is 'the catalog that was current; null before the first';
comment on column storehook.closed_months.is_proven is
    'whether it was proven that all of Apple''s notifications until its end were here, of every app with a key';
comment on column storehook.closed_months.row_count is 'how many rows closed_rows has of it';
comment on column storehook.closed_months.closed_why is 'why it was closed although it was not proven';
create unique index closed_months_open on storehook.closed_months (month) where reopened_at is null;

create table storehook.closed_rows (
    closed_id      bigint  not null,
    measure        text    collate "C" not null,
    order_id       bigint  not null,
    item           text    collate "C" not null,
    place          integer not null,
    at             timestamptz not null,
    bundle_id      text    collate "C" not null,
    product_id     text    collate "C",
    storefront     text    collate "C",
    currency       text    collate "C",
    amount         bigint,
    transaction_id text    collate "C",
    primary key (closed_id, measure, order_id, item, place)
);
comment on table storehook.closed_rows is 'the rows that the figures of a closed month counted';

create table storehook.closed_cells (
    closed_id  bigint not null,
    measure    text collate "C" not null,
    day        date not null,
    bundle_id  text collate "C" not null,
    product_id text collate "C" not null,
    storefront text collate "C" not null,
    currency   text collate "C" not null,
    count      bigint  not null,
    free       bigint  not null,
    unknown    bigint  not null,
    amount     numeric not null,
    primary key (closed_id, measure, day, bundle_id, product_id, storefront, currency)
);
comment on table storehook.closed_cells is
    'the values of a closed month: sums of its rows by day; product, country and currency are empty where no record says them';

-- What was recorded stays: rows and values come with the closing, in its transaction, and a month that was opened again stays open.
create function storehook.refuse_late_closing() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if exists (
        select from (select distinct closed_id from added) a left join storehook.closed_months c on c.id = a.closed_id
         where c.closed_at is distinct from now()) then
        raise exception 'nothing is added to a month that is closed' using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;
revoke all on function storehook.refuse_late_closing() from public;
create trigger closed_rows_in_time after insert on storehook.closed_rows
    referencing new table as added for each statement execute function storehook.refuse_late_closing();
create trigger closed_cells_in_time after insert on storehook.closed_cells
    referencing new table as added for each statement execute function storehook.refuse_late_closing();

create function storehook.refuse_second_opening() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    raise exception 'a month that was opened again stays so; close it anew' using errcode = 'insufficient_privilege';
end
$$;
revoke all on function storehook.refuse_second_opening() from public;
create trigger closed_months_open_once before update on storehook.closed_months
    for each row when (old.reopened_at is not null or new.reopened_at is null) execute function storehook.refuse_second_opening();

create function storehook.audit_closed_month() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.closed_by else new.reopened_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'close_month' else 'reopen_month' end;
    draft.subject_kind := 'month';
    draft.subject := new.month;
    draft.after := jsonb_build_object(
        'zone', new.zone, 'catalog_version', new.catalog_version, 'proven', new.is_proven, 'rows', new.row_count)::text;
    draft.record := 'closed_months:' || new.id;
    draft.body := storehook.audit_text(
        jsonb_build_object('why', case when tg_op = 'INSERT' then new.closed_why else new.reopened_why end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_closed_month() from public;
create trigger closed_months_audit after insert or update on storehook.closed_months
    for each row execute function storehook.audit_closed_month();

-- As in 0064: `sql/roles.sql` grants the same.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.closed_months, storehook.closed_rows, storehook.closed_cells to %I', writer);
        execute format('grant update (reopened_at, reopened_by, reopened_why) on storehook.closed_months to %I', writer);
    end loop;
end
$$;
